"""However the user of a sandbox ends, no process, mount or memory of it is left."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pyhelpers.sandbox import SandboxError, Server

pytestmark = pytest.mark.needs("sandbox")

PROJECT = Path(__file__).resolve().parents[3]
MIB = 64
LIMIT_S = 2
USER = f"""
from pyhelpers.sandbox import Server
server = Server(jobs=2)
server.run(["true"])
box = server.box()
box.run(["sh", "-c", "head -c {MIB}M /dev/urandom >/opt/big; setsid sleep 1000 &"])
print("up", flush=True)
box.run(["sleep", "1000"], timeout=None)
"""


@contextmanager
def user() -> Iterator[subprocess.Popen[str]]:
    """A process with a sandbox that holds a daemon, a running command and a large file."""
    argv = [sys.executable, "-B", "-c", USER]
    with subprocess.Popen(argv, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout and process.stdout.readline() == "up\n"
            yield process
        finally:
            process.kill()


def below(pid: int) -> list[int]:
    """All descendants of a process."""
    try:
        children = list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except FileNotFoundError:
        return []
    return [*children, *(deeper for child in children for deeper in below(child))]


def open_pidfds(pids: Iterable[int]) -> list[int]:
    """Of those that have not ended by now."""
    found = []
    for pid in pids:
        with suppress(ProcessLookupError):
            found.append(os.pidfd_open(pid))
    return found


def wait_for_end(pidfds: list[int]) -> None:
    limit = time.monotonic() + LIMIT_S
    for fd in pidfds:
        ended, _, _ = select.select([fd], [], [], max(0, limit - time.monotonic()))
        assert ended
        os.close(fd)


def wait_until(true: Callable[[], bool]) -> None:
    """For what the kernel tells nobody: memory that it gives back."""
    limit = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


def shared_memory() -> int:
    """MiB of tmpfs on this machine."""
    line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("Shmem:"))
    return int(line.split()[1]) >> 10


def test_a_killed_user_leaves_nothing() -> None:
    mounts = Path("/proc/self/mountinfo").read_text()
    with user() as process:
        family = below(process.pid)
        assert len(family) >= 5  # fork server, two built ahead, pid 1, daemon; perhaps the command by now
        pidfds = open_pidfds(family)
        held = shared_memory()
        process.send_signal(signal.SIGKILL)
        wait_for_end(pidfds)
        wait_until(lambda: shared_memory() <= held - MIB // 2)
    assert Path("/proc/self/mountinfo").read_text() == mounts


def test_a_killed_fork_server_takes_every_process_with_it() -> None:
    with user() as process:
        family = below(process.pid)
        pidfds = open_pidfds(family)
        os.kill(family[0], signal.SIGKILL)
        wait_for_end(pidfds)


def test_a_closed_server_leaves_nothing() -> None:
    before = set(below(os.getpid()))
    with Server(jobs=2) as server:
        server.run(["true"])
        box = server.box()
        box.run(["sh", "-c", "setsid sleep 1000 &"])
        pidfds = open_pidfds(set(below(os.getpid())) - before)
        assert len(pidfds) >= 4
    wait_for_end(pidfds)
    box.close()


def test_results_that_are_dropped_give_back_their_memory(server: Server) -> None:
    result = server.run(["sh", "-c", f"head -c {MIB}M /dev/urandom >/opt/big"])
    held = shared_memory()
    del result
    wait_until(lambda: shared_memory() <= held - MIB // 2)


def test_descriptors_do_not_pile_up(server: Server) -> None:
    server.run(["true"])
    with server.box() as box:
        box.run(["true"])
        box.restart()
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        for _ in range(20):
            box.run(["cat"], stdin=b"x")
            box.restart()
        wait_until(lambda: len(os.listdir("/proc/self/fd")) <= before)  # noqa: PTH208


def test_a_command_under_a_dead_fork_server_is_told_from_a_failing_one() -> None:
    before = set(below(os.getpid()))
    server = Server(jobs=0)
    (fork_server,) = set(below(os.getpid())) - before
    box = server.box()
    os.kill(fork_server, signal.SIGKILL)
    for run in (box.run, box.run, server.run):
        with pytest.raises(SandboxError):
            run(["sleep", "1000"])
    box.close()
    server.close()
