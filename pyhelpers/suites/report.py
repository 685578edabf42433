"""What a person reads: a line for each file, then failures, skips with reasons, timings, and the closing count."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pyhelpers.suites.case import Case, FileReport

SLOWEST = 8


def file_line(report: FileReport) -> str:
    """One line when a file is through."""
    failed, skipped = report.count("failed"), report.count("skipped")
    extra = (f", {failed} failed" if failed else "") + (f", {skipped} skipped" if skipped else "")
    word = "FAIL" if failed else "ok  "
    return f"{word} {report.file}  {len(report.cases)} tests{extra}  {report.seconds:.1f} s"


def print_summary(console: Console, reports: Sequence[FileReport], seconds: float) -> None:
    """Failures and skips in full, the slowest files, and last the plain count that tools read."""
    cases = [case for report in reports for case in report.cases]
    for case in cases:
        if case.outcome == "failed":
            console.print(f"\n[bold red]FAILED[/] {escape(case.file)}: {escape(case.name)}")
            console.print(escape(case.message), highlight=False)
    for case in cases:
        if case.outcome == "skipped":
            console.print(f"skipped {escape(case.file)}: {escape(case.name)}: {escape(case.message)}")
    console.print(_timings(reports))
    console.print(f"{distinct(cases)} distinct tests in {len(reports)} files, {seconds:.1f} s")
    outcomes = [case.outcome for case in cases]
    passed, failed, skipped = (outcomes.count(word) for word in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)


def distinct(cases: Sequence[Case]) -> int:
    """How many tests there are when the parameters of one count once."""
    return len({(case.file, case.name.split("[")[0]) for case in cases})


def _timings(reports: Sequence[FileReport]) -> Table:
    table = Table("slowest files", "tests", "seconds", box=None)
    for report in sorted(reports, key=lambda one: -one.seconds)[:SLOWEST]:
        table.add_row(report.file, str(len(report.cases)), f"{report.seconds:.1f}")
    return table
