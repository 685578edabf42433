"""The file system of one sandbox, seen from outside: its difference, its files. Outlives the processes in it."""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

from pyhelpers.sandbox import diff, kernel, wire
from pyhelpers.sandbox.spec import MADE, store_name
from pyhelpers.tree import Change, matcher

Retire = Callable[[Sequence[int]], None]


class Handles(NamedTuple):
    """Descriptors of one sandbox, in the order in which the fork server sends them."""

    control: int
    pidfd: int
    mntns: int
    netns: int
    root: int
    store: int


class Files:
    """One sandbox. `retire` closes its descriptors later and elsewhere: taking mounts down costs milliseconds.

    layers: the overlaid mount points; made: what was made only to mount something on it.
    """

    def __init__(self, fds: Handles, layers: Sequence[str], made: Sequence[str], retire: Retire) -> None:
        self.fds, self.layers, self.made, self.open, self.killed = fds, layers, made, True, False
        self.control = socket.socket(fileno=fds.control)
        self._retire = retire

    def kill(self) -> None:
        """Kill every process of the sandbox and wait until none is left."""
        self.killed = True
        try:
            signal.pidfd_send_signal(self.fds.pidfd, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.wait()

    def wait(self) -> None:
        """Wait until pid 1 has ended; the kernel ends it only after all others of its namespace."""
        poll = select.poll()
        poll.register(self.fds.pidfd, select.POLLIN)
        poll.poll()

    def last_words(self) -> str:
        """What pid 1 said when it died of a fault of its own."""
        try:
            message, _ = wire.receive(self.control, socket.MSG_DONTWAIT)
        except OSError:
            return ""
        return f": {message['error']}" if message else ""

    def diff(self, ignore: Sequence[str] = ()) -> list[Change]:
        """What differs from the outside, by path; /run, /tmp and /dev/shm differ from empty ones."""
        changes: list[Change] = []
        for point in self.layers:
            changes += self._changes(point, kernel.clone_tree(point))
        for point in MADE:
            changes += self._changes(point, self._in_store(f"{store_name(point)}.base"))
        if self.made:
            made = set(self.made)
            changes = [change for change in changes if change[0] not in made]
        if ignore:
            ignored = matcher(ignore)
            changes = [change for change in changes if not ignored(change.path)]
        changes.sort(key=itemgetter(0))  # by path, each is there once; comparing whole tuples takes four times as long
        return changes

    def _changes(self, point: str, lower: int) -> list[Change]:
        upper = self._in_store(f"{store_name(point)}.up")
        try:
            return diff.changes(upper, lower, point)
        finally:
            os.close(upper)
            os.close(lower)

    def _in_store(self, name: str) -> int:
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.fds.store)

    def read(self, path: str) -> bytes:
        """The file at PATH, links followed as inside. Raises OSError."""
        with os.fdopen(kernel.open_inside(self.fds.root, path, os.O_RDONLY), "rb") as file:
            return file.read()

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Write a file at PATH inside (its directory must be there)."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(kernel.open_inside(self.fds.root, path, flags, mode), "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)

    def is_full(self) -> bool:
        """Whether the store has no room for one more file worth the name."""
        state = os.fstatvfs(self.fds.store)
        return (
            state.f_bavail * state.f_frsize < min(65536, state.f_blocks * state.f_frsize // 20) or state.f_favail == 0
        )

    def close(self) -> None:
        """Let go of everything; the last one frees the memory."""
        if self.open:
            self.open = False
            self.control.detach()
            self._retire(self.fds)

    def __del__(self) -> None:
        self.close()
