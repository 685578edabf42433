"""Which test files there are, and running them side by side, the slowest of the last run first."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from pyhelpers.suites.case import FileReport

TIMINGS = "build/test-timings.json"


def find(project: Path, paths: Sequence[str]) -> list[str]:
    """The test files at or below PATHS, relative to the project. Raises FileNotFoundError for a path without any."""
    found: list[str] = []
    for path in paths:
        start = (project / path).resolve()
        inside = sorted(start.rglob("*")) if start.is_dir() else [start] if start.is_file() else []
        files = [str(file.relative_to(project)) for file in inside if _is_test(file)]
        if not files:
            raise FileNotFoundError(f"no test file at {path}")
        found += [file for file in files if file not in found]
    return found


def _is_test(file: Path) -> bool:
    return file.suffix == ".bats" or (file.suffix == ".py" and file.name.startswith("test_"))


def slowest_first(project: Path, files: list[str]) -> list[str]:
    """Order by the last run's time, unknown files first, so that no long file starts last."""
    last = timings(project)
    return sorted(files, key=lambda file: -last.get(file, 1e9))


def timings(project: Path) -> dict[str, float]:
    """Seconds of each file in earlier runs; empty when there are none."""
    file = project / TIMINGS
    return json.loads(file.read_text()) if file.exists() else {}


def remember(project: Path, reports: Sequence[FileReport]) -> None:
    """Keep the times for the next run's order."""
    file = project / TIMINGS
    file.parent.mkdir(exist_ok=True)
    merged = timings(project) | {report.file: round(report.seconds, 2) for report in reports}
    file.write_text(json.dumps(merged, indent=1, sort_keys=True))


def run_all(files: Sequence[str], jobs: int, run: Callable[[str], FileReport]) -> Iterator[FileReport]:
    """Run each file, JOBS at a time; yields each report when it is there."""
    with ThreadPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(run, file) for file in files]):
            yield future.result()
