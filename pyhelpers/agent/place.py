"""Root and layout as start and daemon both need them: linked, prepared, complete."""

from __future__ import annotations

from dataclasses import dataclass

from pyhelpers import contract
from pyhelpers.agent import find, layout, root
from pyhelpers.agent.build import Build, own_file
from pyhelpers.host import Host


@dataclass(frozen=True)
class Place:
    """The resolved root and the active slot."""

    root: str
    slot: str


def planned(host: Host, build: Build) -> str:
    """The root that `converge` will use; changes nothing."""
    return find.resolve(host, contract.LEGACY_ROOT) if build.legacy else find.root(host)


def converge(host: Host, build: Build) -> Place:
    """Link or prepare the root, complete the layout. A release that predates the host root stays where it was."""
    if build.legacy:
        where = planned(host, build)
    else:
        root.link(host)
        root.prepare(host)
        where = find.resolve(host, contract.HOST_ROOT)
    return Place(where, layout.ensure(host, where, own_file()))
