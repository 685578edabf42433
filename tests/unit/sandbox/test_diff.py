"""The difference read from an overlay's upper directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers.sandbox import Server

PROJECT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).parent
SEEDS = 60


@pytest.mark.needs("root", "unshare")
def test_it_says_what_two_snapshots_of_random_trees_say(tmp_path: Path) -> None:
    argv = [sys.executable, str(HERE / "random_trees.py"), str(tmp_path), "0", str(SEEDS)]
    env = {"PYTHONPATH": str(PROJECT), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(["unshare", "-m", *argv], check=False, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    said = json.loads(run.stdout)
    assert said["wrong"] == {}
    assert said["changes"] > 10 * SEEDS


@pytest.mark.needs("sandbox")
def test_ten_thousand_changes_are_read_in_under_a_tenth_of_a_second(server: Server, tmp_path: Path) -> None:
    """Or, on a busy machine, in four times the time of 10,000 bare lstat calls."""
    for number in range(10000):
        (tmp_path / str(number)).touch()
    result = server.run(["sh", "-ec", "mkdir /opt/many; cd /opt/many; seq 10000 | xargs touch"])
    assert (result.code, result.stderr) == (0, "")
    assert len(result.diff()) == 10001
    bare = seconds_of(lambda: [entry.stat(follow_symlinks=False) for entry in os.scandir(tmp_path)])
    assert seconds_of(result.diff) < max(0.1, 4 * bare)


def seconds_of(action: Callable[[], object]) -> float:
    """The processor time of the best of five; other tests run at the same time."""
    found = []
    for _ in range(5):
        start = time.process_time()
        action()
        found.append(time.process_time() - start)
    return min(found)


@pytest.mark.needs("sandbox")
@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("rm /etc/passwd", ["removed  /etc/passwd (file)"]),
        ("touch /etc/passwd", []),
        ("echo x >>/etc/passwd", ["modified /etc/passwd (content)"]),
        ("cp -p /etc/passwd /etc/p && mv /etc/p /etc/passwd", []),
        ("chmod 600 /etc/passwd", ["metadata /etc/passwd (mode 0644 -> 0600)"]),
        ("mkdir /opt/d && rmdir /opt/d", []),
        ("echo a >/tmp/a; echo b >/run/b; echo c >/dev/shm/c", ["/dev/shm/c", "/run/b", "/tmp/a"]),
        ("mkdir -m 700 /run/lock/d", ["added    /run/lock/d (dir 0700 0:0)"]),
        ("chmod 755 /opt && chmod 700 /", ["metadata / (mode 0755 -> 0700)"]),
    ],
)
def test_a_command_leaves_exactly_this(server: Server, script: str, expected: list[str]) -> None:
    result = server.run(["sh", "-ec", script])
    assert (result.code, result.stderr) == (0, "")
    lines = [str(change) if expected[0].split()[1:] else change.path for change in result.diff()] if expected else []
    assert lines == expected
    assert bool(result.diff()) == bool(expected)


@pytest.mark.needs("sandbox")
def test_a_renamed_directory_is_removed_here_and_added_there(server: Server) -> None:
    result = server.run(["mv", "/etc/default", "/etc/moved"])
    assert result.code == 0
    changes = result.diff()
    gone = sorted(change.path for change in changes if change.kind == "removed")
    new = sorted(change.path for change in changes if change.kind == "added")
    assert "/etc/default" in gone and len(gone) > 1
    assert [path.replace("/etc/default", "/etc/moved") for path in gone] == new


@pytest.mark.needs("sandbox")
def test_what_is_ignored_is_left_out(server: Server) -> None:
    result = server.run(["sh", "-ec", "mkdir -p /var/cache/a/b; touch /etc/seen"])
    assert [change.path for change in result.diff(ignore=["/var/cache/**"])] == ["/etc/seen"]
