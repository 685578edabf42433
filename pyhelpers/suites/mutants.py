"""`flexkit mutants`: each listed one-line fault is put into a copy of the scripts; the tests must notice.

A mutant that no test notices shows a test that is missing. The list is data: tests/corpus/mutants.yaml.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from pyhelpers.sandbox import Server
from pyhelpers.suites.runners import run_file

PROJECT = Path(__file__).resolve().parents[2]
LIST = "tests/corpus/mutants.yaml"
COPIED = ("pyhelpers", "scripts", "tests", "pyproject.toml", "requirements.txt")
SHARED = (".venv", "build")  # linked, not copied: they hold nothing of the scripts


@dataclass(frozen=True)
class Mutant:
    """One fault: in FILE the text OLD (which must stand there once) becomes NEW; TESTS are run until one fails."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a mutant; `by` is the test that noticed, empty when it survived."""

    mutant: Mutant
    by: str
    seconds: float


def load(project: Path) -> list[Mutant]:
    """The list. Raises ValueError for a mutant whose text does not stand in its file exactly once."""
    mutants = [Mutant(**entry) for entry in yaml.safe_load((project / LIST).read_text())]
    for mutant in mutants:
        count = (project / mutant.file).read_text().count(mutant.old)
        if count != 1:
            raise ValueError(f"mutant {mutant.name!r}: its text stands {count} times in {mutant.file}")
    return mutants


def main(argv: Sequence[str]) -> int:
    """Exit 0 when every mutant is caught."""
    parser = argparse.ArgumentParser(prog="flexkit mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only the mutants whose name holds one of these")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    mutants = [m for m in load(PROJECT) if not options.names or any(word in m.name for word in options.names)]
    with Server(jobs=options.jobs) as server, ThreadPoolExecutor(options.jobs) as workers:
        verdicts = list(workers.map(lambda mutant: _tell(_try(server, mutant)), mutants))
    survived = [verdict.mutant.name for verdict in verdicts if not verdict.by]
    print(f"{len(verdicts) - len(survived)} of {len(verdicts)} mutants caught")
    return 1 if survived else 0


def _tell(verdict: Verdict) -> Verdict:
    word = f"caught by {verdict.by}" if verdict.by else "SURVIVED"
    print(f"{verdict.mutant.name}: {word} ({verdict.seconds:.1f} s)", flush=True)
    return verdict


def _try(server: Server, mutant: Mutant) -> Verdict:
    start = time.monotonic()
    with _mutated(mutant) as copy:
        for test in mutant.tests:
            failed = [case for case in run_file(server, copy, test).cases if case.outcome == "failed"]
            if failed:
                return Verdict(mutant, f"{test}: {failed[0].name}", time.monotonic() - start)
    return Verdict(mutant, "", time.monotonic() - start)


@contextmanager
def _mutated(mutant: Mutant) -> Iterator[Path]:
    """A copy of the project with the fault in it, stamped; deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="flexkit-mutant-") as folder:
        copy = Path(folder)
        for name in COPIED:
            source = PROJECT / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
        for name in SHARED:
            (copy / name).symlink_to(PROJECT / name)
        target = copy / mutant.file
        target.write_text(target.read_text().replace(mutant.old, mutant.new))
        environment = os.environ | {"PYTHONPATH": str(copy)}
        subprocess.run([sys.executable, "-m", "pyhelpers", "stamp"], cwd=copy, env=environment, check=True)
        yield copy
