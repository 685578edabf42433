"""`flexkit mutants`: each listed one-line fault is put into a copy of the scripts; the tests must notice.

A mutant that no test notices shows a test that is missing. The list is data: tests/corpus/mutants.yaml. A test that
fails without the fault too has noticed nothing: at the end those that noticed are run on a copy without any.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from pyhelpers import arguments
from pyhelpers.sandbox import SandboxError, Server
from pyhelpers.suites.runners import ENDS, run_file

PROJECT = Path(__file__).resolve().parents[2]
LIST = "tests/corpus/mutants.yaml"
SHARED = (".venv", "build")  # linked, not copied: they hold nothing of the scripts
LEFT_OUT = shutil.ignore_patterns(*SHARED, ".git", "__pycache__", ".*_cache")


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
    """What the tests said of a mutant: the file and name of the test that noticed, empty when it survived."""

    mutant: Mutant
    file: str
    test: str


def load(project: Path) -> list[Mutant]:
    """The list. Raises ValueError for a mutant whose text does not stand in its file exactly once."""
    mutants = [Mutant(**entry) for entry in yaml.safe_load((project / LIST).read_text())]
    for mutant in mutants:
        count = (project / mutant.file).read_text().count(mutant.old)
        if count != 1:
            raise ValueError(f"mutant {mutant.name!r}: its text stands {count} times in {mutant.file}")
    return mutants


def copy(project: Path, target: Path) -> Path:
    """Make TARGET, a copy of the project that shares what no fault changes -> TARGET."""
    shutil.copytree(project, target, symlinks=True, ignore=LEFT_OUT)
    for name in SHARED:
        (target / name).symlink_to((project / name).resolve())
    return target


def put(mutant: Mutant, place: Path) -> None:
    """Put the fault into the project at PLACE and stamp it. Raises ValueError when that alters no script."""
    scripts = {path: path.read_bytes() for path in (place / "scripts").glob("*.sh")}
    target = place / mutant.file
    target.write_text(target.read_text().replace(mutant.old, mutant.new))
    environment = os.environ | {"PYTHONPATH": str(place)}
    stamp = [sys.executable, "-m", "pyhelpers", "stamp"]
    subprocess.run(stamp, cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)
    if all(path.read_bytes() == text for path, text in scripts.items()):
        raise ValueError(f"mutant {mutant.name!r} alters no script")


def main(argv: Sequence[str]) -> int:
    """Exit 0 when every mutant is caught, 2 when there is none to try, 125 when there is no sandbox for them."""
    parser = argparse.ArgumentParser(prog="flexkit mutants", description=__doc__)
    parser.add_argument("names", nargs="*", help="only the mutants whose name holds one of these")
    parser.add_argument("--jobs", type=arguments.count, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    try:
        return _run(options.names, options.jobs)
    except ValueError as error:  # of the list, or no mutant of this name
        print(f"flexkit mutants: {error}", file=sys.stderr)
        return 2
    except SandboxError as error:
        print(f"flexkit mutants: {error}; `flexkit doctor` says what this machine can do", file=sys.stderr)
        return 125


def _run(names: Sequence[str], jobs: int) -> int:
    with tempfile.TemporaryDirectory(prefix="flexkit-mutants-") as folder, Server(jobs=jobs) as server:
        clean = copy(PROJECT, Path(folder) / "clean")  # others may edit the project meanwhile
        mutants = [m for m in load(clean) if not names or any(word in m.name for word in names)]
        if not mutants:
            raise ValueError(f"no mutant's name in {LIST} holds {' or '.join(map(repr, names))}")
        with ThreadPoolExecutor(jobs) as workers:
            verdicts = list(workers.map(lambda mutant: _try(server, clean, mutant), mutants))
            caught = _confirmed(server, clean, verdicts, workers)
    print(f"{len(caught)} of {len(mutants)} mutants caught")
    return 0 if len(caught) == len(mutants) else 1


def _try(server: Server, clean: Path, mutant: Mutant) -> Verdict:
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-", dir=clean.parent) as folder:
        place = copy(clean, Path(folder) / "copy")
        put(mutant, place)
        verdict = _judge(server, place, mutant)
    word = f"caught by {verdict.file}: {verdict.test}" if verdict.test else "SURVIVED"
    print(f"{mutant.name}: {word} ({time.monotonic() - start:.1f} s)", flush=True)
    return verdict


def _judge(server: Server, place: Path, mutant: Mutant) -> Verdict:
    for file in mutant.tests:
        for case in run_file(server, place, file, stop_at_failure=True).cases:
            if case.outcome == "failed" and case.name != ENDS:
                return Verdict(mutant, file, case.name)
    return Verdict(mutant, "", "")


def _confirmed(server: Server, clean: Path, verdicts: Sequence[Verdict], workers: ThreadPoolExecutor) -> list[Verdict]:
    """The verdicts whose test passes on the clean copy; says which do not."""
    noticed = defaultdict[str, set[str]](set)
    for verdict in verdicts:
        if verdict.test:
            noticed[verdict.file].add(verdict.test)
    reports = workers.map(lambda file: run_file(server, clean, file, only=sorted(noticed[file])), noticed)
    passed = {(one.file, case.name) for one in reports for case in one.cases if case.outcome == "passed"}
    for verdict in verdicts:
        if verdict.test and (verdict.file, verdict.test) not in passed:
            print(f"{verdict.mutant.name}: not caught, {verdict.test} fails without the fault too")
    return [verdict for verdict in verdicts if (verdict.file, verdict.test) in passed]
