# ruff: noqa: PTH115, PTH116
"""What stands at a path of a host: only looks, and `Host` of host.py adds contents, changes and commands.

Installers wait for the agent to name its root, so this needs nothing but what Python has loaded anyway: the import of
pathlib alone would cost more than all that is done here.
"""

from __future__ import annotations

import errno
import os
import stat

MAX_LINKS = 40


class View:
    """The real host. Paths are the host's absolute paths."""

    prefix = ""

    def where(self, path: str, follow: bool = True) -> str:
        """Where `path` of the host really is; follow=False leaves a link in its last part alone."""
        return path

    def realpath(self, path: str) -> str:
        """`path` with every link in it resolved; parts that do not exist are kept. ELOOP on a circle of links."""
        done, todo, links = "", [p for p in path.split("/") if p], 0
        while todo:
            part = todo.pop(0)
            if part == "..":
                done = done.rpartition("/")[0]
            elif part != ".":
                target = self._raw_link(f"{done}/{part}")
                if target is None:
                    done = f"{done}/{part}"
                    continue
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                done = "" if target.startswith("/") else done
                todo = [p for p in target.split("/") if p] + todo
        return done or "/"

    def _raw_link(self, path: str) -> str | None:
        try:
            return os.readlink(f"{self.prefix}{path}")
        except OSError:
            return None

    def lstat(self, path: str) -> os.stat_result | None:
        """What is at `path` itself, links not followed; None: nothing."""
        try:
            return os.lstat(self.where(path, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def stat(self, path: str) -> os.stat_result | None:
        """What `path` leads to; None: nothing, a dangling link or a circle."""
        try:
            return os.stat(self.where(path))
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                return None
            raise

    def present(self, path: str) -> bool:
        """Whether there is an entry of this name; a dangling link is one."""
        return self.lstat(path) is not None

    def is_directory(self, path: str) -> bool:
        """Whether `path` itself is a directory (a link to one is not)."""
        entry = self.lstat(path)
        return entry is not None and stat.S_ISDIR(entry.st_mode)

    def is_executable(self, path: str) -> bool:
        """Whether `path` leads to a regular file with an execute bit."""
        entry = self.stat(path)
        return entry is not None and stat.S_ISREG(entry.st_mode) and bool(entry.st_mode & 0o111)

    def link_target(self, path: str) -> str | None:
        """What the link at `path` says, or None when there is no link."""
        entry = self.lstat(path)
        if entry is None or not stat.S_ISLNK(entry.st_mode):
            return None
        return os.readlink(self.where(path, follow=False))
