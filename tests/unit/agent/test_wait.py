"""Waiting for the daemon: woken by its file and by its end, bounded by time."""

from __future__ import annotations

import subprocess
import threading
import time
from pathlib import Path

from pyhelpers.agent import wait


def test_a_file_renamed_into_the_directory_wakes_the_waiter(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("x")
    watched = tmp_path / "watched"
    watched.mkdir()
    with wait.watching(str(watched)) as changes:
        timer = threading.Timer(0.05, lambda: (tmp_path / "new").rename(watched / "state"))
        timer.start()
        begun = time.monotonic()
        assert wait.until((watched / "state").exists, changes, None, 10) == "ready"
        assert time.monotonic() - begun < 5
        timer.join()


def test_what_is_ready_already_is_not_waited_for(tmp_path: Path) -> None:
    with wait.watching(str(tmp_path)) as changes:
        assert wait.until(lambda: True, changes, None, 0) == "ready"


def test_the_end_of_the_process_ends_the_wait(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "60"])
    with child, wait.watching(str(tmp_path)) as changes, wait.process(child.pid) as ended:
        threading.Timer(0.05, child.kill).start()
        assert wait.until(lambda: False, changes, ended, 10) == "ended"


def test_a_process_that_is_gone_already_ends_the_wait_at_once(tmp_path: Path) -> None:
    child = subprocess.Popen(["true"])
    child.wait()
    with wait.watching(str(tmp_path)) as changes, wait.process(child.pid) as ended:
        begun = time.monotonic()
        assert wait.until(lambda: False, changes, ended, 10) == "ended"
        assert time.monotonic() - begun < 5


def test_time_runs_out(tmp_path: Path) -> None:
    with wait.watching(str(tmp_path)) as changes:
        assert wait.until(lambda: False, changes, None, 0.05) == "timeout"


def test_changes_of_other_files_do_not_extend_the_time(tmp_path: Path) -> None:
    stop = threading.Event()

    def stir() -> None:
        while not stop.wait(0.01):
            (tmp_path.parent / "x").write_text("")
            (tmp_path.parent / "x").rename(tmp_path / "x")

    thread = threading.Thread(target=stir)
    with wait.watching(str(tmp_path)) as changes:
        thread.start()
        begun = time.monotonic()
        assert wait.until(lambda: False, changes, None, 0.2) == "timeout"
        assert time.monotonic() - begun < 5
        stop.set()
        thread.join()
