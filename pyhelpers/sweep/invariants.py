"""What must hold of a host at every instant, whatever has just been broken. Pure: images in, sentences out."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from pyhelpers import contract
from pyhelpers.sweep.image import Image, Node, is_temporary

ROOTS = (contract.HOST_ROOT, contract.LEGACY_ROOT)
AGENTS = tuple(f"{root}/bin/{contract.BINARY_NAME}" for root in ROOTS)
LIBS = tuple(f"{root}/lib/{contract.LIB_NAME}" for root in ROOTS)
LINKS = (
    *AGENTS,
    *(f"{lib}/{name}" for lib in LIBS for name in (contract.CURRENT, contract.LAST_GOOD)),
    f"{contract.UNIT_DIR}/{contract.AGENT_WANTED_BY}.wants/{contract.AGENT_UNIT}",
)
# What the scripts make outside the state directory, which they make first and remove last.
LIVE = (contract.HOST_ROOT, *AGENTS, *LIBS, contract.CONFIG_DIR, contract.LOG_DIR)
MARK = f"{contract.STATE_DIR}/{contract.STAGING_MARK}"
SECRET = (contract.CONFIG_PATH, contract.CREDENTIALS_DIR)
HOPS = 8
RECORD = re.compile(rb"(attempt|config|logdir|before|step)\|[^\n]+|done")
WORD_DONE = (b"", b"d", b"do", b"don", b"done")  # the one line that is appended, so the one that may be torn


def follow(image: Image, path: str, hops: int = HOPS) -> tuple[str, Node | None]:
    """Where a path leads, as far as the image knows, and what stands there (None: nothing of the image)."""
    parts, at = path.strip("/").split("/"), ""
    for position, part in enumerate(parts):
        at = f"{at}/{part}"
        node = image.get(at)
        if node is not None and node.kind == "link" and hops:
            target = posixpath.join(posixpath.dirname(at), node.data.decode())
            rest = "/".join(parts[position + 1 :])
            return follow(image, posixpath.normpath(f"{target}/{rest}"), hops - 1)
    return at, image.get(at)


def is_agent(node: Node | None, agents: Mapping[bytes, str]) -> bool:
    """Whether it is one of the complete agents, and can be executed."""
    return node is not None and node.kind == "file" and node.mode == 0o755 and node.data in agents


def reachable(image: Image, agents: Mapping[bytes, str]) -> set[str]:
    """The places of AGENTS where a complete agent can be run."""
    return {path for path in AGENTS if is_agent(follow(image, path)[1], agents)}


def broken(image: Image, agents: Mapping[bytes, str]) -> Iterator[str]:
    """What holds for every script at every instant."""
    for path in AGENTS:
        where, node = follow(image, path)
        if node is not None and not is_agent(node, agents):
            what = f"{where}: {node.kind} {node.mode:04o}, {len(node.data)} bytes"
            yield f"{path} is no complete executable agent ({what})"
    for path in LINKS:
        node = image.get(path)
        if node is not None and node.kind == "link" and follow(image, path)[1] is None:
            yield f"{path} is a dangling link to {node.data.decode()}"
    yield from _journal(image)
    yield from _modes(image)


def _journal(image: Image) -> Iterator[str]:
    node = image.get(contract.JOURNAL)
    if node is None:
        return
    first, *lines = node.data.split(b"\n")
    last = lines.pop() if lines else b""
    whole = first.startswith(contract.JOURNAL_HEADER.encode() + b" /") and all(map(RECORD.fullmatch, lines))
    if not whole or last not in WORD_DONE:
        yield f"{contract.JOURNAL} is torn: {node.data[-60:]!r}"


def _modes(image: Image) -> Iterator[str]:
    for path, node in image.items():
        if node is None or node.kind == "link":
            continue
        if path.startswith(SECRET) and node.mode & 0o077:
            yield f"{path} holds secrets and has mode {node.mode:04o}"
        elif node.mode & 0o022 and path.startswith((contract.CONFIG_DIR, contract.STATE_DIR, *ROOTS)):
            yield f"{path} can be written by others: mode {node.mode:04o}"


def lost(before: set[str], image: Image, agents: Mapping[bytes, str]) -> Iterator[str]:
    """For install and bootstrap: where an agent could be run, one can be run."""
    for path in sorted(before - reachable(image, agents)):
        yield f"{path} was an agent and is none now"


def unrecorded(start: Image, image: Image) -> Iterator[str]:
    """The journal stands before the first change, and goes after the last."""
    if image.get(contract.JOURNAL) is not None:
        return
    if image.get(contract.STATE_DIR) is not None and image.get(MARK) is None:
        yield f"{contract.STATE_DIR} is there, and nothing in it says whose it is"
    for path in LIVE:
        if image.get(path) is not None and (start.get(path) is None or start.get(contract.JOURNAL) is not None):
            yield f"{path} is there and there is no journal"


def split_litter(image: Image) -> tuple[list[str], dict[str, Node | None]]:
    """For the time after a run: temporary names and staging, which should not be there, and the rest."""
    left = sorted(path for path, node in image.items() if node is not None and is_temporary(path))
    return left, {path: node for path, node in image.items() if path not in left}
