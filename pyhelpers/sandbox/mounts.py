"""Reads a mount table and says how each mount is shown inside a sandbox. Pure: text in, a list out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# File systems that may be the lower layer of an overlay.
OVERLAYABLE = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "ramfs", "overlay", "squashfs", "erofs", "iso9660", "zfs")
)
# Trees that a sandbox makes anew; nothing mounted there is shown.
OWN = ("/dev", "/proc", "/sys", "/run", "/tmp")


class Mount(NamedTuple):
    """One line of a mount table."""

    point: str
    kind: str
    options: frozenset[str]
    source: str


class Plan(NamedTuple):
    """How one mount point below the root is shown: by an overlay, or by an empty directory (`overlay` False)."""

    point: str
    overlay: bool
    read_only: bool


def unescape(text: str) -> str:
    r"""The kernel writes blanks, tabs, newlines and backslashes as \040 and so on."""
    if "\\" not in text:
        return text
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def parse(mountinfo: str) -> list[Mount]:
    """The lines of /proc/PID/mountinfo, in mount order. Format: proc_pid_mountinfo(5)."""
    found = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, source, *_) = left.split(" "), right.split(" ")
        found.append(Mount(unescape(fields[4]), kind, frozenset(fields[5].split(",")), source))
    return found


def is_below(path: str, top: str) -> bool:
    """Whether PATH is TOP or lies below it."""
    return path == top or path.startswith(top.rstrip("/") + "/")


def plan(mounts: Iterable[Mount]) -> list[Plan]:
    """What to do for each mount below `/`, in the order to do it.

    A mount that a later one covers (same place, or a directory above it) is not visible and left out.
    """
    visible: dict[str, Mount] = {}
    for mount in mounts:
        for point in [point for point in visible if is_below(point, mount.point)]:
            del visible[point]
        visible[mount.point] = mount
    return [
        Plan(mount.point, mount.kind in OVERLAYABLE, "ro" in mount.options)
        for mount in sorted(visible.values())
        if mount.point != "/" and not any(is_below(mount.point, own) for own in OWN)
    ]
