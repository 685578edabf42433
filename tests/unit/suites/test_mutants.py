"""Faults in a copy of the scripts: the list fits the scripts, and a fault reaches the scripts that are tested."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from pyhelpers.suites import mutants
from pyhelpers.suites.mutants import PROJECT, Mutant

UMASK = Mutant("wrong umask", "scripts/lib/tools.sh", "umask 077", "umask 022", ["tests/scripts/test_install.py"])


def project(root: Path, text: str, old: str) -> Path:
    """A project with one script and a list of one mutant."""
    (root / "scripts").mkdir()
    (root / "scripts/a.sh").write_text(text)
    (root / "tests/corpus").mkdir(parents=True)
    entry = {"name": "n", "file": "scripts/a.sh", "old": old, "new": "x", "tests": ["tests/t.bats"]}
    (root / mutants.LIST).write_text(yaml.safe_dump([entry]))
    return root


def test_a_text_that_stands_once_is_taken(tmp_path: Path) -> None:
    assert mutants.load(project(tmp_path, "sync a\nsync b\n", "sync a"))[0].new == "x"


@pytest.mark.parametrize(("old", "times"), [("sync", 2), ("mv", 0)])
def test_a_text_that_does_not_stand_exactly_once_is_refused(tmp_path: Path, old: str, times: int) -> None:
    with pytest.raises(ValueError, match=f"'n': its text stands {times} times in scripts/a.sh"):
        mutants.load(project(tmp_path, "sync a\nsync b\n", old))


def test_the_list_fits_the_scripts_and_has_at_least_25_faults_with_names_of_their_own() -> None:
    listed = mutants.load(PROJECT)
    assert len({mutant.name for mutant in listed}) == len(listed) >= 25


def test_every_fault_changes_something_and_names_test_files_that_are_there() -> None:
    for mutant in mutants.load(PROJECT):
        assert mutant.new != mutant.old, mutant.name
        assert mutant.tests, mutant.name
        assert [test for test in mutant.tests if not (PROJECT / test).is_file()] == []


def test_a_fault_in_the_library_is_stamped_into_the_scripts(tmp_path: Path) -> None:
    place = mutants.copy(PROJECT, tmp_path / "copy")
    mutants.put(UMASK, place)
    for script in ("install.sh", "bootstrap.sh", "uninstall.sh"):
        assert "  umask 022\n  IFS=" in (place / "scripts" / script).read_text()
        assert "  umask 022\n  IFS=" not in (PROJECT / "scripts" / script).read_text()


def test_a_fault_that_stamping_takes_back_is_refused(tmp_path: Path) -> None:
    place = mutants.copy(PROJECT, tmp_path / "copy")
    generated = Mutant("n", "scripts/lib/contract.sh", "/run/aks-flex-node-bootstrap.lock", "/run/other", [])
    with pytest.raises(ValueError, match="'n' alters no script"):
        mutants.put(generated, place)
