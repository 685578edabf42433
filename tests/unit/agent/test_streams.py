"""The agent's standard streams: closed, full, or without a reader."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pyhelpers.release import variant


def ask(call: str, redirections: str) -> tuple[int, str, str]:
    """`aks-flex-node CALL REDIRECTIONS` in bash -> exit code, stdout, stderr."""
    agent = variant("current") / "aks-flex-node"
    done = subprocess.run(["bash", "-c", f"{agent} {call} {redirections}"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("call", ["version", "host-root", "--help"])
def test_an_answer_that_cannot_be_written_is_a_failure_of_one_line(call: str) -> None:
    cause = "Command execution failed: cannot write the answer: No space left on device\n"
    assert ask(call, ">/dev/full") == (1, "", cause)


@pytest.mark.parametrize("redirections", ["2>/dev/full", "2>&-", "2> >(:)", "<&- 2>&-"])
@pytest.mark.parametrize("call", ["version", "host-root"])
def test_no_place_for_messages_does_not_matter(call: str, redirections: str) -> None:
    code, answer, _ = ask(call, redirections)
    assert (code, bool(answer)) == (0, True)


@pytest.mark.parametrize("redirections", ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
def test_a_failure_is_1_wherever_its_message_goes(redirections: str) -> None:
    assert ask("frobnicate", redirections) == (1, "", "")


@pytest.mark.parametrize("call", ["version", "host-root", "--help"])
def test_closed_streams_do_not_matter(call: str) -> None:
    assert ask(call, "<&- >&- 2>&-") == (0, "", "")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path: Path) -> None:
    program = (
        "from pyhelpers.agent import streams; streams.open_all(); import os, subprocess\n"
        f"file = open({str(tmp_path / 'file')!r}, 'w'); subprocess.run(['sh', '-c', 'echo lost; echo lost >&2'])\n"
        "file.write(str(file.fileno())); file.close()"
    )
    subprocess.run(["bash", "-c", 'exec python3 -c "$0" <&- >&- 2>&-', program], check=True, cwd=Path.cwd())
    assert int((tmp_path / "file").read_text()) > 2
