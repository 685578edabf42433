"""The difference that an overlay's upper directory makes."""

from __future__ import annotations

from pyhelpers.tree import Change


def changes(upper_fd: int, lower_fd: int, prefix: str = "/") -> list[Change]:
    raise NotImplementedError
