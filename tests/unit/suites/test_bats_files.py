"""A bats file cannot be run by hand on the machine itself: it installs and removes things as root."""

import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
GUARD = TESTS / "scripts/only_in_sandbox.bash"
FILES = sorted(TESTS.rglob("*.bats"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_bats_file_loads_the_guard_before_anything_else(file: Path) -> None:
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    assert (file.parent / lines[0].removeprefix("load ")).resolve() == GUARD


def test_the_guard_refuses_to_run_outside_a_sandbox(tmp_path: Path) -> None:
    (tmp_path / "x.bats").write_text("load only_in_sandbox.bash\n@test 'x' { touch ran; }\n")
    (tmp_path / "only_in_sandbox.bash").write_bytes(GUARD.read_bytes())
    environment = {"PATH": "/usr/bin:/bin"}
    result = subprocess.run(["bats", "x.bats"], check=False, cwd=tmp_path, env=environment, capture_output=True)
    assert result.returncode != 0 and b"flexkit test" in result.stdout + result.stderr
    assert not (tmp_path / "ran").exists()
