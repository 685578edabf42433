"""Looks at a finished sandbox from inside, before any command runs in it: whatever is open here is a hole.

It trusts nothing that jail.py believes to have done; it reads what the kernel shows.
"""

from __future__ import annotations

import os

from pyhelpers.sandbox import mounts
from pyhelpers.sandbox.spec import DEVICES

# Mounts that may be written to, by file system and, for a file system that could be the outside's, by source.
WRITABLE = frozenset(("overlay", "tmpfs", "proc", "devpts"))
READ_ONLY = ("/sys", "/proc/sys")
SOURCE = "sandbox"


def holes(outer_userns: str, bind_targets: tuple[str, ...]) -> list[str]:
    """What is wrong, in words; empty when the sandbox is closed. outer_userns: the outside's `readlink ns/user`."""
    with open("/proc/self/mountinfo", errors="surrogateescape") as file:  # noqa: PTH123 - a fork server stays small
        table = mounts.parse(file.read())
    found = [f"{mount.point} is a writable {mount.kind} of the outside" for mount in table if _is_open(mount)]
    shown = {mount.point: mount for mount in table}  # the last mount on a place is the visible one
    if "/" not in shown or shown["/"].kind != "overlay":
        found.append("the root is no overlay")
    for point in (*READ_ONLY, *bind_targets):
        if point not in shown or "ro" not in shown[point].options:
            found.append(f"{point} is not read-only")
    if os.getpid() != 1:
        found.append("the pid namespace is not new")
    if os.readlink("/proc/self/ns/user") == outer_userns:  # noqa: PTH115
        found.append("the user namespace is the outside's")
    if os.listdir("/sys/class/net") != ["lo"]:  # noqa: PTH208
        found.append("there is a network link other than lo")
    return found


def _is_open(mount: mounts.Mount) -> bool:
    if "ro" in mount.options or mount.point in (f"/dev/{name}" for name in DEVICES):
        return False
    return mount.kind not in WRITABLE or (mount.kind in ("overlay", "tmpfs") and mount.source != SOURCE)
