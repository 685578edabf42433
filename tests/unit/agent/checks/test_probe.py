"""Probes: done for real in a temporary directory, without a trace, also after a kill and beside other runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent.checks import probe
from pyhelpers.host import Completed, Host
from pyhelpers.rooted import RecordingHost
from pyhelpers.tree import compare, snapshot

HOLD = """
import sys
from pyhelpers.agent.checks import probe
from pathlib import Path
with probe._probe(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def left(directory: Path) -> list[str]:
    """The probes in a directory."""
    return sorted(path.name for path in directory.iterdir() if path.name.startswith(probe.PROBE_PREFIX))


def held_probe(directory: Path) -> subprocess.Popen[str]:
    """Another process that is in the middle of its probe."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, directory], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_a_probe_is_written_executed_renamed_and_gone(tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    assert probe.can_create(Host(), f"{tmp_path}/a/b/c", execute=True) == probe.Answer(str(tmp_path))
    assert compare(before, snapshot(tmp_path)) == []


def test_a_strict_umask_does_not_matter(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        answer = probe.can_create(Host(), str(tmp_path), execute=True)
    finally:
        os.umask(before)
    assert answer.cause == ""


def test_the_probe_of_a_killed_run_is_removed_by_the_next(tmp_path: Path) -> None:
    child = held_probe(tmp_path)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    assert len(left(tmp_path)) == 1
    probe.can_create(Host(), str(tmp_path), execute=False)
    assert left(tmp_path) == []


def test_the_probe_of_a_run_that_is_under_way_stays(tmp_path: Path) -> None:
    child = held_probe(tmp_path)
    held = left(tmp_path)
    assert probe.can_create(Host(), str(tmp_path), execute=True).cause == ""
    assert left(tmp_path) == held != []
    child.communicate("")
    assert (child.returncode, left(tmp_path)) == (0, [])


def test_many_probes_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(probe.can_create, Host(), str(tmp_path), True) for _ in range(40)]
    assert {one.result().cause for one in asked} == {""}
    assert left(tmp_path) == []


def test_a_leftover_that_was_renamed_goes_too(tmp_path: Path) -> None:
    (tmp_path / f"{probe.PROBE_PREFIX}3.renamed").touch()
    probe.can_create(Host(), str(tmp_path), execute=False)
    assert left(tmp_path) == []


def test_what_only_looks_like_a_probe_stays(tmp_path: Path) -> None:
    (tmp_path / ".flexnode-new.unit").touch()
    (tmp_path / f"{probe.PROBE_PREFIX}0").symlink_to("/etc/passwd")
    assert probe.can_create(Host(), str(tmp_path), execute=True).cause == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [".flexnode-new.unit", f"{probe.PROBE_PREFIX}0"]


def test_a_failed_execution_leaves_no_probe(tmp_path: Path) -> None:
    host = RecordingHost(tmp_path)
    host.answers["/.flexnode-probe"] = Completed((), 1, "", "cannot execute: required file not found\n")
    answer = probe.can_create(host, "/opt", execute=True)
    assert answer.cause == "files in it cannot be executed: cannot execute: required file not found"
    assert left(tmp_path) == []


def test_probes_have_the_declared_prefix_of_temporary_names() -> None:
    assert probe.PROBE_PREFIX.startswith(contract.TEMP_PREFIX)


@pytest.mark.parametrize("path", ["/opt/unbounded/bin", "/opt", "/"])
def test_the_nearest_directory_that_exists_is_found(path: str, host: RecordingHost) -> None:
    where, cause = probe.nearest(host, path)
    assert (where, cause) == ("/opt" if path.startswith("/opt") else "/", "")
