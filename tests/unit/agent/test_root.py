"""The host root: what it is, the linking table row by row, made and removed."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent import find, root
from pyhelpers.agent.failure import AgentError
from pyhelpers.rooted import RecordingHost, RootedHost

ROOT, LEGACY = contract.HOST_ROOT, contract.LEGACY_ROOT
Install = Callable[..., None]


def mark(host: RecordingHost, where: str, marker: str = "bin/aks-flex-node") -> None:
    host.make_directory(f"{where}/{marker}".rpartition("/")[0])
    host.link(f"{where}/{marker}", "/nowhere")
    host.events.clear()


# --- resolving --------------------------------------------------------------------------------------------------
def test_resolving_follows_links_in_the_part_that_exists_and_appends_the_rest(host: RecordingHost) -> None:
    host.make_directory("/var/opt")
    host.remove_directory("/opt")
    host.link("/opt", "/var/opt")
    assert find.resolve(host, "/opt/unbounded/bin") == "/var/opt/unbounded/bin"


def test_resolving_keeps_a_dangling_link_as_it_is(host: RecordingHost) -> None:
    host.link("/opt/unbounded", "/data/not-mounted")
    assert find.resolve(host, "/opt/unbounded/bin") == "/opt/unbounded/bin"


def test_a_dangling_link_is_a_marker_and_a_helper_is_none(host: RecordingHost) -> None:
    mark(host, LEGACY, "lib/aks-flex-node/aks-flex-node-last-good")
    mark(host, LEGACY, "libexec/unbounded-localdns-network")
    mark(host, LEGACY, "lib/aks-flex-node/aks-flex-node-recovery.sh")
    assert find.markers(host, LEGACY) == ["lib/aks-flex-node/aks-flex-node-last-good"]


# --- the planned root -------------------------------------------------------------------------------------------
def test_on_a_fresh_host_the_host_root_is_planned(host: RecordingHost) -> None:
    assert find.root(host) == ROOT


def test_where_an_earlier_release_lives_its_root_is_planned(host: RecordingHost) -> None:
    mark(host, LEGACY)
    assert find.root(host) == LEGACY


def test_a_link_to_an_empty_legacy_root_plans_the_host_root_itself(host: RecordingHost) -> None:
    host.link(ROOT, LEGACY)
    assert find.root(host) == ROOT


def test_a_linked_host_plans_the_legacy_root(host: RecordingHost) -> None:
    host.link(ROOT, LEGACY)
    mark(host, LEGACY)
    assert find.root(host) == LEGACY


def test_a_link_to_elsewhere_is_resolved(host: RecordingHost) -> None:
    host.make_directory("/data/flex")
    host.link(ROOT, "/data/flex")
    assert find.root(host) == "/data/flex"


@pytest.mark.parametrize("state", ["fresh", "legacy", "linked", "stale link", "elsewhere"])
def test_what_is_planned_is_what_linking_leads_to_and_planning_changes_nothing(host: RecordingHost, state: str) -> None:
    if state in ("legacy", "linked"):
        mark(host, LEGACY)
    if state in ("linked", "stale link"):
        host.link(ROOT, LEGACY)
    if state == "elsewhere":
        host.make_directory("/data/flex")
        host.link(ROOT, "/data/flex")
    host.events.clear()
    planned = find.root(host)
    assert host.events == []
    root.link(host)
    root.prepare(host)
    assert find.resolve(host, ROOT) == planned


# --- the linking table ------------------------------------------------------------------------------------------
def test_no_root_and_an_earlier_release_gives_the_link(host: RecordingHost) -> None:
    mark(host, LEGACY)
    root.link(host)
    assert host.link_target(ROOT) == LEGACY
    assert host.events == [("link", ROOT)]


def test_no_root_and_no_earlier_release_gives_nothing(host: RecordingHost) -> None:
    root.link(host)
    assert host.events == []


def test_a_link_with_no_release_behind_it_is_removed(host: RecordingHost) -> None:
    host.link(ROOT, LEGACY)
    root.link(host)
    assert not host.present(ROOT)
    assert host.is_directory(LEGACY)


def test_a_link_with_a_release_behind_it_stays(host: RecordingHost) -> None:
    mark(host, LEGACY)
    host.link(ROOT, LEGACY)
    host.events.clear()
    root.link(host)
    assert host.events == []


@pytest.mark.parametrize("target", ["/data/flex", "/usr/local/", "../usr/local"])
def test_a_link_to_elsewhere_is_left_alone(host: RecordingHost, target: str) -> None:
    host.link(ROOT, target)
    host.events.clear()
    root.link(host)
    assert host.events == []


def test_a_file_at_the_root_is_an_error(host: RecordingHost) -> None:
    host.write(ROOT, b"")
    with pytest.raises(AgentError, match="neither a directory nor a link"):
        root.link(host)


def test_an_agent_under_both_roots_is_an_error_with_its_remedy(host: RecordingHost) -> None:
    mark(host, ROOT)
    mark(host, LEGACY)
    with pytest.raises(AgentError, match=r"under both .* run reset, then install again"):
        root.link(host)
    assert host.events == []


def test_a_directory_in_the_way_of_the_link_is_an_error_naming_both_remedies(host: RecordingHost) -> None:
    host.make_directory(ROOT)
    mark(host, LEGACY)
    with pytest.raises(AgentError, match=r"remove /opt/unbounded .* or run reset and remove the agent"):
        root.link(host)


def test_a_directory_and_no_earlier_release_is_left_alone(host: RecordingHost) -> None:
    mark(host, ROOT)
    root.link(host)
    assert host.events == []


def test_linking_again_changes_nothing(host: RecordingHost) -> None:
    mark(host, LEGACY)
    root.link(host)
    host.events.clear()
    root.link(host)
    assert host.events == []


def test_many_that_link_at_once_agree_and_leave_no_temporary_name(host: RecordingHost, tmp_path: Path) -> None:
    mark(host, LEGACY)
    errors: list[BaseException] = []

    def link() -> None:
        try:
            root.link(RootedHost(tmp_path))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=link) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert host.names("/opt") == ["unbounded"]
    assert host.link_target(ROOT) == LEGACY


# --- making -----------------------------------------------------------------------------------------------------
def test_the_root_is_made_0755_whatever_the_umask_and_existing_modes_are_kept(host: RecordingHost) -> None:
    host.make_directory(ROOT, 0o711)
    before = os.umask(0o077)
    try:
        made = root.prepare(host)
    finally:
        os.umask(before)
    assert made == [f"{ROOT}/bin", f"{ROOT}/lib", f"{ROOT}/lib/aks-flex-node", f"{ROOT}/libexec"]
    modes = [stat.S_IMODE(host.real(p).stat().st_mode) for p in (ROOT, *made)]
    assert modes == [0o711, 0o755, 0o755, 0o755, 0o755]


def test_nothing_is_made_on_a_linked_host(host: RecordingHost) -> None:
    mark(host, LEGACY)
    host.link(ROOT, LEGACY)
    assert root.prepare(host) == []
    assert host.names(LEGACY) == ["bin", "lib"]


def test_a_root_that_is_a_link_to_nothing_is_an_error_that_says_so(host: RecordingHost) -> None:
    host.link(ROOT, "/data/not-mounted")
    with pytest.raises(AgentError, match="a link to /data/not-mounted, which does not exist"):
        root.prepare(host)


def test_a_file_where_a_directory_belongs_is_an_error(host: RecordingHost) -> None:
    host.make_directory(ROOT)
    host.write(f"{ROOT}/bin", b"")
    with pytest.raises(AgentError, match="/opt/unbounded/bin is not a directory"):
        root.prepare(host)


def test_labels_are_set_on_exactly_what_was_made_where_selinux_is_on(host: RecordingHost) -> None:
    host.make_directory("/sys/fs/selinux")
    host.write("/sys/fs/selinux/enforce", b"0")
    host.make_directory(f"{ROOT}/bin")
    root.prepare(host)
    assert host.events[-1] == ("run", f"restorecon {ROOT}/lib {ROOT}/lib/aks-flex-node {ROOT}/libexec")


def test_no_label_is_set_where_selinux_is_off(host: RecordingHost) -> None:
    root.prepare(host)
    assert not [event for event in host.events if event[0] == "run"]


# --- removing ---------------------------------------------------------------------------------------------------
def test_the_link_to_the_legacy_root_is_removed_and_what_it_leads_to_stays(
    host: RecordingHost, install: Install
) -> None:
    install(LEGACY)
    host.link(ROOT, LEGACY)
    assert root.remove(host).removed
    assert not host.present(ROOT)
    assert find.markers(host, LEGACY)


def test_a_link_to_elsewhere_is_not_removed(host: RecordingHost) -> None:
    host.link(ROOT, "/usr/local/")
    assert not root.remove(host).removed
    assert host.link_target(ROOT) == "/usr/local/"


def test_an_empty_root_goes_with_its_directories(host: RecordingHost) -> None:
    root.prepare(host)
    assert root.remove(host).removed
    assert host.names("/opt") == []


def test_a_root_that_holds_something_stays_as_it_is_and_says_what_it_holds(host: RecordingHost) -> None:
    root.prepare(host)
    host.write(f"{ROOT}/libexec/theirs", b"")
    host.write(f"{ROOT}/note", b"")
    removal = root.remove(host)
    assert not removal.removed
    assert removal.held == [f"{ROOT}/libexec/theirs", f"{ROOT}/note"]
    assert host.is_directory(f"{ROOT}/bin")


def test_removing_a_root_that_is_not_there_does_nothing(host: RecordingHost) -> None:
    assert not root.remove(host).removed
    assert host.events == []
