"""Faults that the sweep found, each once more by itself: one call fails, and what must come of it."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from pyhelpers.contract import STAGING_DIR
from pyhelpers.sandbox import Result, Server
from pyhelpers.sandbox.mutations import Call
from pyhelpers.sweep import image, invariants, points, runs
from pyhelpers.sweep.follow import Case
from pyhelpers.sweep.image import Image

BIN = "/opt/unbounded/bin/aks-flex-node"
LIB = "/opt/unbounded/lib/aks-flex-node/aks-flex-node"
UNIT = "/etc/systemd/system/aks-flex-node-agent.service"
WANTS = "/etc/systemd/system/multi-user.target.wants/aks-flex-node-agent.service"
WORDS = "/run/.flexnode-words"


def run(server: Server, case: Case, fails: Callable[[Call], bool]) -> tuple[Result, Image]:
    """Run the case's script; every call that FAILS says so of fails with EIO -> how it ended, and what is there."""
    with case.box(server, case.start) as box:
        result, _ = runs.watched(box, case.command, lambda call: errno.EIO if fails(call) else 0)
        return result, image.take(box)


@pytest.fixture(scope="module")
def started(server: Server) -> Case:
    """uninstall.sh on a host whose agent runs."""
    return runs.case(server, "uninstall", "started", False)[0]


@pytest.mark.parametrize(
    "link, needed",
    [
        (BIN, [f"{LIB}-current", f"{LIB}-blue"]),
        (f"{LIB}-current", [f"{LIB}-blue"]),
        (f"{LIB}-last-good", [f"{LIB}-blue"]),
        (WANTS, [UNIT]),
    ],
)
def test_a_link_that_cannot_be_removed_keeps_what_it_leads_to(
    server: Server, started: Case, link: str, needed: list[str]
) -> None:
    result, state = run(server, started, lambda call: points.kind(call.name) == "remove" and call.path == link)
    assert result.code == 13
    assert all(path in state for path in [link, *needed])
    assert f"{LIB}-green" not in state, "nothing leads to it"
    assert case_is_sound(started, state)
    assert f"{needed[0]}: {link} leads to it and could not be removed" in result.stderr


def case_is_sound(case: Case, state: Image) -> bool:
    """Whether nothing is wrong with the state at this moment."""
    return case.instant(state) == []


@pytest.mark.parametrize("which", [1, 2, 3])
def test_the_node_is_reset_even_if_the_words_of_it_cannot_be_kept(server: Server, started: Case, which: int) -> None:
    opened = 0

    def fails(call: Call) -> bool:
        nonlocal opened
        opened += call.path == WORDS and points.kind(call.name) == "open"
        return call.path == WORDS and points.kind(call.name) == "open" and opened == which

    result, state = run(server, started, fails)
    assert opened >= min(which, 2)
    assert result.code == 0, result.stderr
    assert "Illegal number" not in result.stderr
    assert image.outcome(state) == started.outcome


def test_an_agent_whose_answer_is_lost_is_not_taken_for_one_without_the_question(server: Server) -> None:
    case = runs.case(server, "install", "legacy", False)[0]
    asked = 0

    def fails(call: Call) -> bool:
        nonlocal asked
        asked += call.path == f"{STAGING_DIR}/answer" and call.name == "write"
        return call.path == f"{STAGING_DIR}/answer" and call.name == "write" and asked == 4

    result, state = run(server, case, fails)
    assert (result.code, asked) == (6, 4), result.stderr
    assert "when asked for 'host-root --canonical'" in result.stderr
    assert "/opt/unbounded" not in state


def test_a_mark_that_cannot_be_made_is_an_error_with_its_line(server: Server) -> None:
    case = runs.case(server, "install", "plain", False)[0]
    result, state = run(server, case, lambda call: call.path.endswith("/made-state-directory"))
    assert result.code == 7
    assert result.stderr.endswith("[E_STATE]\n")
    assert invariants.split_litter(state)[0] == []


def test_staging_that_cannot_be_removed_is_named(server: Server) -> None:
    case = runs.case(server, "install", "installed", False)[0]
    result, state = run(server, case, lambda call: call.name == "unlinkat" and call.path == STAGING_DIR)
    assert result.code == 0
    assert f"install: warning: {STAGING_DIR} is left: Input/output error\n" in result.stderr
    assert STAGING_DIR in state
