"""What must hold of a host at every instant, each rule by a tree that keeps it and one that breaks it."""

from __future__ import annotations

import pytest

from pyhelpers import contract
from pyhelpers.sweep import invariants
from pyhelpers.sweep.image import Image, Node
from tests.unit.sweep.trees import (
    AGENTS,
    BLUE,
    CURRENT,
    HOST_AGENT,
    LEGACY_AGENT,
    RECORDS,
    agent,
    file,
    folder,
    journal,
    link,
)  # fmt: skip

LAYOUT = {BLUE: agent(), CURRENT: link("aks-flex-node-blue"), HOST_AGENT: link(CURRENT)}
LINKED = {contract.HOST_ROOT: link(contract.LEGACY_ROOT), LEGACY_AGENT: agent()}
TEMPORARY = f"/opt/{contract.TEMP_PREFIX}probe"


def said(image: Image) -> str:
    return "; ".join(invariants.broken(image, AGENTS))


@pytest.mark.parametrize("image", [{}, {HOST_AGENT: agent()}, LAYOUT, LINKED], ids=["none", "file", "layout", "linked"])
def test_a_whole_agent_or_none_is_sound(image: dict[str, Node | None]) -> None:
    assert said(image) == ""


def test_an_agent_is_reached_through_links_and_a_linked_root() -> None:
    assert invariants.reachable(LAYOUT, AGENTS) == {HOST_AGENT}
    assert invariants.reachable(LINKED, AGENTS) == {HOST_AGENT, LEGACY_AGENT}


@pytest.mark.parametrize("data, mode", [(b"on", 0o755), (b"", 0o755), (b"one", 0o644)])
def test_half_an_agent_or_one_that_cannot_be_run_is_told(data: bytes, mode: int) -> None:
    assert "no complete executable agent" in said({HOST_AGENT: file(data, mode)})
    assert "no complete executable agent" in said(LAYOUT | {BLUE: file(data, mode)})


def test_a_link_without_what_it_leads_to_is_told() -> None:
    assert f"{HOST_AGENT} is a dangling link" in said({HOST_AGENT: link(CURRENT)})
    assert f"{CURRENT} is a dangling link" in said({CURRENT: link("aks-flex-node-blue")})


def test_links_in_a_circle_lead_nowhere() -> None:
    assert invariants.reachable({HOST_AGENT: link(CURRENT), CURRENT: link(HOST_AGENT)}, AGENTS) == set()


@pytest.mark.parametrize("end", [b"", b"d", b"don", b"done", b"done\n"])
def test_a_journal_may_be_torn_in_its_last_word_only(end: bytes) -> None:
    assert said({contract.JOURNAL: journal(end)}) == ""


@pytest.mark.parametrize("data", [b"", RECORDS[:40], RECORDS + b"befo", RECORDS + b"?\n"])
def test_any_other_torn_journal_is_told(data: bytes) -> None:
    assert "is torn" in said({contract.JOURNAL: file(data, 0o600)})


def test_secrets_that_others_can_read_are_told() -> None:
    assert "mode 0640" in said({contract.CONFIG_PATH: file(b"{}", 0o640)})
    assert said({contract.CONFIG_PATH: file(b"{}", 0o600)}) == ""


def test_an_agent_that_was_there_must_stay_there() -> None:
    before = invariants.reachable(LINKED, AGENTS)
    assert list(invariants.lost(before, LINKED | {LEGACY_AGENT: agent(b"two")}, AGENTS)) == []
    assert list(invariants.lost(before, {LEGACY_AGENT: agent()}, AGENTS)) == [
        f"{HOST_AGENT} was an agent and is none now"
    ]


def test_no_change_is_made_without_a_journal() -> None:
    changed: dict[str, Node | None] = {contract.HOST_ROOT: folder()}
    assert list(invariants.unrecorded({}, changed)) == [f"{contract.HOST_ROOT} is there and there is no journal"]
    assert list(invariants.unrecorded({}, changed | {contract.JOURNAL: journal()})) == []
    assert list(invariants.unrecorded(changed, changed)) == [], "it was there before us"


def test_a_state_directory_says_whose_it_is() -> None:
    state: dict[str, Node | None] = {contract.STATE_DIR: folder()}
    assert "whose it is" in "".join(invariants.unrecorded({}, state))
    assert list(invariants.unrecorded({}, state | {invariants.MARK: file()})) == []


def test_what_a_run_makes_for_a_moment_is_told_from_the_rest() -> None:
    staged = f"{contract.STAGING_DIR}/archive.tar"
    kept = {HOST_AGENT: agent()}
    assert invariants.split_litter({TEMPORARY: file(), staged: file(), **kept}) == ([TEMPORARY, staged], kept)
