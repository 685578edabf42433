"""What is different in a sandbox from the machine, as data: taken at any moment, put into another sandbox, compared."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pyhelpers import contract
from pyhelpers.sandbox import Box
from pyhelpers.sweep.hosts import IGNORED, OWN
from pyhelpers.tree import TYPES, matcher

RANDOM = re.compile(rf"({re.escape(contract.TEMP_PREFIX)}[a-z]+)\.[0-9a-f]{{12}}")
PLAIN = r"\1"
LOCKS = (contract.LOCK, contract.BOOTSTRAP_LOCK)  # what they say is the number of a process


class Node(NamedTuple):
    """One file. data: a file's bytes, a link's target; number: stands for its inode."""

    kind: str
    mode: int
    owner: tuple[int, int]
    data: bytes = b""
    number: int = 0


Image = Mapping[str, Node | None]  # None: the machine has it, the sandbox has not


def take(box: Box) -> dict[str, Node | None]:
    """The image of a sandbox now; sockets, which are ours, do not count."""
    root, found = str(box.root), dict[str, Node | None]()
    for change in box.diff():
        node = _read(root + change.path)
        if node is None or node.kind != "socket":
            found[change.path] = node
    return found


def _read(path: str) -> Node | None:
    try:
        info = os.lstat(path)
        kind = TYPES[stat.S_IFMT(info.st_mode)]
        data = b""
        if kind == "file":
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - taken hundreds of times a second
                data = file.readall()
        elif kind == "link":
            data = os.fsencode(os.readlink(path))  # noqa: PTH115
    except FileNotFoundError:
        return None
    number = info.st_ino * 2 + (kind == "dir")  # an overlay numbers directories by itself
    return Node(kind, stat.S_IMODE(info.st_mode), (info.st_uid, info.st_gid), data, number)


def put(box: Box, image: Image) -> None:
    """Make a fresh sandbox what the image says."""
    root = str(box.root)
    for path in sorted(image):
        node = image[path]
        if node is not None:
            _write(root + path, node)
    for path in sorted(image, reverse=True):
        if image[path] is None and os.path.lexists(root + path):
            _remove(root + path)


def _write(path: str, node: Node) -> None:
    if node.kind == "dir":
        if not os.path.isdir(path):  # noqa: PTH112
            os.mkdir(path)  # noqa: PTH102
    elif node.kind == "link":
        os.symlink(node.data, path)  # noqa: PTH211
    else:
        with open(path, "wb") as file:  # noqa: PTH123
            file.write(node.data)
    os.chown(path, *node.owner, follow_symlinks=False)
    if node.kind != "link":
        os.chmod(path, node.mode)  # noqa: PTH101


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
        os.rmdir(path)  # noqa: PTH106
    else:
        os.unlink(path)  # noqa: PTH108


def is_temporary(path: str) -> bool:
    """Whether a name is one that a run makes for a moment: what is in such a file is read by no other run."""
    return f"/{contract.TEMP_PREFIX}" in path or f"{path}/".startswith(f"{contract.STAGING_DIR}/")


def counted(image: Image) -> dict[str, Node | None]:
    """The image without what is ours."""
    ignored = matcher(IGNORED)
    return {path: node for path, node in image.items() if not ignored(path)}


def key(image: Image) -> str:
    """Equal for two images that no run of a script can tell apart: random parts of temporary names, the content of
    temporary files (but: is there any?) and the numbers of processes do not count."""
    return _digest(image, lambda path: False)


def outcome(image: Image) -> str:
    """Equal for two images in which a script came to the same end: the journal tells how, so it does not count."""
    return _digest(counted(image), lambda path: path == contract.JOURNAL)


def _digest(image: Image, is_open: Callable[[str], bool]) -> str:
    lines = []
    for path, node in image.items():
        if node is None:
            lines.append(f"{path} gone")
            continue
        data = node.data
        if path in LOCKS or is_open(path):
            data = b""
        elif is_temporary(path):
            data = b"some" if data else b""
        elif path.startswith(f"{OWN}/") and path.endswith(".tar.gz"):
            data = b""  # always the same
        content = hashlib.sha256(data).hexdigest()
        lines.append(f"{RANDOM.sub(PLAIN, path)} {node.kind} {node.mode:o} {node.owner} {content}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
