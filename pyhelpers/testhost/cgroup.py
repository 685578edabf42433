"""A cgroup of its own for each host, in the unified hierarchy, on pure and on hybrid machines alike.

The hierarchy is reached through a mount that is attached nowhere, so the machine's own mounts do not matter. The
owner holds a lock on its cgroup; whose lock is free is stale and is swept by the next run.
"""

from __future__ import annotations

import errno
import fcntl
import os

from pyhelpers.sandbox import kernel
from pyhelpers.testhost import devices

PREFIX = "flexkit-"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(parent_fd: int, name: str) -> None:
    """Remove the cgroup NAME and all below it; OSError EBUSY when a process is in one of them."""
    fd = os.open(name, _DIRECTORY, dir_fd=parent_fd)
    try:
        with os.scandir(fd) as entries:
            children = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        for child in children:
            remove_tree(fd, child)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=parent_fd)


class Cgroup:
    """`flexkit-ID` at the root of the unified hierarchy, with `keeper` and `host` below it."""

    def __init__(self, host_id: str) -> None:
        self.name = PREFIX + host_id
        self.root_fd = kernel.new_mount("cgroup2")
        sweep(self.root_fd)
        self._lock = _make_locked(self.root_fd, self.name)
        self.disks_forbidden = devices.forbid_disks(self._lock)
        for child in ("keeper", "host"):
            os.mkdir(child, dir_fd=self._lock)

    def enter(self, child: str) -> None:
        """Move this process into `keeper` or `host`."""
        fd = os.open(f"{child}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._lock)
        try:
            os.write(fd, b"0")
        finally:
            os.close(fd)

    def renew(self, child: str) -> None:
        """Make CHILD empty: an earlier boot leaves the cgroups of its units."""
        remove_tree(self._lock, child)
        os.mkdir(child, dir_fd=self._lock)

    def remove(self) -> None:
        """Remove it when its processes are gone."""
        os.close(self._lock)
        remove_tree(self.root_fd, self.name)


def _make_locked(root_fd: int, name: str) -> int:
    """Make the cgroup and lock it; made again when another run's sweep met it before it was locked."""
    while True:
        os.mkdir(name, dir_fd=root_fd)
        try:
            fd = os.open(name, _DIRECTORY, dir_fd=root_fd)
        except FileNotFoundError:
            continue
        fcntl.flock(fd, fcntl.LOCK_EX)
        if os.fstat(fd).st_nlink:
            return fd
        os.close(fd)


def existing() -> list[str]:
    """The cgroups of all hosts on this machine."""
    root_fd = kernel.new_mount("cgroup2")
    try:
        return _names(root_fd)
    finally:
        os.close(root_fd)


def stale() -> list[str]:
    """Those that no keeper holds."""
    root_fd = kernel.new_mount("cgroup2")
    try:
        found = []
        for name in _names(root_fd):
            if (fd := _take(root_fd, name)) is not None:
                found.append(name)
                os.close(fd)
        return found
    finally:
        os.close(root_fd)


def sweep(root_fd: int) -> None:
    """Remove what killed keepers left; a cgroup that is in use or being removed by another run is left alone."""
    for name in _names(root_fd):
        if (fd := _take(root_fd, name)) is None:
            continue
        try:
            remove_tree(root_fd, name)
        except FileNotFoundError:
            pass
        except OSError as error:
            if error.errno != errno.EBUSY:  # its processes are just about to end
                raise
        finally:
            os.close(fd)


def _names(root_fd: int) -> list[str]:
    fd = os.open(".", _DIRECTORY, dir_fd=root_fd)
    try:
        return [name for name in os.listdir(fd) if name.startswith(PREFIX)]  # noqa: PTH208 - a descriptor
    finally:
        os.close(fd)


def _take(root_fd: int, name: str) -> int | None:
    """The lock of a cgroup whose keeper is gone; None when it is held, or the cgroup is gone."""
    try:
        fd = os.open(name, _DIRECTORY, dir_fd=root_fd)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    return fd
