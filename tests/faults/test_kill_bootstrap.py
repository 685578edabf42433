"""The power cut anywhere in a bootstrap: uninstall alone, or a second run and then uninstall, gives the tree back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhelpers.sandbox.mutations import evenly
from tests.faults.hosts import calls, leftovers
from tests.faults.kill import POINTS


@pytest.fixture(scope="module")
def points() -> list[int]:
    return evenly(calls(), POINTS)


@pytest.mark.parametrize("rerun", [False, True], ids=["uninstall", "rerun-uninstall"])
def test_a_power_cut_at_any_of_20_calls_leaves_nothing_behind(points: list[int], rerun: bool) -> None:
    assert len(points) == POINTS
    with ThreadPoolExecutor(2) as workers:
        found = workers.map(lambda number: (number, leftovers(number, rerun=rerun)), points)
        wrong = {number: list(map(str, changes)) for number, changes in found if changes}
    assert not wrong
