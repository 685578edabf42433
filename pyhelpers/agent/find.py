"""Which host root it will be. Only looks: `host-root` answers from here, while installers wait, so imports are few."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.view import View


def resolve(host: View, path: str) -> str:
    """`path` with links resolved in its longest existing leading part and the rest appended."""
    parts = [p for p in path.split("/") if p]
    for n in range(len(parts), 0, -1):
        leading = "/" + "/".join(parts[:n])
        if host.stat(leading) is not None:
            return "/".join([host.realpath(leading).rstrip("/"), *parts[n:]])
    return "/" + "/".join(parts)


def markers(host: View, root: str) -> list[str]:
    """The entries below `root` that show that an agent is installed there; a dangling link counts."""
    slots = [f"lib/{contract.LIB_NAME}/{contract.BINARY_NAME}-{slot}" for slot in contract.SLOTS]
    links = [f"lib/{contract.LIB_NAME}/{name}" for name in (contract.CURRENT, contract.LAST_GOOD)]
    return [name for name in (f"bin/{contract.BINARY_NAME}", *slots, *links) if host.present(f"{root}/{name}")]


def root(host: View) -> str:
    """What the root will be after linking."""
    if not host.present(contract.HOST_ROOT) and markers(host, contract.LEGACY_ROOT):
        return resolve(host, contract.LEGACY_ROOT)
    if host.link_target(contract.HOST_ROOT) == contract.LEGACY_ROOT and not markers(host, contract.LEGACY_ROOT):
        parent, _, name = contract.HOST_ROOT.rpartition("/")
        return f"{resolve(host, parent)}/{name}"
    return resolve(host, contract.HOST_ROOT)
