"""Small trees for the tests of what holds of one: paths, and what stands there."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.sweep.image import Node

AGENTS = {b"one": "current", b"two": "next"}
HOST_AGENT = f"{contract.HOST_ROOT}/bin/{contract.BINARY_NAME}"
LEGACY_AGENT = f"{contract.LEGACY_ROOT}/bin/{contract.BINARY_NAME}"
LIB = f"{contract.HOST_ROOT}/lib/{contract.LIB_NAME}"
BLUE, CURRENT = f"{LIB}/{contract.BINARY_NAME}-blue", f"{LIB}/{contract.CURRENT}"
RECORDS = f"{contract.JOURNAL_HEADER} /opt/unbounded\nattempt|install\nbefore|absent|-|/opt/unbounded|-\n".encode()


def file(data: bytes = b"", mode: int = 0o644, number: int = 0) -> Node:
    return Node("file", mode, (0, 0), data, number)


def link(target: str, number: int = 0) -> Node:
    return Node("link", 0o777, (0, 0), target.encode(), number)


def folder(number: int = 0, mode: int = 0o755) -> Node:
    return Node("dir", mode, (0, 0), b"", number)


def agent(data: bytes = b"one", number: int = 0) -> Node:
    return file(data, 0o755, number)


def journal(end: bytes = b"done\n") -> Node:
    return file(RECORDS + end, 0o600)
