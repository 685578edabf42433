"""Pid 1 of a sandbox: starts commands when asked to, reaps every process, ends when nobody outside holds it.

Each request comes over the control socket with descriptors: a status socket, then the command's stdin (if any),
stdout, stderr, then those to pass on. The answer on the status socket is one JSON object. Text that arrives on a
status socket, or its end, kills the command's process group.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import socket
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from pyhelpers.sandbox import wire


def serve(control: socket.socket) -> NoReturn:
    """Run until the control socket ends or a request marked `last` has ended. Never returns."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # the kernel keeps what pid 1 does not handle away from it
    wake_r, wake_w = os.pipe()
    os.set_blocking(wake_r, False)
    os.set_blocking(wake_w, False)
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    Init(control, wake_r).loop()


class Init:
    """The loop's state: which command (by pid) reports to which status socket."""

    def __init__(self, control: socket.socket, wake: int) -> None:
        self._control, self._wake = control, wake
        self._status: dict[int, socket.socket] = {}
        self._last = 0
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._poll.register(wake, select.POLLIN)

    def loop(self) -> NoReturn:
        while True:
            ready = [fd for fd, _ in self._poll.poll()]
            for fd in ready:
                if fd == self._control.fileno():
                    self._request()
                elif fd != self._wake:
                    self._kill(fd)
            if self._wake in ready:
                self._reap()

    def _request(self) -> None:
        request, fds = wire.receive(self._control)
        if request is None:
            os._exit(0)  # nobody outside is left: the kernel kills all that is here
        status = socket.socket(fileno=fds[0])
        try:
            pid = spawn(request, fds[1:])
        except OSError as error:
            wire.send(status, {"errno": error.errno, "where": error.filename})
            status.close()
            if request["last"]:
                os._exit(0)
            return
        finally:
            for fd in fds[1:]:
                os.close(fd)
        self._status[pid] = status
        self._poll.register(status, select.POLLIN)
        if request["last"]:
            self._last = pid

    def _kill(self, fd: int) -> None:
        for pid, status in self._status.items():
            if status.fileno() == fd:
                self._poll.unregister(fd)
                os.killpg(pid, signal.SIGKILL)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        for pid, code in _ended():
            status = self._status.pop(pid, None)
            if status is None:
                continue
            with contextlib.suppress(KeyError):  # it was told to die
                self._poll.unregister(status)
            with contextlib.suppress(OSError):  # the caller went away
                wire.send(status, {"code": code})
            status.close()
            if pid == self._last:
                os._exit(0)


def _ended() -> Iterator[tuple[int, int]]:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def spawn(request: dict[str, Any], fds: Sequence[int]) -> int:
    """Start the command of REQUEST in a session of its own -> its pid. Raises OSError with the path in question."""
    targets: list[int] = [0, 1, 2] if request["stdin"] else [1, 2]
    targets += request["pass"]
    high = _out_of_the_way(fds, max(targets) + 1)
    actions: list[tuple[Any, ...]] = [(os.POSIX_SPAWN_DUP2, fd, target) for fd, target in zip(high, targets)]
    if not request["stdin"]:
        actions.insert(0, (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0))
    try:
        os.chdir(request["cwd"])
        return _spawn_by_path(request["argv"], request["env"], actions)
    finally:
        os.chdir("/")
        for fd in high:
            os.close(fd)


def _out_of_the_way(fds: Sequence[int], above: int) -> list[int]:
    """Copies of FDS with numbers that no target has."""
    return [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, max(above, 3)) for fd in fds]


def _spawn_by_path(argv: list[str], env: dict[str, str], actions: list[tuple[Any, ...]]) -> int:
    """posix_spawnp with the command's own PATH instead of ours."""
    defaults = [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD]
    directories = [""] if "/" in argv[0] else env.get("PATH", "/usr/bin:/bin").split(":")
    failure = OSError(errno.ENOENT, "not found", argv[0])
    for directory in directories:
        path = os.path.join(directory, argv[0])  # noqa: PTH118 - the fork server holds no pathlib
        try:
            return os.posix_spawn(path, argv, env, file_actions=actions, setsid=True, setsigmask=(), setsigdef=defaults)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR):
                failure = OSError(error.errno, error.strerror, path)
    raise failure
