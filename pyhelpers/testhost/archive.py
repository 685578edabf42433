"""Keeps a host's difference as a tar file in the form of a container image's layer.

Changed and added files with owner, mode and extended attributes; `.wh.NAME` stands for a removed NAME, as the OCI
image specification has it, so that container tools can apply the file too.
"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Sequence
from pathlib import Path

from pyhelpers.sandbox import kernel
from pyhelpers.tree import Change

WHITEOUT = ".wh."


def write(path: Path, root_fd: int, changes: Sequence[Change]) -> None:
    """Write the CHANGES of the tree at ROOT_FD to PATH; what is gone since is left out."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for change in changes:
            if change.kind == "removed":
                above, _, name = change.path.rpartition("/")
                tar.addfile(tarfile.TarInfo(f"{above}/{WHITEOUT}{name}".lstrip("/")))
            else:
                _add(tar, root_fd, change.path)


def _add(tar: tarfile.TarFile, root_fd: int, path: str) -> None:
    try:
        fd = kernel.open_inside(root_fd, path, os.O_PATH | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    try:
        status = os.fstat(fd)
        info = tarfile.TarInfo(path.lstrip("/"))
        info.mode, info.uid, info.gid = stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid
        info.mtime = status.st_mtime
        here = f"/proc/self/fd/{fd}"
        if stat.S_ISREG(status.st_mode):
            info.size = status.st_size
            info.pax_headers = {f"SCHILY.xattr.{name}": value for name, value in _xattrs(here)}
            with open(here, "rb") as content:  # noqa: PTH123 - a descriptor
                tar.addfile(info, content)
        elif (kind := _TYPES.get(stat.S_IFMT(status.st_mode))) is not None:  # sockets cannot be kept
            info.type = kind
            if kind == tarfile.SYMTYPE:
                info.linkname = os.readlink("", dir_fd=fd)
            elif kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
                info.devmajor, info.devminor = os.major(status.st_rdev), os.minor(status.st_rdev)
            tar.addfile(info)
    finally:
        os.close(fd)


def _xattrs(path: str) -> list[tuple[str, str]]:
    return [(name, os.getxattr(path, name).decode(errors="surrogateescape")) for name in os.listxattr(path)]


_TYPES = {
    stat.S_IFDIR: tarfile.DIRTYPE,
    stat.S_IFLNK: tarfile.SYMTYPE,
    stat.S_IFIFO: tarfile.FIFOTYPE,
    stat.S_IFCHR: tarfile.CHRTYPE,
    stat.S_IFBLK: tarfile.BLKTYPE,
}
