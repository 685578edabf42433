"""`flexkit bench [NAME…]`: runs the measurements and compares them with their limits."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from rich.console import Console

from pyhelpers.bench import report

# name -> (module with measure(), what it measures); a module is imported only when it is wanted
MODULES: dict[str, tuple[str, str]] = {
    "sandbox": ("pyhelpers.bench.sandbox", "sandboxes against bubblewrap"),
    "host": ("pyhelpers.bench.host", "throwaway hosts"),
}


def main(argv: Sequence[str]) -> int:
    """Exit 1 when a limit is broken."""
    parser = argparse.ArgumentParser(prog="flexkit bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MODULES)} (all)")
    names = parser.parse_args(argv).names or list(MODULES)
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        parser.error(f"nothing to measure is called {unknown[0]}")
    console = Console()
    broken = False
    for name in names:
        module, title = MODULES[name]
        rows: list[report.Row] = importlib.import_module(module).measure()
        console.print(report.table(title, rows))
        broken = broken or any(row.broken for row in rows)
    return 1 if broken else 0
