"""The blue/green layout: what it is made from, and that it is right whenever it is cut short."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent import layout
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.layout import Layout
from pyhelpers.rooted import RecordingHost, RootedHost

ROOT = contract.HOST_ROOT
PATHS = Layout(ROOT)
BLUE, GREEN = PATHS.slots
Install = Callable[..., None]


def put(host: RecordingHost, path: str, content: bytes) -> None:
    host.make_directory(path.rpartition("/")[0])
    host.write(path, content, 0o755)


def test_a_plain_binary_is_copied_to_blue_and_everything_leads_there(host: RecordingHost, install: Install) -> None:
    install(content=b"agent")
    assert layout.ensure(host, ROOT) == "blue"
    assert host.read(BLUE) == b"agent"
    assert (host.link_target(PATHS.binary), host.link_target(PATHS.current)) == (PATHS.current, BLUE)
    assert host.link_target(PATHS.last_good) == BLUE
    assert host.real(BLUE).stat().st_mode & 0o7777 == 0o755


def test_a_complete_layout_is_left_alone(host: RecordingHost, install: Install) -> None:
    install()
    layout.ensure(host, ROOT)
    host.events.clear()
    assert layout.ensure(host, ROOT) == "blue"
    assert host.events == []


def test_without_a_binary_the_first_executable_slot_is_taken(host: RecordingHost) -> None:
    put(host, GREEN, b"green")
    assert layout.ensure(host, ROOT) == "green"
    assert host.link_target(PATHS.last_good) == GREEN


def test_a_current_that_dangles_falls_back_to_last_good(host: RecordingHost) -> None:
    put(host, BLUE, b"old")
    put(host, GREEN, b"good")
    host.link(PATHS.current, f"{PATHS.directory}/gone")
    host.link(PATHS.last_good, GREEN)
    assert layout.ensure(host, ROOT) == "green"


def test_a_plain_binary_beside_old_slots_is_the_agent_that_was_just_installed(
    host: RecordingHost, install: Install
) -> None:
    install(content=b"old")
    layout.ensure(host, ROOT)
    host.unlink(PATHS.binary)
    install(content=b"new")
    assert layout.ensure(host, ROOT) == "green"
    assert host.read(PATHS.binary) == b"new"
    assert host.read(PATHS.last_good) == b"new"
    assert host.read(BLUE) == b"old"


def test_active_and_last_good_of_an_upgrade_under_way_are_not_touched(host: RecordingHost, install: Install) -> None:
    install(content=b"old")
    layout.ensure(host, ROOT)
    put(host, GREEN, b"new")
    host.link(PATHS.current, GREEN)
    host.events.clear()
    assert layout.ensure(host, ROOT) == "green"
    assert host.events == []


def test_where_the_root_has_no_agent_the_running_one_is_taken(host: RecordingHost) -> None:
    put(host, "/srv/bin/agent", b"running")
    assert layout.ensure(host, ROOT, "/srv/bin/agent") == "blue"
    assert host.read(PATHS.binary) == b"running"


def test_no_agent_at_all_is_an_error(host: RecordingHost) -> None:
    with pytest.raises(AgentError, match="no executable agent at /opt/unbounded/bin/aks-flex-node"):
        layout.ensure(host, ROOT)


def test_entries_that_are_not_known_are_kept(host: RecordingHost, install: Install) -> None:
    install()
    put(host, f"{PATHS.directory}/aks-flex-node-purple", b"from a later version")
    put(host, f"{PATHS.directory}/notes", b"theirs")
    layout.ensure(host, ROOT)
    assert host.read(f"{PATHS.directory}/aks-flex-node-purple") == b"from a later version"
    assert host.read(f"{PATHS.directory}/notes") == b"theirs"


def test_a_link_at_the_binary_s_path_that_leads_elsewhere_is_refused(host: RecordingHost) -> None:
    put(host, "/srv/agent", b"theirs")
    host.make_directory(f"{ROOT}/bin")
    host.link(PATHS.binary, "/srv/agent")
    with pytest.raises(AgentError, match="no slot of ours"):
        layout.ensure(host, ROOT)
    assert host.link_target(PATHS.binary) == "/srv/agent"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a file away")
def test_an_agent_that_is_not_root_s_is_refused(host: RecordingHost, install: Install) -> None:
    install()
    os.chown(host.real(PATHS.binary), 1234, 1234)
    with pytest.raises(AgentError, match=r"belongs to user id 1234.*chown root:root"):
        layout.ensure(host, ROOT)


def test_on_a_linked_host_the_layout_is_below_the_legacy_root(host: RecordingHost, install: Install) -> None:
    install("/usr/local")
    host.link(ROOT, "/usr/local")
    layout.ensure(host, "/usr/local")
    assert host.link_target("/usr/local/bin/aks-flex-node") == "/usr/local/lib/aks-flex-node/aks-flex-node-current"


@pytest.mark.parametrize("old", ["fresh", "stale slots"])
def test_cut_short_before_any_change_the_agent_is_complete_and_the_next_run_finishes(tmp_path: Path, old: str) -> None:
    cuts = 0
    while True:
        place = tmp_path / str(cuts)
        host = RecordingHost(place)
        place.mkdir()
        if old == "stale slots":
            put(host, PATHS.binary, b"old")
            layout.ensure(host, ROOT)
            host.unlink(PATHS.binary)
        put(host, PATHS.binary, b"agent")
        had_last_good = host.is_executable(PATHS.last_good)
        host.events.clear()
        host.stop_before = cuts
        try:
            layout.ensure(host, ROOT)
        except KeyboardInterrupt:
            _is_right_after_a_cut(RootedHost(place), had_last_good)
            cuts += 1
            continue
        break
    assert cuts >= 5


def _is_right_after_a_cut(host: RootedHost, had_last_good: bool) -> None:
    assert host.read(PATHS.binary) == b"agent"
    assert host.is_executable(PATHS.binary)
    assert host.is_executable(PATHS.last_good) or not had_last_good
    layout.ensure(host, ROOT)
    for path in (PATHS.binary, PATHS.current, PATHS.last_good):
        assert host.read(path) == b"agent"
    for directory in (f"{ROOT}/bin", PATHS.directory):
        assert not [name for name in host.names(directory) if name.startswith(".")]
