"""Throwaway hosts: real systemd booted over an overlay of this machine, deleted afterwards.

`Host`, `HostError` and `IGNORED` can be imported from here; they are loaded on first use, because the keeper imports
this package too and must stay small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyhelpers.testhost.host import Host, HostError
    from pyhelpers.testhost.ignored import IGNORED

__all__ = ["IGNORED", "Host", "HostError"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from pyhelpers.testhost import host, ignored

    return getattr(ignored if name == "IGNORED" else host, name)
