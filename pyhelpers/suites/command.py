"""`flexkit test [PATHS]`: runs test files in a pool of sandboxes; proves that the machine stayed as it was."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from pyhelpers import arguments
from pyhelpers.release import variant
from pyhelpers.sandbox import SandboxError, Server, outside
from pyhelpers.suites import junit, pool, report, runners
from pyhelpers.suites.case import Case, FileReport

PROJECT = Path(__file__).resolve().parents[2]
FOLDERS = ("unit", "scripts", "exhaustive", "faults", "hosts")
EXPECTED_SKIPS = "tests/expected-skips.txt"


def main(argv: Sequence[str]) -> int:
    """Exit 0 when every test passed, nothing outside changed and, under CI, no skip was unexpected; 125: no sandbox."""
    parser = argparse.ArgumentParser(prog="flexkit test", description=__doc__)
    parser.add_argument("paths", nargs="*", default=[f"tests/{folder}" for folder in FOLDERS])
    parser.add_argument("--jobs", type=arguments.count, default=os.cpu_count() or 1, help="files at a time")
    parser.add_argument("--junit", type=Path, default=PROJECT / "build/junit.xml", help="the JUnit file")
    options = parser.parse_args(argv)
    console = Console(soft_wrap=True)
    try:
        files = pool.slowest_first(PROJECT, pool.find(PROJECT, options.paths))
    except (FileNotFoundError, ValueError) as error:
        console.print(f"flexkit test: {error}")
        return 2
    start = time.monotonic()
    try:
        reports = _run(files, options.jobs)
    except SandboxError as error:
        console.print(f"flexkit test: {error}; `flexkit doctor` says what this machine can do")
        return 125
    pool.remember(PROJECT, reports)
    junit.write(options.junit, reports)
    report.print_summary(console, reports, time.monotonic() - start)
    return 1 if any(one.count("failed") for one in reports) else 0


def _run(files: list[str], jobs: int) -> list[FileReport]:
    reports: list[FileReport] = []
    variant("current")  # in a sandbox the checkout is read-only: no test could build it there
    before = outside.Walk.take()
    with Server(jobs=jobs) as server:
        for one in pool.run_all(files, jobs, lambda file: runners.run_file(server, PROJECT, file)):
            print(report.file_line(one), flush=True)
            reports.append(one)
    reports.append(_outside_report(before))
    if os.environ.get("CI"):
        reports.append(_skip_report(reports))
    return reports


def _outside_report(before: outside.Walk) -> FileReport:
    start = time.monotonic()
    changes = before.changes_since()
    message = "\n".join(map(str, changes))
    case = Case("outside", "nothing outside changed", "failed" if changes else "passed", 0.0, message)
    return FileReport("outside", time.monotonic() - start, [case])


def _skip_report(reports: Sequence[FileReport]) -> FileReport:
    """A skip that no pattern of EXPECTED_SKIPS matches hides a missing tool: on CI it is a failure."""
    file = PROJECT / EXPECTED_SKIPS
    lines = file.read_text().splitlines() if file.exists() else []
    patterns = [line for line in lines if line and not line.startswith("#")]
    skips = [case for one in reports for case in one.cases if case.outcome == "skipped"]
    bad = [f"{case.file}: {case.name}: {case.message}" for case in skips if not _expected(case, patterns)]
    case = Case("skips", "every skip is an expected one", "failed" if bad else "passed", 0.0, "\n".join(bad))
    return FileReport("skips", 0.0, [case])


def _expected(case: Case, patterns: Sequence[str]) -> bool:
    return any(re.search(pattern, f"{case.file}: {case.name}: {case.message}") for pattern in patterns)
