"""The command line as a whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pyhelpers import cli


@pytest.mark.needs("root", "sandbox")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_sandbox_works_with_closed_streams(closed: str) -> None:
    call = f"exec {sys.executable} -m pyhelpers sandbox -- sh -c 'echo out; echo words >&2; exit 3' {closed}"
    done = subprocess.run(["bash", "-c", call], cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stdout == ("" if ">&-" in closed.replace("2>&-", "") else "out\n")
    assert done.stderr == ("" if "2>&-" in closed else "words\n")


@pytest.mark.needs("sandbox")
def test_a_name_that_no_mutant_has_is_a_wrong_call(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["mutants", "no such name"]) == 2
    error = capsys.readouterr().err
    assert error == "flexkit mutants: no mutant's name in tests/corpus/mutants.yaml holds 'no such name'\n"
