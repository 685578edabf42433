"""How uninstall.sh is called: options, questions, the lock, the environment, pipes, plans."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.uninstall import AGENT, CONFIG, LOGS, ROOT, STATE, UNINSTALL, UNITS, Uninstall

SHELLS = {"dash": ["dash"], "bash": ["bash"], "posix": ["bash", "--posix"], "ash": ["busybox", "ash"]}
LOCK = "/run/aks-flex-node-agent-upgrade.lock"
ALONE = "/run/aks-flex-node-bootstrap.lock"


@pytest.fixture
def host(box: Box) -> Uninstall:
    made = Uninstall(box)
    made.put_layout()
    made.put_units()
    made.put(f"{CONFIG}/config.json", b"{}")
    return made


def test_without_yes_and_without_a_terminal_nothing_is_done(host: Uninstall) -> None:
    before = host.diff()
    result = host.run(code=2)
    assert "[E_CONFIRM]" in result.stderr
    assert host.diff() == before


def test_a_terminal_that_exists_and_cannot_be_opened_is_none_aksflexnode_47(host: Uninstall) -> None:
    assert host.exists("/dev/tty")
    assert host.box.run(["sh", "-c", ": </dev/tty"]).code != 0
    result = host.run(code=2)
    assert "there is no terminal to ask on; give --yes" in result.stderr
    assert "tty" not in result.stderr


@pytest.mark.parametrize(("answer", "gone"), [("y", True), ("Yes", True), ("n", False), ("", False), ("yep", False)])
def test_on_a_terminal_only_yes_is_yes(host: Uninstall, answer: str, gone: bool) -> None:
    host.box.run(["script", "-qec", f"sh {UNINSTALL}", "/dev/null"], stdin=f"{answer}\n".encode())
    assert host.exists(ROOT) is not gone


@pytest.mark.parametrize("option", ["--yes", "--force", "-y"])
def test_each_spelling_of_yes_answers_the_question(host: Uninstall, option: str) -> None:
    host.run(option)
    assert host.diff() == []


@pytest.mark.parametrize(
    "options", [["--yess"], ["--wait"], ["--yes", "operand"], ["--yes=1"], ["--yes", "--wait", "x"]]
)
def test_a_wrong_call_is_refused_before_any_effect(host: Uninstall, options: list[str]) -> None:
    before = host.diff()
    assert "[E_USAGE]" in host.run(*options, code=2).stderr
    assert [c for c in host.diff() if LOCK not in c] == before


def test_help_and_version_go_to_stdout(host: Uninstall) -> None:
    result = host.run("--help")
    assert "--keep-config" in result.stdout
    assert result.stderr == ""
    assert host.run("--version").stdout.startswith("uninstall.sh ")


def test_another_user_than_root_is_refused(host: Uninstall) -> None:
    call = ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-s", "--", "--yes"]
    result = host.box.run(call, stdin=Path(UNINSTALL).read_bytes())  # a checkout may be closed to others
    assert result.code == 3, result
    assert "[E_NOT_ROOT]" in result.stderr
    assert host.exists(ROOT)


def test_a_plan_changes_nothing(host: Uninstall) -> None:
    before = host.diff()
    host.run("--plan")
    assert host.diff() == before
    assert host.resets() == []


def test_a_plan_names_each_path_that_the_run_then_removes(host: Uninstall) -> None:
    host.put(f"{LOGS}/agent.log")
    there = {change.path for change in host.changes()}
    planned = re.findall(r"^would remove (/\S+)", host.run("--plan").stdout, re.M)
    host.run("--yes")
    assert host.diff() == []
    assert {p for p in there if not any(p == q or p.startswith(q + "/") for q in planned)} == set()
    assert set(planned) <= there


def test_a_plan_says_in_order_what_will_be_done(host: Uninstall) -> None:
    lines = host.run("--plan").stdout.splitlines()
    order = [
        f"would remove {UNITS}/aks-flex-node-bootstrap.service",
        f"would run {ROOT}/bin/aks-flex-node reset",
        f"would remove {UNITS}/{AGENT}",
        f"would remove {CONFIG}",
        f"would remove {ROOT}/bin/aks-flex-node",
        f"would remove {ROOT}",
    ]
    assert [line for line in lines if line in order] == order


def test_a_plan_needs_no_answer_and_no_lock(host: Uninstall) -> None:
    host.run("--plan")
    assert not host.exists(LOCK)


def test_a_held_lock_stops_it_before_any_effect(host: Uninstall) -> None:
    before = host.diff()
    held = host.box.run(["flock", LOCK, "sh", UNINSTALL, "--yes"])
    assert held.code == 8
    assert "[E_LOCKED]" in held.stderr
    assert [c for c in host.diff() if ".lock" not in c] == before


@pytest.mark.parametrize("lock", [LOCK, ALONE])
def test_a_lock_that_another_run_holds_is_named(host: Uninstall, lock: str) -> None:
    held = host.box.run(["flock", lock, "sh", UNINSTALL, "--yes"])
    assert (held.code, host.resets()) == (8, [])
    assert f"holds {lock}; " in held.stderr


def test_during_the_reset_another_uninstall_is_refused_and_told_which_run_it_is(host: Uninstall) -> None:
    host.put("/tmp/second", f"sh {UNINSTALL} --yes 2>/tmp/words; echo $? >/tmp/status".encode())
    host.sh(f"sed -i 's,^  reset).*,  reset) echo reset >>/tmp/agent.log; sh /tmp/second ;;,' {ROOT}/bin/aks-flex-node")
    host.run("--yes")
    assert (host.sh("cat /tmp/status"), host.resets(), host.diff()) == ("8\n", ["reset"], [])
    assert re.search(rf"another uninstall \(process \d+\) holds {ALONE}; .*\[E_LOCKED\]", host.sh("cat /tmp/words"))


def test_an_uninstall_that_waited_for_another_finds_nothing_left(host: Uninstall) -> None:
    host.sh("mkfifo /tmp/go")
    release = "while read l; do echo $l; case $l in *waiting*) echo >/tmp/go ;; esac; done"
    wait = f"sh {UNINSTALL} --yes --wait 20 2>&1 | {release}"
    host.put("/tmp/second", f"({wait}; echo ended) >/tmp/words 2>&1 &\nread line </tmp/go".encode())
    host.sh(f"sed -i 's,^  reset).*,  reset) echo reset >>/tmp/agent.log; sh /tmp/second ;;,' {ROOT}/bin/aks-flex-node")
    host.run("--yes")
    host.sh("until grep -q ended /tmp/words; do sleep 0.05; done")
    assert "warning" not in host.sh("cat /tmp/words")
    assert (host.resets(), host.diff()) == (["reset"], [])


def test_with_wait_it_waits_for_the_lock(host: Uninstall) -> None:
    host.sh("mkfifo /tmp/held /tmp/go")
    holder = threading.Thread(
        target=host.box.run, args=(["flock", LOCK, "sh", "-c", "echo >/tmp/held; read line </tmp/go"],)
    )
    holder.start()
    host.sh("read line </tmp/held")
    release = "while read l; do echo $l; case $l in *waiting*) echo >/tmp/go ;; esac; done"
    assert "waiting up to 20 s" in host.sh(f"sh {UNINSTALL} --yes --wait 20 2>&1 | {release}")
    holder.join()
    assert host.diff() == []


@pytest.mark.parametrize("shell", SHELLS)
def test_it_does_the_job_from_a_pipe(host: Uninstall, shell: str) -> None:
    host.sh(f"cat {UNINSTALL} | {' '.join(SHELLS[shell])} -s -- --yes")
    assert host.diff() == []


@pytest.mark.parametrize("shell", SHELLS)
def test_it_does_the_job_in_an_almost_empty_environment(host: Uninstall, shell: str) -> None:
    host.run("--yes", shell=SHELLS[shell], env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    assert host.diff() == []


@pytest.mark.parametrize("shell", SHELLS)
def test_a_hostile_environment_changes_nothing(host: Uninstall, shell: str) -> None:
    host.put("/tmp/env", b"echo sourced >&2\n")
    env = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "CDPATH": "/:/etc",
        "IFS": "/ak",
        "ENV": "/tmp/env",
        "BASHOPTS": "failglob:nullglob:dotglob",
        "GLOBIGNORE": "*",
        "FLEXNODE_ROOTS": "\n/srv\n",
        "FLEXNODE_LEFT": "x",
        "POSIXLY_CORRECT": "1",
    }
    host.run("--yes", shell=SHELLS[shell], env=env)
    assert host.diff() == []


def test_with_busybox_tools_alone_it_does_the_same(host: Uninstall) -> None:
    host.sh("mkdir /tmp/bb; busybox --install -s /tmp/bb; ln -sf $(command -v flock) $(command -v busybox) /tmp/bb")
    host.run("--yes", shell=["busybox", "ash"], env={"PATH": "/tmp/bb"})
    assert host.diff() == []


def test_quiet_says_only_what_was_kept_or_left(host: Uninstall) -> None:
    host.put(f"{ROOT}/mine")
    result = host.run("--yes", "--quiet")
    assert result.stderr.splitlines() == [f"uninstall: warning: kept {ROOT}/mine: not ours"]


def test_a_transcript_has_every_step(host: Uninstall) -> None:
    host.run("--yes", "--log", "/tmp/transcript")
    text = host.box.read("/tmp/transcript").decode()
    assert f"remove {ROOT}/bin/aks-flex-node\n" in text
    assert "the agent is off this host" in text


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_it_starts_at_most_80_processes(host: Uninstall, shell: str) -> None:
    host.put_journal()
    host.run("--plan")
    host.box.run(
        ["strace", "-f", "-qq", "-e", "trace=clone,clone3,fork,vfork", "-o", "/tmp/trace", shell, UNINSTALL, "--yes"]
    )
    assert host.diff() == []
    started = [line for line in host.box.read("/tmp/trace").decode().splitlines() if re.search(r"= \d+$", line)]
    assert len(started) <= 80


def test_a_transcript_among_what_goes_is_refused(host: Uninstall) -> None:
    before = host.diff()
    assert "would be removed" in host.run("--yes", "--log", f"{LOGS}/uninstall.log", code=2).stderr
    assert host.diff() == before


def test_no_package_manager_is_ever_called(host: Uninstall) -> None:
    for tool in ("apt-get", "apt", "dpkg", "dnf", "yum", "tdnf", "rpm", "zypper"):
        host.put(f"/usr/local/sbin/{tool}", b"#!/bin/sh\ntouch /tmp/package-manager\n", 0o755)
    host.run("--yes")
    assert not host.exists("/tmp/package-manager")
    assert host.exists("/usr/local/sbin/dnf")
    assert not host.exists(STATE)


@pytest.mark.parametrize("signal", ["INT", "TERM", "HUP"])
def test_a_signal_ends_it_with_its_own_status_and_the_next_run_finishes(box: Box, signal: str) -> None:
    host = Uninstall(box)
    host.put_agent(reset=f"kill -{signal} $PPID; sleep 30")
    number = {"HUP": 129, "INT": 130, "TERM": 143}[signal]
    result = host.run("--yes", code=number)
    assert f"stopped by SIG{signal}" in result.stderr
    assert host.exists(f"{ROOT}/bin/aks-flex-node")
    host.put_agent()
    host.run("--yes")
    assert host.diff() == []
