"""What comes after a broken run: the next normal run must come to the usual end, and uninstall to the untouched tree.

The same state always has the same future, so each is looked at once (`image.key` says which states are the same).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from pyhelpers.sandbox import Box, Result, Server
from pyhelpers.sweep import hosts, image, invariants
from pyhelpers.sweep.image import Image


@dataclass
class Case:
    """A script on a host: how it begins, and how an undisturbed run ends."""

    script: str
    host: str
    command: list[str]
    agents: Mapping[bytes, str]
    start: Image
    code: int = 0
    outcome: str = ""
    _known: dict[str, Future[list[str]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def states(self) -> int:
        """How many different states were followed up."""
        return len(self._known)

    def box(self, server: Server, state: Image) -> Box:
        """A sandbox in that state."""
        box = server.box(binds=[hosts.PROJECT])
        image.put(box, state)
        return box

    def instant(self, state: Image) -> list[str]:
        """What does not hold at this very moment."""
        found = list(invariants.broken(state, self.agents))
        if self.script != "uninstall":
            before = invariants.reachable(self.start, self.agents)
            found += invariants.lost(before, state, self.agents)
        return found + list(invariants.unrecorded(self.start, state))

    def future(self, server: Server, state: Image) -> list[str]:
        """What goes wrong from STATE on."""
        return self._once(image.key(state), lambda: self._future(server, state))

    def _once(self, key: str, work: Callable[[], list[str]]) -> list[str]:
        with self._lock:
            known = self._known.get(key)
            mine = known is None
            if known is None:
                known = self._known[key] = Future()
        if mine:
            try:
                known.set_result(work())
            except BaseException as error:
                known.set_exception(error)
                raise
        return known.result()

    def _future(self, server: Server, state: Image) -> list[str]:
        found = []
        if self.script != "uninstall":
            with self.box(server, state) as box:
                found += self._normal_run(box)
                found += self._uninstall(box, "a normal run and uninstall")
        with self.box(server, state) as box:
            found += self._uninstall(box, "uninstall")
        return found

    def _normal_run(self, box: Box) -> list[str]:
        result = hosts.run(box, self.command)
        if result.code != self.code:
            return [f"the next run: exit {result.code}: {last_line(result)}"]
        now = image.take(box)
        found = list(invariants.broken(now, self.agents))
        found += [f"{path} was left" for path in invariants.split_litter(now)[0]]
        if not found and image.outcome(now) != self.outcome:
            found.append("it does not come to the usual end")
        return [f"the next run: {text}" for text in found]

    def _uninstall(self, box: Box, what: str) -> list[str]:
        result = hosts.run(box, hosts.UNINSTALL)
        if result.code != 0:
            return [f"{what}: exit {result.code}: {last_line(result)}"]
        return [f"{what}: {change}" for change in box.diff(ignore=hosts.IGNORED)]


def last_line(result: Result) -> str:
    """What a run said at its end."""
    return (result.stderr.strip().splitlines() or ["(nothing)"])[-1]
