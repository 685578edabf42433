"""What the command line says when its output cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SAID = "flexkit: cannot write the output: "


def into(path: str, *args: str) -> tuple[int, str]:
    """The exit code and the errors of `flexkit ARGS` with its output to PATH."""
    with Path(path).open("w") as out:
        argv = [sys.executable, "-m", "pyhelpers", *args]
        done = subprocess.run(argv, check=False, cwd=PROJECT, stdout=out, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("args", [["--help"], ["doctor"], ["sandbox", "--help"], ["test", "tests/nothing"]])
def test_a_full_output_is_one_line_and_a_failure(args: list[str]) -> None:
    assert into("/dev/full", *args) == (1, f"{SAID}No space left on device\n")


def test_the_same_with_room_succeeds() -> None:
    assert into("/dev/null", "--help") == (0, "")
