"""Box: many commands in one sandbox."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhelpers.sandbox import Box, SandboxError, Server

pytestmark = pytest.mark.needs("sandbox")


@pytest.fixture
def box(server: Server) -> Iterator[Box]:
    with server.box() as made:
        yield made


def test_a_command_finds_what_an_earlier_one_left(box: Box) -> None:
    box.run(["sh", "-c", "echo one >/etc/one; sleep 1000 & mount -t tmpfs t /srv && touch /srv/two"])
    result = box.run(["sh", "-c", "cat /etc/one; ls /srv; pgrep sleep >/dev/null && echo alive"])
    assert result.stdout == "one\ntwo\nalive\n"
    assert [change.path for change in box.diff(ignore=["/run/**"])] == ["/etc/one"]


def test_a_time_limit_kills_the_command_and_not_the_box(box: Box) -> None:
    box.run(["sh", "-c", "setsid sleep 1000 &"])
    assert box.run(["sleep", "1000"], timeout=0.1).timed_out
    assert box.run(["pgrep", "-c", "sleep"]).stdout == "1\n"


def test_a_restart_kills_every_process_and_keeps_the_files(box: Box) -> None:
    box.run(["sh", "-c", "for place in etc run tmp; do echo kept >/$place/kept; done; setsid sleep 1000 &"])
    box.restart()
    result = box.run(
        ["sh", "-c", "cat /etc/kept /run/kept /tmp/kept; pgrep sleep; echo $(ls /proc | grep -c '^[0-9]')"]
    )
    assert result.stdout.split()[:3] == ["kept"] * 3
    assert int(result.stdout.split()[3]) < 6  # pid 1, the shells, ls, grep
    assert [change.path for change in box.diff()] == ["/etc/kept", "/run/kept", "/tmp/kept"]


def test_after_many_restarts_it_is_as_closed_as_at_first(box: Box) -> None:
    for number in range(20):
        box.run(["sh", "-c", f"echo {number} >>/etc/log"])
        box.restart()
    assert len(box.read("/etc/log").split()) == 20
    for script in ("echo 1 >/proc/sys/kernel/panic", "umount /proc/sys", "umount -l /proc", "mount -o remount,rw /sys"):
        assert box.run(["sh", "-c", script]).code != 0, script


def test_a_restart_in_the_middle_of_a_command_ends_it(box: Box) -> None:
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(box.run, ["sh", "-c", "touch /run/started; sleep 1000"])
        box.run(["sh", "-c", "until [ -e /run/started ]; do :; done"])
        box.restart()
        assert running.result(10).code == 137
    assert box.run(["true"]).code == 0


def test_a_killed_box_keeps_its_files_and_takes_no_command(box: Box) -> None:
    box.run(["sh", "-c", "echo x >/etc/x"])
    box.kill()
    assert box.read("/etc/x") == b"x\n"
    assert [change.path for change in box.diff()] == ["/etc/x"]
    with pytest.raises(SandboxError):
        box.run(["true"])
    box.restart()
    assert box.run(["cat", "/etc/x"]).stdout == "x\n"


def test_the_root_can_be_used_from_outside(box: Box) -> None:
    box.run(["sh", "-c", "echo inside >/etc/inside; echo run >/run/inside"])
    assert (box.root / "etc/inside").read_text() == "inside\n"
    assert (box.root / "run/inside").read_text() == "run\n"
    box.write("/etc/outside", b"outside", 0o600)
    assert box.run(["sh", "-c", "cat /etc/outside; stat -c %a /etc/outside"]).stdout == "outside600\n"


def test_the_network_namespace_can_be_entered_from_outside_and_outlives_a_restart(box: Box) -> None:
    assert subprocess.check_output(["nsenter", f"--net={box.netns}", "ls", "/proc/self/net"], text=True)
    server = socket_inside(box)
    with server:
        port = server.getsockname()[1]
        box.restart()
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"
        assert box.run(["bash", "-c", connect]).stdout == "connected\n"


def socket_inside(box: Box) -> socket.socket:
    """A listening socket in the box's network, made by a thread that enters it for good."""
    made: list[socket.socket] = []

    def make() -> None:
        from pyhelpers.sandbox import kernel

        fd = os.open(box.netns, os.O_RDONLY)
        kernel.setns(fd, kernel.NEWNET)
        os.close(fd)
        made.append(socket.create_server(("127.0.0.1", 0)))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]


def test_descriptors_reach_the_command_under_their_numbers(box: Box) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        high = os.dup2(theirs.fileno(), 77)
        script = f"echo through {theirs.fileno()} >&{theirs.fileno()}; ls /proc/$$/fd; true"
        result = box.run(["bash", "-c", script], pass_fds=(theirs.fileno(), high))
        os.close(high)
        assert ours.recv(100) == f"through {theirs.fileno()}\n".encode()
        assert result.stdout.split() == sorted(("0", "1", "2", str(theirs.fileno()), "77"), key=str)


def test_many_threads_use_one_box(box: Box) -> None:
    def one(number: int) -> tuple[int, str]:
        result = box.run(["sh", "-c", f"cat; echo {number}; exit {number}"], stdin=b"in ")
        return result.code, result.stdout

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, range(40))) == [(number, f"in {number}\n") for number in range(40)]


def test_orphans_are_reaped(box: Box) -> None:
    box.run(["sh", "-c", "for i in 1 2 3 4 5; do (true &) & done; wait"])
    assert box.run(["sh", "-c", "until ! ps -eo stat | grep -q Z; do :; done"], timeout=5).code == 0


def test_pid_1_cannot_be_killed_or_looked_into_from_inside(box: Box) -> None:
    for number in ("KILL", "INT", "TERM", "HUP", "CHLD", "PIPE"):
        box.run(["kill", f"-{number}", "1"])
    for name in ("exe", "root", "cwd", "fd/3", "mem", "maps"):
        assert box.run(["sh", "-c", f"cat /proc/1/{name} || ls -l /proc/1/{name}/"]).code != 0, name
    assert box.run(["true"]).code == 0
