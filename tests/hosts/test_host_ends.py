"""Nothing of a host is left when it ends, however it ends: told to, by death of the tool, by death of its keeper."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyhelpers.testhost import Host, cgroup

PROJECT = Path(__file__).resolve().parents[2]
START = """
import time
from pyhelpers.testhost import Host
host = Host.clone_of_this_machine()
print(host.name, flush=True)
host.run(["sleep", "9999"], timeout=9999)
"""


@contextmanager
def tool() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that has a host up and a command running in it, and the host's name."""
    with subprocess.Popen([sys.executable, "-c", START], cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        try:
            yield process, name
        finally:
            process.kill()


def processes_of(name: str) -> list[int]:
    """The machine's processes in the cgroup of the host NAME."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cgroup"):
        try:
            if f"/flexkit-{name}-" in path.read_text():
                found.append(int(path.parent.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def guard_of(process: subprocess.Popen[str]) -> int:
    """The keeper's guard is the tool's only child."""
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(child)


def await_end(pids: list[int], seconds: float) -> bool:
    """Whether all of PIDS are gone within SECONDS."""
    end = time.monotonic() + seconds
    for pid in pids:
        try:
            fd = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([fd], [], [], max(0.0, end - time.monotonic()))[0]:
                return False
        finally:
            os.close(fd)
    return True


def test_killing_the_tool_leaves_no_process_mount_or_cgroup_after_two_seconds() -> None:
    with tool() as (process, name):
        pids = [guard_of(process), *processes_of(name)]
        assert len(pids) > 5
        process.send_signal(signal.SIGKILL)
        assert await_end(pids, 2)
    assert processes_of(name) == []
    assert not any(name in found for found in cgroup.existing())


def test_killing_the_guard_leaves_no_process_and_the_next_run_sweeps_its_cgroup() -> None:
    with tool() as (process, name):
        pids = processes_of(name)
        os.kill(guard_of(process), signal.SIGKILL)
        assert await_end(pids, 2)
        assert process.wait() != 0  # the command in the host was not reported as done
    assert [found for found in cgroup.stale() if name in found]
    with Host.clone_of_this_machine():
        assert not any(name in found for found in cgroup.existing())


def test_killing_pid_one_of_the_keeper_leaves_nothing() -> None:
    with tool() as (process, name):
        guard = guard_of(process)
        (keeper,) = Path(f"/proc/{guard}/task/{guard}/children").read_text().split()
        pids = [guard, *processes_of(name)]
        os.kill(int(keeper), signal.SIGKILL)
        assert await_end(pids, 2)
    assert not any(name in found for found in cgroup.existing())


def test_down_returns_when_nothing_is_left_and_can_be_repeated() -> None:
    host = Host.clone_of_this_machine()
    assert processes_of(host.name)
    host.down()
    assert processes_of(host.name) == []
    assert not any(host.name in found for found in cgroup.existing())
    host.down()
