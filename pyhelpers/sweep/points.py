"""Where and how a run is broken: which errors each kind of call gets, and which calls a sample takes. Pure."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import NamedTuple

from pyhelpers.sandbox.mutations import Call, evenly

ALL = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES, errno.ETXTBSY, errno.EINTR)
KINDS: dict[str, tuple[str, ...]] = {
    "open": ("open", "openat", "creat"),
    "write": ("write", "pwrite64", "writev", "sendfile", "copy_file_range", "truncate", "ftruncate", "fallocate"),
    "make": ("mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat"),
    "rename": ("rename", "renameat", "renameat2"),
    "remove": ("unlink", "unlinkat", "rmdir"),
}  # all others: attributes
LIKELY: dict[str, tuple[int, int]] = {
    "open": (errno.ENOSPC, errno.EROFS),
    "write": (errno.ENOSPC, errno.EIO),
    "make": (errno.ENOSPC, errno.EROFS),
    "rename": (errno.ENOSPC, errno.EROFS),
    "remove": (errno.EROFS, errno.EIO),
    "attributes": (errno.EROFS, errno.EIO),
}


class Point(NamedTuple):
    """One way to break a run at call NUMBER. error: what the call fails with; 0: everything is killed before it."""

    number: int
    name: str
    path: str
    error: int = 0

    def __str__(self) -> str:
        how = f"{errno.errorcode[self.error]} at" if self.error else "killed before"
        return f"{how} call {self.number}, {self.name} {self.path}".rstrip()


def kind(name: str) -> str:
    """The kind of a system call."""
    return next((kind for kind, names in KINDS.items() if name in names), "attributes")


def errors(name: str, full: bool) -> tuple[int, ...]:
    """The errors that a call is given."""
    return ALL if full else LIKELY[kind(name)]


def sample(calls: Sequence[Call], size: int | None) -> list[Call]:
    """SIZE of the calls, evenly spread (None: all of them)."""
    if size is None:
        return list(calls)
    return [calls[number - 1] for number in evenly(len(calls), size)] if calls else []


def of(call: Call, full: bool) -> list[Point]:
    """The error points of a call."""
    return [Point(call.number, call.name, call.path, error) for error in errors(call.name, full)]
