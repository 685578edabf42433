"""The figures of a sweep, and how they are printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from pyhelpers.sandbox.mutations import Call
from pyhelpers.sweep import points
from pyhelpers.sweep.follow import Case
from pyhelpers.sweep.runs import Violation
from pyhelpers.sweep.trace import Judgement

SHOWN = 40


@dataclass
class Figures:
    """Of one script on one host. calls: what an undisturbed run makes; unreached: runs that ended before their call."""

    script: str
    host: str
    calls: int
    states: int = 0
    crashes: int = 0
    errors: int = 0
    unreached: int = 0
    seconds: float = 0.0
    kinds: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)

    def add(self, call: Call, errors: int) -> None:
        """Count one call that was broken in all its ways."""
        self.crashes += 1
        self.errors += errors
        self.kinds[points.kind(call.name)] += 1 + errors


def table(figures: Sequence[Figures]) -> Table:
    """A row for each script and host."""
    made = Table(title="points", title_justify="left")
    for heading in ("script", "host"):
        made.add_column(heading)
    for heading in ("calls", "killed before", "errors", "points", "states followed up", "violations", "seconds"):
        made.add_column(heading, justify="right")
    for one in figures:
        numbers = (one.calls, one.crashes, one.errors, one.crashes + one.errors, one.states, len(one.violations))
        made.add_row(one.script, one.host, *map(str, numbers), f"{one.seconds:.0f}")
    return made


def show(console: Console, figures: Sequence[Figures], sampled: bool, seconds: float) -> None:
    """Print it all; the last line is the verdict."""
    console.print(table(figures))
    kinds: Counter[str] = sum((one.kinds for one in figures), Counter())
    console.print("by kind: " + ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()))
    wrong = [violation for one in figures for violation in one.violations]
    for violation in wrong[:SHOWN]:
        console.print(f"violation: {violation}", markup=False)
    if len(wrong) > SHOWN:
        console.print(f"… and {len(wrong) - SHOWN} more")
    calls, broken = sum(one.calls for one in figures), sum(one.crashes for one in figures)
    what = f"a sample: {broken} of {calls} calls" if sampled else f"all {calls} calls"
    total, missed = sum(one.crashes + one.errors for one in figures), sum(one.unreached for one in figures)
    late = f", {missed} of them not reached" if missed else ""
    console.print(f"{what}, {total} points{late}, {len(wrong)} violations, {seconds:.1f} s")


def show_cuts(console: Console, found: Sequence[tuple[Case, Judgement]]) -> None:
    """Print what the model of a power cut says of each script on each host; the last line is the verdict."""
    made = Table(title="power cuts", title_justify="left")
    for heading in ("script", "host"):
        made.add_column(heading)
    for heading in ("calls", "syncs", "states", "faults", "faults without syncs"):
        made.add_column(heading, justify="right")
    for case, one in found:
        numbers = (one.calls, one.syncs, one.kept.states, len(one.kept.faults), len(one.dropped.faults))
        made.add_row(case.script, case.host, *map(str, numbers))
    console.print(made)
    for case, one in found:
        for fault in one.kept.faults:
            console.print(f"fault: {case.script} on a {case.host} host, {fault}", markup=False)
        if not one.dropped.faults:
            console.print(f"{case.script} on a {case.host} host: no fault without the syncs: the model is blind")
    states, faults = sum(one.kept.states for _, one in found), sum(len(one.kept.faults) for _, one in found)
    console.print(f"{states} states, {faults} faults; without the syncs {sum(len(o.dropped.faults) for _, o in found)}")
