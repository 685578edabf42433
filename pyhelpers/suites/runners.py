"""How one test file is run: bats and unit tests inside a sandbox, drivers of sandboxes and hosts outside.

A driver (its folder stands in DRIVERS) makes a sandbox or host for each of its tests, which a test inside a sandbox
could not do: an overlay of an overlay of the root is the kernel's limit, and a second jail needs the real root.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from pyhelpers.sandbox import Server
from pyhelpers.suites import junit, tap
from pyhelpers.suites.case import Case, FileReport

DRIVERS = (
    "tests/scripts",
    "tests/exhaustive",
    "tests/faults",
    "tests/hosts",
    "tests/unit/sandbox",
    "tests/unit/testhost",
)
FILE_TIMEOUT_S = 600
ENDS = "the file runs to its end"  # stands for the file as a whole, beside its tests
JUNIT_INSIDE = "/flexkit-junit.xml"


def run_file(
    server: Server, project: Path, file: str, only: Sequence[str] = (), stop_at_failure: bool = False
) -> FileReport:
    """Run one test file (a path below the project); never raises for a failing test.

    only: the names of the tests to run; stop_at_failure: none after the first that fails. A bats file runs as a whole.
    """
    start = time.monotonic()
    if file.endswith(".bats"):
        cases = _bats(server, project, file)
    elif file.startswith(tuple(folder + "/" for folder in DRIVERS)):
        cases = _pytest_outside(project, file, _options(file, only, stop_at_failure))
    else:
        cases = _pytest_inside(server, project, file, _options(file, only, stop_at_failure))
    if not cases:
        cases = [Case(file, "the file holds a test", "failed", 0.0, "no test was found")]
    return FileReport(file, time.monotonic() - start, cases)


def environment(project: Path) -> dict[str, str]:
    """What a test sees: nothing of the caller but the venv's PATH."""
    path = f"{project}/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    env = {"PATH": path, "LC_ALL": "C.UTF-8", "HOME": "/root", "PYTHONDONTWRITEBYTECODE": "1"}
    return env | ({"CI": os.environ["CI"]} if os.environ.get("CI") else {})


def _inside(project: Path) -> dict[str, str]:
    """The same for what runs in a sandbox; bats files that are not told so refuse to run."""
    return environment(project) | {"FLEXKIT_SANDBOX": "1"}


def _bats(server: Server, project: Path, file: str) -> list[Case]:
    result = server.run(
        ["bats", "--tap", "--timing", file],
        env=_inside(project),
        cwd=str(project),
        timeout=FILE_TIMEOUT_S,
        binds=[project],
    )
    cases = tap.parse(result.stdout, file)
    return cases + _file_failure(file, cases, result.code, result.timed_out, result.stderr)


def _options(file: str, only: Sequence[str], stop_at_failure: bool) -> list[str]:
    """What pytest is told besides where to write."""
    return ([f"{file}::{name}" for name in only] or [file]) + (["-x"] if stop_at_failure else [])


def _pytest_inside(server: Server, project: Path, file: str, options: list[str]) -> list[Case]:
    result = server.run(
        _pytest(options, JUNIT_INSIDE),
        env=_inside(project),
        cwd=str(project),
        timeout=FILE_TIMEOUT_S,
        binds=[project],
    )
    try:
        cases = junit.parse(result.read(JUNIT_INSIDE), file)
    except FileNotFoundError:
        cases = []
    return cases + _file_failure(file, cases, result.code, result.timed_out, result.stdout + result.stderr)


def _pytest_outside(project: Path, file: str, options: list[str]) -> list[Case]:
    with tempfile.TemporaryDirectory(prefix="flexkit-junit-") as folder:
        xml = Path(folder) / "junit.xml"
        process = subprocess.Popen(
            _pytest(["-p", "no:pytest-subprocess", *options], str(xml)),  # drivers fake no command; its import is slow
            cwd=project,
            env=environment(project),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=FILE_TIMEOUT_S)
            timed_out = False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            timed_out = True
        cases = junit.parse(xml.read_bytes(), file) if xml.exists() else []
    return cases + _file_failure(file, cases, process.returncode, timed_out, output.decode(errors="replace"))


def _pytest(options: list[str], xml: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={xml}", *options]


def _file_failure(file: str, cases: list[Case], code: int, timed_out: bool, output: str) -> list[Case]:
    """A file that ends badly without a failed test (a crash, a time-out, a broken import) is a failure itself."""
    if code == 0 or (not timed_out and any(case.outcome == "failed" for case in cases)):
        return []
    why = f"stopped after {FILE_TIMEOUT_S} s" if timed_out else f"exit {code}"
    return [Case(file, ENDS, "failed", 0.0, f"{why}\n{output[-4000:]}")]
