"""Removal of a directory tree that is ours, fenced: never across a mount, never through a link."""

from __future__ import annotations

import stat

from pyhelpers.host import Host


def tree(host: Host, path: str) -> list[str]:
    """Remove `path` and all below it; returns what had to stay and why.

    A mount below it stays with what leads to it. `path` itself as a mount point is emptied and counts as removed.
    """
    entry = host.lstat(path)
    if entry is None:
        return []
    if not stat.S_ISDIR(entry.st_mode):
        host.unlink(path)
        return []
    # mountinfo names real paths; only the last part of `path` is known to be no link
    parent, _, name = path.rpartition("/")
    real = f"{host.realpath(parent or '/').rstrip('/')}/{name}"
    mounts = {m.path for m in host.mounts()}
    left = _empty(host, real, mounts)
    if not left and real not in mounts:
        host.remove_directory(real)
    return left


def _empty(host: Host, directory: str, mounts: set[str]) -> list[str]:
    left: list[str] = []
    for name in host.names(directory):
        path = f"{directory}/{name}"
        try:
            if path in mounts:
                left.append(f"{path} is a mount point and stays: unmount it")
            elif host.is_directory(path):
                below = _empty(host, path, mounts)
                left += below
                if not below:
                    host.remove_directory(path)
            else:
                host.unlink(path)
        except OSError as error:
            left.append(f"{path}: {error.strerror}")
    return left
