"""`flexkit sandbox` and `flexkit doctor` as a person calls them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyhelpers.sandbox import selfcheck

PROJECT = Path(__file__).resolve().parents[3]
FLEXKIT = [sys.executable, "-B", "-m", "pyhelpers"]


def flexkit(*argv: str, stdin: bytes = b"", before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*before, *FLEXKIT, *argv], check=False, cwd="/", input=stdin, capture_output=True)


@pytest.mark.needs("sandbox")
def test_the_commands_output_and_exit_code_are_passed_on() -> None:
    run = flexkit("sandbox", "--", "sh", "-c", "cat; echo err >&2; exit 7", stdin=b"in\n")
    assert (run.returncode, run.stdout, run.stderr) == (7, b"in\n", b"err\n")


@pytest.mark.needs("sandbox")
def test_the_difference_comes_after_the_output() -> None:
    run = flexkit("sandbox", "--diff", "--", "sh", "-c", "echo out; touch /etc/new")
    assert run.stdout == b"out\nadded    /etc/new (file 0644 0:0)\n"
    assert not Path("/etc/new").exists()


@pytest.mark.needs("sandbox")
def test_output_is_seen_while_the_command_runs() -> None:
    argv = [*FLEXKIT, "sandbox", "--", "sh", "-c", "echo first; read line; echo $line"]
    with subprocess.Popen(argv, cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdin
        assert process.stdout.readline() == b"first\n"
        process.stdin.write(b"second\n")
        process.stdin.close()
        assert process.stdout.readline() == b"second\n"


@pytest.mark.needs("sandbox")
def test_stdout_and_stderr_to_one_place_keep_their_order() -> None:
    argv = [*FLEXKIT, "sandbox", "--", "sh", "-c", "for i in 1 2 3; do echo o$i; echo e$i >&2; done"]
    said = subprocess.check_output(argv, cwd="/", stderr=subprocess.STDOUT)
    assert said.split() == b"o1 e1 o2 e2 o3 e3".split()


@pytest.mark.needs("sandbox")
def test_much_input_and_output_pass_through() -> None:
    assert flexkit("sandbox", "wc", "-c", stdin=b"x" * 5_000_000).stdout.strip() == b"5000000"
    assert len(flexkit("sandbox", "--", "head", "-c", "5000000", "/dev/zero").stdout) == 5_000_000


@pytest.mark.needs("sandbox")
def test_the_input_file_of_the_outside_is_out_of_reach(tmp_path: Path) -> None:
    """A descriptor of it could be opened again for writing, by /proc/self/fd/0."""
    (tmp_path / "input").write_text("input\n")
    script = "cat; echo changed >/proc/self/fd/0"
    argv = [*FLEXKIT, "sandbox", "--", "sh", "-c", script]
    with (tmp_path / "input").open() as file:
        subprocess.run(argv, cwd="/", stdin=file, check=False, stdout=subprocess.DEVNULL)
    assert (tmp_path / "input").read_text() == "input\n"


@pytest.mark.needs("sandbox")
@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (["--timeout", "0.2", "--", "sleep", "1000"], 124, b"flexkit sandbox: timed out after 0.2 s\n"),
        (["--", "no-such-command"], 127, b"no-such-command: No such file or directory\n"),
        (["--", "sh", "-c", "kill -9 $$"], 137, b""),
        (
            ["--size", "1m", "--", "dd", "if=/dev/zero", "of=/opt/big", "bs=1M", "count=3"],
            125,
            b"the store of 1m is full",
        ),
        (["--size", "nonsense", "--", "true"], 2, b"512m"),
        ([], 2, b"CMD is missing"),
        (["--nonsense", "--", "true"], 2, b"--nonsense"),
    ],
)
def test_what_goes_wrong_has_its_own_exit_code(argv: list[str], code: int, said: bytes) -> None:
    run = flexkit("sandbox", *argv)
    assert run.returncode == code
    assert said in run.stderr


@pytest.mark.needs("sandbox")
def test_a_directory_below_tmp_is_bound_or_said_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("text")

    def call(*argv: str) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"PYTHONPATH": str(PROJECT)}
        return subprocess.run([*FLEXKIT, *argv], check=False, cwd=tmp_path, env=env, capture_output=True, text=True)

    bound = call("sandbox", "--bind", ".", "--", "sh", "-c", "cat here; echo new 2>/dev/null >here || echo read-only")
    assert (bound.stdout, bound.stderr) == ("textread-only\n", "")
    alone = call("sandbox", "--", "pwd")
    assert alone.stdout == "/\n"
    assert alone.stderr == f"flexkit sandbox: {tmp_path} is not in the sandbox, CMD runs in /; --bind . shows it\n"


@pytest.mark.needs("sandbox")
def test_doctor_says_that_all_is_possible_here() -> None:
    run = flexkit("doctor")
    assert run.returncode == 0
    assert run.stdout.startswith(b"sandbox         yes")


@pytest.mark.needs("sandbox", "setpriv")
@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (("unshare", "--user", "--"), b"it needs root"),
        (("setpriv", "--bounding-set=-sys_admin", "--"), b"Operation not permitted"),
        ((*FLEXKIT, "sandbox", "--bind", str(PROJECT), "--"), b"this is the inside of a sandbox"),
    ],
    ids=["as nobody", "without a capability", "in a sandbox"],
)
def test_where_no_sandbox_is_possible_doctor_says_why_and_nothing_runs(before: tuple[str, ...], reason: bytes) -> None:
    run = flexkit("doctor", before=before)
    assert run.returncode == 1
    assert run.stdout.startswith(b"sandbox         no")
    assert reason in run.stdout
    run = flexkit("sandbox", "--", "echo", "ran", before=before)
    assert (run.returncode, run.stdout) == (125, b"")
    assert b"flexkit doctor" in run.stderr


def test_the_self_check_finds_the_holes_of_a_place_that_is_no_sandbox() -> None:
    holes = selfcheck.holes(str(Path("/proc/self/ns/user").readlink()), ("/etc",))
    assert "the pid namespace is not new" in holes
    assert "the user namespace is the outside's" in holes
    assert "/etc is not read-only" in holes
