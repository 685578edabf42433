"""From answers to the report: rows, what is ignored, the exit code, text and JSON. Pure: nothing is printed here."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyhelpers.agent.checks.model import FAIL, PASS, SHOWN, UNKNOWN, WARN, Result
from pyhelpers.agent.checks.runner import Answered

WIDTH = 100  # of the part that explains errors
ALL = "all"


@dataclass(frozen=True)
class Row:
    """One result as the report shows it. severity: ok, warning, error, unknown."""

    name: str
    severity: str
    ignored: bool
    result: Result
    remedy: str
    milliseconds: int
    start_can_do_without: bool


@dataclass(frozen=True)
class Report:
    """All rows, in the table's order, and whether warnings fail too."""

    rows: Sequence[Row]
    fail_on_warnings: bool = False

    def count(self, severity: str) -> int:
        """How many rows have this severity."""
        return sum(row.severity == severity for row in self.rows)

    @property
    def failed(self) -> bool:
        """An error is left, or a warning where warnings fail; what is unknown is neither a pass nor a failure."""
        return bool(self.count("error") or (self.fail_on_warnings and self.count("warning")))


def make(answers: Iterable[Answered], ignored: Sequence[str], fail_on_warnings: bool) -> Report:
    """Put the answers together; an ignored error becomes a warning that says so."""
    rows = []
    for answered in answers:
        for result in answered.results:
            ignore = result.verdict == FAIL and (answered.check.id in ignored or ALL in ignored)
            severity = SHOWN[WARN] if ignore else SHOWN[result.verdict]
            remedy = "" if result.verdict == PASS else result.remedy or answered.check.remedy
            check = answered.check
            rows.append(
                Row(check.id, severity, ignore, result, remedy, answered.milliseconds, check.start_can_do_without)
            )
    return Report(rows, fail_on_warnings)


def ignore_list(text: str, known: Iterable[str]) -> tuple[list[str], list[str]]:
    """(ids to ignore, those of them that no check has) from `A,B`."""
    ids = [word.strip() for word in text.split(",") if word.strip()]
    return ids, [word for word in ids if word != ALL and word not in set(known)]


def as_json(report: Report) -> str:
    """The report for programs."""
    checks = [
        {
            "name": row.name,
            "target": row.result.target,
            "severity": row.severity,
            "message": row.result.message,
            "ignored": row.ignored,
            "observed": row.result.observed,
            "required": row.result.required,
            "remedy": row.remedy,
            "duration_ms": row.milliseconds,
        }
        for row in report.rows
    ]
    return json.dumps({"status": _status(report), "checks": checks, "summary": _summary(report)}, indent=2)


def _status(report: Report) -> str:
    return "failed" if report.failed else "ok"


def _summary(report: Report) -> dict[str, int]:
    names = (("ok", SHOWN[PASS]), ("warnings", SHOWN[WARN]), ("errors", SHOWN[FAIL]), ("unknown", SHOWN[UNKNOWN]))
    return {name: report.count(severity) for name, severity in names}


def as_text(report: Report, header: str) -> str:
    """The report for people: a line for each result, then each error with its remedy, then the sum."""
    wide = max((len(row.name) for row in report.rows), default=0)
    lines = [f"[preflight] {header}"]
    for row in report.rows:
        ignored = " (ignored)" if row.ignored else ""
        lines.append(f"{row.severity:<7}  {row.name:<{wide}}  {row.result.message}{ignored}")
    lines += _explained(report)
    counts = _summary(report)
    lines.append(
        f"Preflight: {counts['ok']} ok, {_plural(counts['warnings'], 'warning')}, "
        f"{_plural(counts['errors'], 'error')}, {counts['unknown']} unknown"
    )
    return "\n".join(lines)


def _explained(report: Report) -> list[str]:
    """Each thing that keeps preflight from passing, with its remedy, and how to go on without it."""
    stops = [row for row in report.rows if row.severity == "error"]
    if report.fail_on_warnings:
        stops += [row for row in report.rows if row.severity == "warning"]
    lines = ["", "To do before it can start:"] if stops else []
    for row in stops:
        lines += _wrapped(f"  {row.name}: ", row.result.message)
        lines += _wrapped("    -> ", row.remedy)
    errors = ",".join(dict.fromkeys(row.name for row in stops if row.severity == "error"))
    if errors and all(row.start_can_do_without for row in stops):
        lines += ["", f"To start all the same, at your own risk: --ignore-preflight-errors {errors}"]
    return [*lines, ""] if lines else []


def _wrapped(lead: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=lead,
        subsequent_indent="       ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
