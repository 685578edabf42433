"""What a command in a sandbox or on a throwaway host gave, and the two ways in which a sandbox itself can fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pyhelpers.tree import Change


class SandboxError(Exception):
    """The sandbox could not be made or broke; what was to be tested did not run, so nothing is known about it."""


class StoreFull(SandboxError):
    """The command failed while the sandbox's own store was full."""


class View(Protocol):
    """The file system that a command left."""

    def diff(self, ignore: Sequence[str] = ()) -> list[Change]: ...

    def read(self, path: str) -> bytes: ...


class Result(NamedTuple):
    """code: the exit code, 128+N when killed by signal N; stdout and stderr: UTF-8 with surrogate escapes.

    store_full: the store had no room left at some time while the command ran.
    """

    code: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    store_full: bool = False
    view: View | None = None

    def diff(self, ignore: Sequence[str] = ()) -> list[Change]:
        """What is different from the outside now, by path."""
        return self._view().diff(ignore)

    def read(self, path: str) -> bytes:
        """A file as the command left it. Raises OSError as open() does."""
        return self._view().read(path)

    def _view(self) -> View:
        if self.view is None:
            raise SandboxError("nothing was kept of this command's files")
        return self.view
