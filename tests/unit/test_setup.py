"""tools/setup with a machine made of links: what it installs, when it says nothing, what it says when it cannot.

apt-get and python3 are stand-ins that write down how they were called: the real ones need the network and change the
machine. `tools/in-rootfs SUITE make setup` is the test with the real ones.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BASE = ["cat", "chmod", "cmp", "cp", "dirname", "flock", "id", "mkdir", "sh", "touch"]
NEEDS = dict(re.findall(r"^(\S+) (\S+)$", (ROOT / "tools/setup").read_text().split("needs='")[1].split("'")[0], re.M))
APT = """#!/bin/sh
echo "apt-get $*" >>"$CALLS"
[ -z "${APT_FAILS-}" ] || { echo 'E: no route to mirror'; exit 100; }
case $* in *install*) touch "$BIN/strace"; chmod +x "$BIN/strace" ;; esac
"""
PYTHON = """#!/bin/sh
echo "python3 $*" >>"$CALLS"
case $* in
  '-c import ensurepip') ;;
  '-m venv'*)
    mkdir -p .venv/bin
    cp "$0" .venv/bin/python
    ;;
  '-m pip install'*)
    [ -z "${PIP_FAILS-}" ] || { echo 'no such version'; exit 1; }
    touch .venv/bin/flexkit
    chmod +x .venv/bin/flexkit
    ;;
esac
"""


class Machine:
    """A checkout beside a directory that is the whole PATH."""

    def __init__(self, place: Path) -> None:
        self.bin, self.checkout, self.calls = place / "bin", place / "checkout", place / "calls"
        (self.checkout / "tools").mkdir(parents=True)
        self.bin.mkdir()
        # The script adds sbin to PATH for hosts whose PATH lacks it; here the PATH is the machine.
        script = (ROOT / "tools/setup").read_text()
        assert ":/usr/sbin:/sbin\n" in script
        self.setup = self.checkout / "tools/setup"
        self.setup.write_text(script.replace(":/usr/sbin:/sbin\n", "\n"))
        self.setup.chmod(0o755)
        for name in ("requirements.txt", "pyproject.toml"):
            shutil.copy(ROOT / name, self.checkout)
        for name in BASE:
            (self.bin / name).symlink_to(shutil.which(name) or f"/missing/{name}")
        for name in NEEDS.keys() - set(BASE):
            self.put(name, "#!/bin/sh\n")
        self.put("apt-get", APT)
        self.put("python3", PYTHON)

    def put(self, name: str, text: str) -> None:
        """An executable of the machine."""
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def start(self, **environment: str) -> subprocess.Popen[str]:
        """Start tools/setup."""
        env = {"PATH": str(self.bin), "BIN": str(self.bin), "CALLS": str(self.calls), **environment}
        pipe = subprocess.PIPE
        return subprocess.Popen([self.setup], env=env, stdout=pipe, stderr=pipe, text=True)

    def run(self, **environment: str) -> tuple[int, str, list[str]]:
        """Exit code, words, and what was called meanwhile (questions to python3 are left out)."""
        self.calls.unlink(missing_ok=True)
        process = self.start(**environment)
        out, err = process.communicate()
        return process.returncode, out + err, self.called()

    def called(self) -> list[str]:
        """Calls that change something."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line for line in lines if "ensurepip" not in line and "--version" not in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with every tool, whose checkout was never set up."""
    return Machine(tmp_path)


@pytest.fixture
def ready(machine: Machine) -> Machine:
    """A machine that was set up."""
    assert machine.run()[0] == 0
    return machine


def test_a_first_run_makes_the_venv_and_says_so_in_one_line(machine: Machine) -> None:
    code, words, calls = machine.run()
    assert (code, words) == (0, "setup: installing the Python packages in .venv\n")
    assert [call.split(" -")[1] for call in calls] == ["m venv", "m pip install", "m compileall"]
    assert calls[0] == "python3 -m venv --clear .venv"
    assert calls[1].endswith("--requirement requirements.txt --config-settings editable_mode=compat --editable .")


def test_a_second_run_does_nothing_and_says_nothing(ready: Machine) -> None:
    assert ready.run() == (0, "", [])


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml"])
def test_the_venv_follows_requirements_and_project(ready: Machine, name: str) -> None:
    with (ready.checkout / name).open("a") as file:
        file.write("\n# changed\n")
    assert [call.split(" -")[1] for call in ready.run()[2]] == ["m venv .venv", "m pip install", "m compileall"]
    assert ready.run() == (0, "", [])


def test_a_file_that_was_only_touched_costs_nothing(ready: Machine) -> None:
    (ready.checkout / "requirements.txt").touch()
    assert ready.run() == (0, "", [])


def test_a_venv_that_was_moved_is_made_anew(ready: Machine) -> None:
    moved = ready.checkout.rename(ready.checkout.with_name("moved"))
    ready.setup = moved / "tools/setup"
    assert "python3 -m pip install" in ready.run()[2][1]


def test_a_missing_tool_brings_its_package_and_no_other(ready: Machine) -> None:
    (ready.bin / "strace").unlink()
    code, words, calls = ready.run()
    assert (code, words) == (0, "setup: installing strace\n")
    assert calls[0] == "apt-get -qq update"
    assert calls[1].endswith("install --no-install-recommends strace")
    assert len(calls) == 2


def test_two_tools_of_one_package_name_it_once(ready: Machine) -> None:
    for name in ("unshare", "findmnt"):
        (ready.bin / name).unlink()
    assert ready.run()[1] == "setup: installing util-linux\n"


def test_a_user_is_told_which_packages_are_missing(ready: Machine) -> None:
    (ready.bin / "strace").unlink()
    (ready.bin / "jq").unlink()
    (ready.bin / "id").unlink()
    ready.put("id", "#!/bin/sh\necho 1000\n")
    code, words, calls = ready.run()
    assert (code, calls) == (1, [])
    assert words == "setup: error: these packages are missing: jq strace; install them, or run it as root\n"


def test_a_machine_without_apt_is_told_which_packages_are_missing(ready: Machine) -> None:
    (ready.bin / "strace").unlink()
    (ready.bin / "apt-get").unlink()
    code, words, _ = ready.run()
    assert code == 1
    assert words == "setup: error: these packages are missing, and there is no apt-get: strace\n"


def test_a_failure_of_apt_names_the_log_that_holds_its_words(ready: Machine) -> None:
    (ready.bin / "strace").unlink()
    code, words, calls = ready.run(APT_FAILS="1")
    log = ready.checkout / "build/setup.log"
    assert (code, len(calls)) == (1, 1)
    assert words.splitlines()[1:] == [f"setup: error: apt-get failed for strace; see {log}"]
    assert "E: no route to mirror" in log.read_text()


def test_a_failure_of_pip_names_the_log_and_the_next_run_tries_again(machine: Machine) -> None:
    code, words, _ = machine.run(PIP_FAILS="1")
    log = machine.checkout / "build/setup.log"
    assert code == 1
    assert words.splitlines()[1:] == [f"setup: error: the Python packages cannot be installed; see {log}"]
    assert "no such version" in log.read_text()
    assert machine.run()[0] == 0


def test_two_runs_at_once_install_once(machine: Machine) -> None:
    (machine.bin / "strace").unlink()
    runs = [machine.start() for _ in range(2)]
    assert [process.wait(30) for process in runs] == [0, 0]
    installs = [call for call in machine.called() if "install" in call]
    assert len(installs) == 2, installs  # one of apt, one of pip
