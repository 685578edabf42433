"""Where the agent lives: linking a host that an earlier release installed, making, removing.

Nothing here touches anything but the root, its own directories and the one link `/opt/unbounded -> /usr/local`.
Source of the rules: the AKS Flex Node agent's public contract (Azure/AKSFlexNode).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import NamedTuple

from pyhelpers import contract
from pyhelpers.agent import selinux
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.find import markers, resolve
from pyhelpers.host import Host

SUBDIRECTORIES = ("bin", f"lib/{contract.LIB_NAME}", "libexec")
ATTEMPTS = 10  # of linking, when others change the same root meanwhile


def link(host: Host) -> None:
    """Link the root to the legacy root when a release before the host root lives there. AgentError: it cannot be.

    Safe when several run at once: whatever another one did in between is looked at again.
    """
    for _ in range(ATTEMPTS):
        try:
            return _link_once(host)
        except OSError as error:
            if error.errno not in (errno.EISDIR, errno.EEXIST, errno.ENOENT):
                raise
    raise AgentError(f"{contract.HOST_ROOT} keeps changing: is another installation running?")


def _link_once(host: Host) -> None:
    root, legacy = contract.HOST_ROOT, contract.LEGACY_ROOT
    behind = markers(host, legacy)
    target = host.link_target(root)
    if target is not None:
        if target == legacy and not behind:
            host.unlink(root)
    elif not host.present(root):
        if behind:
            host.make_directory(os.path.dirname(root))  # noqa: PTH120
            host.link(root, legacy)
    elif not host.is_directory(root):
        raise AgentError(f"{root} is neither a directory nor a link: move it away")
    elif behind and markers(host, root):
        raise AgentError(f"an agent is installed under both {root} and {legacy}: run reset, then install again")
    elif behind:
        raise AgentError(
            f"an agent is installed under {legacy} ({legacy}/{behind[0]}), but {root} is a directory: remove {root} "
            f"if it is not needed, so that it can be linked, or run reset and remove the agent from {legacy}"
        )


def prepare(host: Host) -> list[str]:
    """Make the root and its directories, 0755; existing ones keep their modes. Returns what was made."""
    if host.link_target(contract.HOST_ROOT) == contract.LEGACY_ROOT:
        return []
    root = resolve(host, contract.HOST_ROOT)
    made: list[str] = []
    for directory in (root, *(f"{root}/{name}" for name in SUBDIRECTORIES)):
        if host.stat(directory) is None and host.present(directory):
            raise AgentError(f"{directory} is a link to {host.link_target(directory)}, which does not exist")
        if host.stat(directory) is None:
            made += host.make_directory(directory)
        elif not host.is_directory(host.realpath(directory)):
            raise AgentError(f"{directory} is not a directory: move it away")
    selinux.relabel(host, made)
    return made


class Removal(NamedTuple):
    """What became of the root. held: what a directory that stays still holds."""

    removed: bool
    held: Sequence[str] = ()


def remove(host: Host) -> Removal:
    """Take the root away as far as it is ours: the link to exactly the legacy root, or an empty directory."""
    root = contract.HOST_ROOT
    target = host.link_target(root)
    if target is not None:
        return Removal(target == contract.LEGACY_ROOT and host.unlink(root))
    if not host.is_directory(root):
        return Removal(False)
    layout = f"{root}/lib/{contract.LIB_NAME}"
    if host.is_directory(layout) and not host.names(layout):
        host.remove_directory(layout)
    held = _held(host, root)
    if held:
        return Removal(False, held)
    for name in host.names(root):
        host.remove_directory(f"{root}/{name}")
    host.remove_directory(root)
    return Removal(True)


def _held(host: Host, root: str) -> list[str]:
    """What keeps the root: its entries that are no directories, and the entries of its directories."""
    held = []
    for name in host.names(root):
        path = f"{root}/{name}"
        held += [f"{path}/{n}" for n in host.names(path)] if host.is_directory(path) else [path]
    return held
