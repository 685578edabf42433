"""Shows differences to people: changed paths as a tree."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.tree import Tree

from pyhelpers.tree import Change

COLOURS = {"added": "green", "removed": "red", "modified": "yellow", "metadata": "yellow", "type": "yellow"}


def change_tree(changes: Sequence[Change]) -> Tree:
    """The changed paths as a tree; a directory without a change of its own is only there to hold what is below it."""
    changed = {change.path: change for change in changes}
    root = Tree("/")
    nodes = {"": root}
    for path in sorted(changed, key=lambda each: each.split("/")):
        names = path.strip("/").split("/")
        for depth, name in enumerate(names, start=1):
            here = "/" + "/".join(names[:depth])
            if here not in nodes:
                nodes[here] = nodes[here.rpartition("/")[0]].add(_label(name, changed.get(here)))
    return root


def _label(name: str, change: Change | None) -> str:
    if change is None:
        return f"[dim]{escape(name)}/[/]"
    detail = f"  [dim]{escape(change.detail)}[/]" if change.detail else ""
    return f"[{COLOURS[change.kind]}]{escape(name)}[/]  {change.kind}{detail}"
