"""Sandboxes: private namespaces over an overlay of the whole root, made by a small fork server.

`Server`, `Box`, `Result` and `SandboxError` can be imported from here; they are loaded on first use, because the fork
server imports this package too and must stay small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyhelpers.sandbox.box import Box
    from pyhelpers.sandbox.result import Result, SandboxError, StoreFull
    from pyhelpers.sandbox.server import Server

__all__ = ["Box", "Result", "SandboxError", "Server", "StoreFull"]

_WHERE = {"Box": "box", "Result": "result", "SandboxError": "result", "StoreFull": "result", "Server": "server"}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(name)
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
