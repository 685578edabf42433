"""install.sh killed anywhere: uninstall alone, or a second run and then uninstall, gives the untouched tree back."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from pyhelpers.release import variant
from pyhelpers.sandbox import Box, Server
from tests.faults.kill import INSTALL, archive, leftovers, must, numbers


def command(name: str) -> list[str]:
    return ["sh", INSTALL, "--archive", archive(variant(name))]


def nothing(box: Box) -> None:
    """A host that never saw an agent."""


def legacy_agent(box: Box) -> None:
    must(box.run(command("legacy")))


# what was there before, and what is installed over it
CASES: dict[str, tuple[Callable[[Box], None], str]] = {
    "fresh": (nothing, "current"),
    "legacy": (nothing, "legacy"),
    "linked": (legacy_agent, "current"),
}


@pytest.mark.parametrize("rerun", [False, True], ids=["uninstall", "rerun-uninstall"])
@pytest.mark.parametrize("case", CASES)
def test_a_kill_at_any_of_20_calls_leaves_nothing_behind(server: Server, case: str, rerun: bool) -> None:
    prepare, name = CASES[case]
    points = numbers(server, prepare, command(name))
    assert len(points) == 20
    with ThreadPoolExecutor(2) as workers:
        found = workers.map(lambda n: (n, leftovers(server, prepare, command(name), n, rerun=rerun)), points)
        wrong = {number: list(map(str, changes)) for number, changes in found if changes}
    assert not wrong
