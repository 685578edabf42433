"""The difference that an overlay's upper directory makes, read from it without a walk of the whole tree.

In the upper directory a character device 0/0 (a whiteout) hides what is below; an opaque directory hides all that is
below it; a renamed directory says in an attribute which lower one it shows; a file opened for writing is there in
full even if nothing was written. Source: the kernel's Documentation/filesystems/overlayfs.rst.
The result equals tree.compare of two snapshots of the merged view; a test checks that on random trees.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from pyhelpers.tree import TYPES, Change, Entry, difference, xattrs

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 1 << 20
_NONE = -1  # the descriptor of a directory that is not there


class _Node(NamedTuple):
    """One file: the directory that holds it, its name there, its lstat."""

    directory: int
    name: str
    info: os.stat_result

    @property
    def path(self) -> str:
        return f"/proc/self/fd/{self.directory}/{self.name}"

    @property
    def is_dir(self) -> bool:
        return stat.S_ISDIR(self.info.st_mode)

    @property
    def is_whiteout(self) -> bool:
        return stat.S_ISCHR(self.info.st_mode) and self.info.st_rdev == 0


def changes(upper_fd: int, lower_fd: int, prefix: str = "/") -> list[Change]:
    """What the upper directory changes below PREFIX, in no order. Both descriptors are read, neither is closed.

    lower_fd must show the lower layer as the overlay does, without what is mounted below it.
    """
    reader = _Reader(lower_fd)
    reader.compare(prefix, _Node(lower_fd, ".", os.stat(lower_fd)), _Node(upper_fd, ".", os.stat(upper_fd)))
    lower = _NONE if _overlay_xattr(f"/proc/self/fd/{upper_fd}/.", "opaque") == b"y" else lower_fd
    reader.directory(prefix.rstrip("/"), upper_fd, lower, lower_fd)
    return reader.found


class _Reader:
    """Collects changes. `upper` over `lower` is a directory as it is now, `old` the directory as it was."""

    def __init__(self, lower_root: int) -> None:
        self.found: list[Change] = []
        self._lower_root = lower_root
        self._added: dict[tuple[int, int, int], str] = {}  # mode and owner of a new file -> what to say of it

    def directory(self, path: str, upper: int, lower: int, old: int) -> None:
        """All that differs below one directory. Where LOWER is OLD, only what UPPER names can differ."""
        if lower == old == _NONE:
            self._new_directory(path, upper)
            return
        in_upper = _nodes(upper)
        in_lower: dict[str, _Node] = {} if lower == old else _nodes(lower)
        in_old = _named(old, in_upper) if lower == old else _nodes(old)
        for name in in_upper.keys() | in_lower.keys() | in_old.keys():
            now, was = in_upper.get(name) or in_lower.get(name), in_old.get(name)
            if now and now.is_whiteout:
                now = None
            self.compare(f"{path}/{name}", was, now)
            if (now and now.is_dir) or (was and was.is_dir):
                self._enter(f"{path}/{name}", now, was, upper, lower, old)

    def _new_directory(self, path: str, upper: int) -> None:
        """All of a directory that hides and shows nothing below it: the short way, most changes are of this kind."""
        with os.scandir(upper) as entries:
            for entry in entries:
                info = entry.stat(follow_symlinks=False)
                if stat.S_ISCHR(info.st_mode) and info.st_rdev == 0:
                    continue
                self.found.append(Change(f"{path}/{entry.name}", "added", self._say_added(info)))
                if stat.S_ISDIR(info.st_mode):
                    node = _Node(upper, entry.name, info)
                    self._enter(f"{path}/{entry.name}", node, None, upper, _NONE, _NONE)

    def _enter(self, path: str, now: _Node | None, was: _Node | None, upper: int, lower: int, old: int) -> None:
        new_upper = _open(now) if now and now.is_dir and now.directory == upper else _NONE
        new_old = _open(was) if was and was.is_dir else _NONE
        new_lower = _NONE
        try:
            if now and now.is_dir:
                new_lower = self._below(now, new_upper, lower, new_old if lower == old else _NONE)
            self.directory(path, new_upper, new_lower, new_old)
        finally:
            for fd in {new_upper, new_old, new_lower} - {_NONE}:
                os.close(fd)

    def _below(self, now: _Node, upper: int, lower: int, same: int) -> int:
        """The lower directory that shows through NOW. SAME: the open one of that name, if it is the old one too."""
        target: bytes | str = now.name
        directory = lower
        if upper != _NONE:
            if _overlay_xattr(now.path, "opaque") == b"y":
                return _NONE
            redirect = _overlay_xattr(now.path, "redirect")
            if redirect:
                target, same = redirect.lstrip(b"/"), _NONE
                directory = self._lower_root if redirect.startswith(b"/") else lower
        if same != _NONE or directory == _NONE:
            return same
        try:
            return os.open(target, _DIRECTORY, dir_fd=directory)
        except (FileNotFoundError, NotADirectoryError):
            return _NONE

    def compare(self, path: str, was: _Node | None, now: _Node | None) -> None:
        """Record the change of one file, if there is one."""
        if was and now and stat.S_IFMT(was.info.st_mode) == stat.S_IFMT(now.info.st_mode):
            old, new = ("", "") if _same_content(was, now) else ("old", "new")
            change = difference(path, _entry(was, old, xattrs(was.path)), _entry(now, new, xattrs(now.path)))
        elif was is None and now is not None:
            change = Change(path, "added", self._say_added(now.info))
        else:
            change = difference(path, was and _entry(was), now and _entry(now))
        if change:
            self.found.append(change)

    def _say_added(self, info: os.stat_result) -> str:
        key = (info.st_mode, info.st_uid, info.st_gid)
        said = self._added.get(key)
        if said is None:
            change = difference("", None, _entry(_Node(_NONE, "", info)))
            said = self._added[key] = change.detail if change else ""
        return said


def _entry(node: _Node, content: str = "", attributes: tuple[tuple[str, bytes], ...] = ()) -> Entry:
    info = node.info
    kind = TYPES[stat.S_IFMT(info.st_mode)]
    return Entry(kind, stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, content, attributes)


def _nodes(directory: int) -> dict[str, _Node]:
    """All files of a directory."""
    if directory == _NONE:
        return {}
    with os.scandir(directory) as entries:
        return {entry.name: _Node(directory, entry.name, entry.stat(follow_symlinks=False)) for entry in entries}


def _named(directory: int, names: Iterable[str]) -> dict[str, _Node]:
    """Those files of a directory that have one of NAMES."""
    found: dict[str, _Node] = {}
    for name in names if directory != _NONE else ():
        try:
            found[name] = _Node(directory, name, os.stat(name, dir_fd=directory, follow_symlinks=False))
        except FileNotFoundError:  # only the upper has it
            continue
    return found


def _open(node: _Node) -> int:
    return os.open(node.name, _DIRECTORY, dir_fd=node.directory)


def _overlay_xattr(path: str, name: str) -> bytes | None:
    try:
        return os.getxattr(path, f"trusted.overlay.{name}", follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.ENODATA, errno.ENOTSUP):
            raise
        return None


def _same_content(was: _Node, now: _Node) -> bool:
    kind = stat.S_IFMT(was.info.st_mode)
    if kind == stat.S_IFREG:
        return was.info.st_size == now.info.st_size and _same_bytes(was.path, now.path)
    if kind == stat.S_IFLNK:
        return os.readlink(was.path) == os.readlink(now.path)  # noqa: PTH115 - ten thousand in a tenth of a second
    return kind not in (stat.S_IFCHR, stat.S_IFBLK) or was.info.st_rdev == now.info.st_rdev


def _same_bytes(first: str, second: str) -> bool:
    with open(first, "rb", buffering=0) as one, open(second, "rb", buffering=0) as other:  # noqa: PTH123
        while True:
            block = one.read(_BLOCK)
            if block != other.read(_BLOCK):
                return False
            if not block:
                return True
