"""Waiting for the daemon to be ready: woken by its state file and by the end of its process, never by a clock.

inotify(7) by ctypes, because the standard library has none; pidfd_open(2) by `os`. Where the kernel or Python lacks
pidfds (Linux < 5.3), the end of the process is noticed at the time limit only.
"""

from __future__ import annotations

import ctypes
import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

IN_MOVED_TO, IN_CLOEXEC = 0x80, os.O_CLOEXEC


@contextmanager
def watching(directory: str) -> Iterator[int]:
    """A descriptor that is readable once something has been renamed into `directory`."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(IN_CLOEXEC)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    try:
        if libc.inotify_add_watch(fd, os.fsencode(directory), IN_MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", directory)
        yield fd
    finally:
        os.close(fd)


@contextmanager
def process(pid: int) -> Iterator[int | None]:
    """A descriptor that is readable once process `pid` has ended, at once if it is gone; None where there are none."""
    fd = _descriptor(pid)
    try:
        yield fd
    finally:
        if fd is not None:
            os.close(fd)


def _descriptor(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        gone, other_end = os.pipe()  # without its other end a pipe is readable for ever
        os.close(other_end)
        return gone
    except (AttributeError, OSError):
        return None


def until(ready: Callable[[], bool], changes: int, ended: int | None, seconds: float) -> str:
    """Wait until `ready()`, asked again after each change; returns "ready", "ended" or "timeout"."""
    deadline = time.monotonic() + seconds
    poll = select.poll()
    for fd in (changes, ended):
        if fd is not None:
            poll.register(fd, select.POLLIN)
    while not ready():
        left = deadline - time.monotonic()
        if left <= 0:
            return "timeout"
        events = dict(poll.poll(left * 1000))
        if changes in events:
            os.read(changes, 65536)
        elif ended in events:
            return "ready" if ready() else "ended"
    return "ready"
