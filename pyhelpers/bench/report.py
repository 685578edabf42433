"""A measurement's rows and the table of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One measured thing. ratio: to what it is compared with; limit: of the ratio if there is one, else of the
    median in ms; None: no ratio, no limit."""

    name: str
    median_ms: float
    p95_ms: float
    ratio: float | None = None
    limit: float | None = None

    @property
    def broken(self) -> bool:
        """Whether the limit is exceeded."""
        return self.limit is not None and (self.median_ms if self.ratio is None else self.ratio) > self.limit


def row(name: str, times: Sequence[float], than: Sequence[float] | None = None, limit: float | None = None) -> Row:
    """The row of measured times (in seconds); THAN: those of what it is compared with."""
    middle = statistics.median(times)
    p95 = sorted(times)[int(len(times) * 0.95)]
    return Row(name, middle * 1000, p95 * 1000, None if than is None else middle / statistics.median(than), limit)


def seconds(work: Callable[[], object]) -> float:
    """How long WORK takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def table(title: str, rows: Sequence[Row]) -> Table:
    """For a terminal."""
    made = Table(title=title, title_justify="left")
    made.add_column("what")
    for heading in ("median ms", "p95 ms", "ratio", "limit", ""):
        made.add_column(heading, justify="right")
    for one in rows:
        limit = "" if one.limit is None else f"{one.limit:g}" + (" ms" if one.ratio is None else "")
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        verdict = "" if one.limit is None else "[red]TOO SLOW" if one.broken else "[green]ok"
        made.add_row(one.name, f"{one.median_ms:.2f}", f"{one.p95_ms:.2f}", ratio, limit, verdict)
    return made
