"""The blue/green layout below a resolved root: which file runs, by which links, and how it comes to be.

At every instant `bin/aks-flex-node` leads to a complete agent, and from the first start on so does last-good: a slot
is complete before a link names it, and links are replaced by rename. Entries that are not listed here are not touched.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass

from pyhelpers import contract
from pyhelpers.agent import selinux
from pyhelpers.agent.failure import AgentError
from pyhelpers.host import Host

BINARY_MODE = 0o755


@dataclass(frozen=True)
class Layout:
    """The paths of a layout; `root` must be resolved, because they are compared with resolved link targets."""

    root: str

    @property
    def directory(self) -> str:
        return f"{self.root}/lib/{contract.LIB_NAME}"

    @property
    def binary(self) -> str:
        return f"{self.root}/bin/{contract.BINARY_NAME}"

    @property
    def current(self) -> str:
        return f"{self.directory}/{contract.CURRENT}"

    @property
    def last_good(self) -> str:
        return f"{self.directory}/{contract.LAST_GOOD}"

    @property
    def recovery_script(self) -> str:
        return f"{self.directory}/{contract.RECOVERY_SCRIPT}"

    def slot(self, name: str) -> str:
        return f"{self.directory}/{contract.BINARY_NAME}-{name}"

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(self.slot(name) for name in contract.SLOTS)


def slot_name(host: Host, layout: Layout, link: str) -> str:
    """`blue` or `green`: the slot that `link` leads to; "" when it leads to none."""
    where = host.realpath(link)
    names = [name for name in contract.SLOTS if where == layout.slot(name)]
    return names[0] if names else ""


def ensure(host: Host, root: str, running: str = "") -> str:
    """Make what the layout lacks; returns the active slot's name. Does nothing to a complete one.

    A plain file at the binary's path was put there by an installer after any slot, so it is the agent that is wanted;
    then what current or last-good leads to, blue, green; then `running`, the file of this very process.
    """
    layout = Layout(root)
    made = [d for parent in (f"{root}/bin", layout.directory) for d in host.make_directory(parent)]
    for path in (f"{root}/bin", layout.directory, *_binaries(host, layout)):
        _require_owner(host, path)
    _refuse_foreign_link(host, layout)
    installed = _is_plain_file(host, layout.binary) and host.is_executable(layout.binary)
    if not installed and host.is_executable(layout.current):
        active = layout.current
    else:
        active = layout.binary if installed else _choose(host, layout, running)
        if active not in layout.slots:
            active = _fill(host, layout, active)
            made.append(active)
        host.link(layout.current, active)
    if installed or not host.is_executable(layout.last_good):
        host.link(layout.last_good, host.realpath(active))
    if host.link_target(layout.binary) != layout.current:
        host.link(layout.binary, layout.current)
    selinux.relabel(host, made)
    return slot_name(host, layout, layout.current)


def _choose(host: Host, layout: Layout, running: str) -> str:
    """The file that the layout is made from when no installer has just put one at the binary's path."""
    for link in (layout.current, layout.last_good):
        if host.is_executable(link) and slot_name(host, layout, link):
            return host.realpath(link)
    for path in (*layout.slots, running):
        if path and host.is_executable(path):
            return path
    raise AgentError(f"there is no executable agent at {layout.binary} or in {layout.directory}")


def _fill(host: Host, layout: Layout, source: str) -> str:
    """Copy `source` into a slot that nothing depends on; returns that slot's path."""
    used = {host.realpath(link) for link in (layout.current, layout.last_good) if host.is_executable(link)}
    same = [s for s in layout.slots if host.is_executable(s) and host.read(s) == host.read(source)]
    if same:
        return same[0]
    free = [s for s in layout.slots if s not in used] or [s for s in layout.slots if s != host.realpath(layout.current)]
    host.copy(source, free[0], BINARY_MODE)
    return free[0]


def _binaries(host: Host, layout: Layout) -> Iterator[str]:
    return (path for path in (layout.binary, *layout.slots, layout.current, layout.last_good) if host.present(path))


def _is_plain_file(host: Host, path: str) -> bool:
    entry = host.lstat(path)
    return entry is not None and stat.S_ISREG(entry.st_mode)


def _require_owner(host: Host, path: str) -> None:
    """What root runs must be root's: another owner could replace it."""
    entry = host.lstat(path)
    if entry is not None and entry.st_uid != host.owner:
        raise AgentError(f"{path} belongs to user id {entry.st_uid}, not to root: correct it with `chown root:root`")


def _refuse_foreign_link(host: Host, layout: Layout) -> None:
    """A link at the binary's path that leads to an agent elsewhere is somebody's intention: not ours to replace."""
    target = host.link_target(layout.binary)
    if target is not None and host.is_executable(layout.binary):
        where = host.realpath(layout.binary)
        if not where.startswith(f"{layout.directory}/"):
            raise AgentError(f"{layout.binary} is a link to {where}, which is no slot of ours: remove it")
