"""Snapshots of file trees and their comparison: what was added, removed, changed. It only reads.

Times do not count: a directory's time says nothing, and a file that was written anew with the same bytes is the same
file. What is below a mount point belongs to another tree and is never entered.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # not for those who only compare
    from pathlib import Path

TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "char",
    stat.S_IFBLK: "block",
}
Xattrs = tuple[tuple[str, bytes], ...]
OVERLAY_XATTRS = ("trusted.overlay.", "user.overlay.")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Entry(NamedTuple):
    """One file: content is a file's SHA-256, a link's target, a device's number, else empty."""

    type: str
    mode: int
    uid: int
    gid: int
    content: str = ""
    xattrs: Xattrs = ()


class Change(NamedTuple):
    """One difference. kind: added, modified, metadata, removed, type. detail says what, for people."""

    path: str
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind:<8} {self.path}" + (f" ({self.detail})" if self.detail else "")


def snapshot(root: Path, skip: Sequence[str] = ()) -> dict[str, Entry]:
    """Every file of the tree ROOT by its path below it (`/` is ROOT itself). skip: patterns as in `compare`."""
    skipped = matcher(skip)
    found: dict[str, Entry] = {}
    points = _mount_points()
    fd = os.open(root, _DIRECTORY & ~os.O_NOFOLLOW)
    try:
        real = str(root.resolve()).rstrip("/")
        device = os.fstat(fd).st_dev
        found["/"] = read_entry(f"/proc/self/fd/{fd}/.", os.fstat(fd))

        def enter(path: str, info: os.stat_result) -> bool:
            return info.st_dev == device and real + path not in points

        _walk(fd, "", found, skipped, enter)
    finally:
        os.close(fd)
    return found


def _walk(
    fd: int,
    above: str,
    found: dict[str, Entry],
    skipped: Callable[[str], bool],
    enter: Callable[[str, os.stat_result], bool],
) -> None:
    for name in os.listdir(fd):
        path = f"{above}/{name}"
        if skipped(path):
            continue
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        found[path] = read_entry(f"/proc/self/fd/{fd}/{name}", info)
        if stat.S_ISDIR(info.st_mode) and enter(path, info):
            below = os.open(name, _DIRECTORY, dir_fd=fd)
            try:
                _walk(below, path, found, skipped, enter)
            finally:
                os.close(below)


def _mount_points() -> set[str]:
    """Where something is mounted, as this process sees it; a bind mount has the device of the tree around it."""
    with open("/proc/self/mountinfo", errors="surrogateescape") as file:  # noqa: PTH123 - as below
        lines = file.read().splitlines()
    escaped = (line.split(" ")[4] for line in lines)
    return {re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), point) for point in escaped}


def read_entry(path: str, info: os.stat_result) -> Entry:
    """The entry of the file at PATH, whose lstat is INFO."""
    kind = stat.S_IFMT(info.st_mode)
    content = ""
    if kind == stat.S_IFREG:
        content = _sha256(path)
    elif kind == stat.S_IFLNK:
        content = os.readlink(path)  # noqa: PTH115 - a Path for each of 100,000 files costs more than the rest
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        content = f"{os.major(info.st_rdev)}:{os.minor(info.st_rdev)}"
    return Entry(TYPES[kind], stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, content, xattrs(path))


def _sha256(path: str) -> str:
    import hashlib  # loads OpenSSL: not for those who only compare

    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - as above
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def xattrs(path: str) -> Xattrs:
    """The extended attributes of PATH itself but for an overlay's own; none where the file system has none."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        return ()
    kept = sorted(name for name in names if not name.startswith(OVERLAY_XATTRS))
    return tuple((name, os.getxattr(path, name, follow_symlinks=False)) for name in kept)


def compare(before: Mapping[str, Entry], after: Mapping[str, Entry], ignore: Sequence[str] = ()) -> list[Change]:
    """The differences, by path. ignore: patterns; `*` and `?` stay within a name, `**` does not, and `/var/cache/**`
    is the directory and all below it."""
    ignored = matcher(ignore)
    changes = (difference(path, before.get(path), after.get(path)) for path in sorted(before.keys() | after.keys()))
    return [change for change in changes if change and not ignored(change.path)]


def difference(path: str, before: Entry | None, after: Entry | None) -> Change | None:
    """How one path differs, None when it does not."""
    if before == after:
        return None
    if before is None:
        assert after is not None
        return Change(path, "added", f"{after.type} {after.mode:04o} {after.uid}:{after.gid}")
    if after is None:
        return Change(path, "removed", before.type)
    if before.type != after.type:
        return Change(path, "type", f"{before.type} -> {after.type}")
    said = _metadata(before, after)
    if before.content == after.content:
        return Change(path, "metadata", ", ".join(said))
    return Change(path, "modified", ", ".join(["content", *said]))


def _metadata(before: Entry, after: Entry) -> list[str]:
    said = []
    if before.mode != after.mode:
        said.append(f"mode {before.mode:04o} -> {after.mode:04o}")
    if (before.uid, before.gid) != (after.uid, after.gid):
        said.append(f"owner {before.uid}:{before.gid} -> {after.uid}:{after.gid}")
    if before.xattrs != after.xattrs:
        names = sorted({name for name, _ in set(before.xattrs) ^ set(after.xattrs)})
        said.append("xattr " + " ".join(names))
    return said


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A function that says whether a path matches one of PATTERNS (see `compare`)."""
    found = _regex(tuple(patterns)).fullmatch
    return lambda path: found(path) is not None


@functools.lru_cache(maxsize=64)
def _regex(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_translate, patterns)) or r"(?!)", re.DOTALL)


def _translate(pattern: str) -> str:
    below = pattern.endswith("/**")
    parts = re.split(r"(\*\*|\*|\?)", pattern[:-3] if below else pattern)
    special = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(special.get(part, re.escape(part)) for part in parts) + ("(?:/.*)?" if below else "")
