"""Finding and ordering test files."""

from pathlib import Path

import pytest

from pyhelpers.suites import pool
from pyhelpers.suites.case import Case, FileReport


def tree(root: Path) -> Path:
    for name in ("tests/a/test_x.py", "tests/a/helper.py", "tests/a/y.bats", "tests/b/test_z.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root.resolve()


def test_only_bats_and_pytest_files_are_found(tmp_path: Path) -> None:
    assert pool.find(tree(tmp_path), ["tests/a"]) == ["tests/a/test_x.py", "tests/a/y.bats"]


def test_a_file_named_twice_runs_once(tmp_path: Path) -> None:
    assert pool.find(tree(tmp_path), ["tests/b", "tests/b/test_z.py"]) == ["tests/b/test_z.py"]


def test_a_path_without_tests_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="tests/c"):
        pool.find(tree(tmp_path), ["tests/c"])


def test_the_slowest_file_of_the_last_run_starts_first_and_a_new_one_before_it(tmp_path: Path) -> None:
    root = tree(tmp_path)
    pool.remember(root, [FileReport("slow", 9.0), FileReport("fast", 1.0)])
    assert pool.slowest_first(root, ["fast", "slow", "new"]) == ["new", "slow", "fast"]


def test_every_file_is_run_and_reported() -> None:
    def run(file: str) -> FileReport:
        return FileReport(file, 0.0, [Case(file, "t", "passed")])

    assert sorted(one.file for one in pool.run_all(["a", "b", "c"], 2, run)) == ["a", "b", "c"]
