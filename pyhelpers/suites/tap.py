"""Reads what `bats --tap --timing` prints. A plan that is not fulfilled is a failure, never a silence."""

from __future__ import annotations

import re

from pyhelpers.suites.case import Case

LINE = re.compile(r"^(?P<not>not )?ok \d+ (?P<name>.*?)(?: in (?P<ms>\d+)ms)?(?: # skip ?(?P<skip>.*))?$")
PLAN = re.compile(r"^1\.\.(\d+)$")


def parse(text: str, file: str) -> list[Case]:
    """The cases of one file; diagnostics (`# …`) belong to the test above them."""
    cases: list[Case] = []
    notes: list[str] = []
    planned: int | None = None
    for line in text.splitlines():
        if plan := PLAN.match(line):
            planned = int(plan[1])
        elif match := LINE.match(line):
            _attach(cases, notes)
            cases.append(_case(match, file))
        elif line.startswith("#"):
            notes.append(line[1:].strip())
    _attach(cases, notes)
    if planned != len(cases):
        seen = f"{len(cases)} of {'an unknown number of' if planned is None else planned} tests reported"
        cases.append(Case(file, "the file runs to its end", "failed", 0.0, f"{seen}\n{text[-2000:]}"))
    return cases


def _case(match: re.Match[str], file: str) -> Case:
    seconds = int(match["ms"] or 0) / 1000
    if match["not"]:
        return Case(file, match["name"], "failed", seconds)
    if match["skip"] is not None:
        return Case(file, match["name"], "skipped", seconds, match["skip"])
    return Case(file, match["name"], "passed", seconds)


def _attach(cases: list[Case], notes: list[str]) -> None:
    if notes and cases and cases[-1].outcome == "failed":
        last = cases[-1]
        cases[-1] = Case(last.file, last.name, last.outcome, last.seconds, "\n".join(notes))
    notes.clear()
