"""What uninstall.sh removes, and what it must keep."""

from __future__ import annotations

import pytest

from pyhelpers.sandbox import Box
from tests.scripts.uninstall import CONFIG, LEGACY, LOGS, ROOT, STATE, WANTS, Uninstall

PREDATES_HOST_ROOT = 'echo "Command execution failed: unknown command" >&2; exit 1'  # a release that knows no host-root


@pytest.fixture
def host(box: Box) -> Uninstall:
    return Uninstall(box)


def test_after_install_and_uninstall_the_tree_is_identical(host: Uninstall) -> None:
    host.install()
    assert host.diff() != []
    host.run("--yes")
    assert host.diff() == []


def test_after_a_legacy_install_and_uninstall_the_tree_is_identical(host: Uninstall) -> None:
    host.install(PREDATES_HOST_ROOT)
    assert host.exists(f"{LEGACY}/bin/aks-flex-node")
    host.run("--yes")
    assert host.diff() == []


def test_after_an_install_over_a_legacy_one_the_link_goes_too(host: Uninstall) -> None:
    host.install(PREDATES_HOST_ROOT)
    host.sh(f"ln -s {LEGACY} {ROOT}")
    host.run("--yes")
    assert host.diff() == []


def test_a_second_run_finds_nothing_to_do(host: Uninstall) -> None:
    host.install()
    host.run("--yes")
    assert "nothing to do" in host.run("--yes").stderr
    assert host.diff() == []


def test_a_host_without_an_agent_is_left_alone(host: Uninstall) -> None:
    assert "nothing to do" in host.run("--yes").stderr
    assert host.diff() == []


def test_slots_links_scripts_and_helpers_go(host: Uninstall) -> None:
    host.put_layout()
    host.put_units()
    host.run("--yes")
    assert not host.exists(ROOT)


def test_both_roots_are_swept(host: Uninstall) -> None:
    host.sh(f"mkdir -p {LEGACY}/libexec; touch {LEGACY}/libexec/mine")
    before = host.changes()
    host.put_layout(ROOT)
    host.put_layout(LEGACY)
    host.run("--yes")
    assert host.changes() == before


def test_a_dangling_binary_link_goes(host: Uninstall) -> None:
    host.sh(f"mkdir -p {ROOT}/bin; ln -s {ROOT}/lib/aks-flex-node/aks-flex-node-current {ROOT}/bin/aks-flex-node")
    host.run("--yes")
    assert host.diff() == []


def test_the_root_of_later_releases_is_swept_and_foreign_files_there_stay(host: Uninstall) -> None:
    host.put_layout(f"{ROOT}/agent")
    host.put(f"{ROOT}/staged-by-the-host")
    result = host.run("--yes")
    assert [c.path for c in host.changes()] == [ROOT, f"{ROOT}/staged-by-the-host"]
    assert f"kept {ROOT}/staged-by-the-host" in result.stderr


def test_a_foreign_file_in_the_root_is_kept_and_named_k3s_5028(host: Uninstall) -> None:
    host.put_layout()
    host.put(f"{ROOT}/bin/tool", b"mine")
    result = host.run("--yes")
    assert [c.path for c in host.changes()] == [ROOT, f"{ROOT}/bin", f"{ROOT}/bin/tool"]
    assert f"kept {ROOT}/bin/tool: not ours" in result.stderr
    assert host.box.read(f"{ROOT}/bin/tool") == b"mine"


def test_an_unknown_entry_among_the_slots_is_kept_and_named(host: Uninstall) -> None:
    host.put_layout()
    host.put(f"{ROOT}/lib/aks-flex-node/aks-flex-node-violet")
    result = host.run("--yes")
    assert f"kept {ROOT}/lib/aks-flex-node/aks-flex-node-violet: not ours" in result.stderr
    assert host.exists(f"{ROOT}/lib/aks-flex-node/aks-flex-node-violet")
    assert not host.exists(f"{ROOT}/lib/aks-flex-node/aks-flex-node-blue")


def test_an_empty_direct_subdirectory_does_not_hold_the_root(host: Uninstall) -> None:
    host.put_agent()
    host.sh(f"mkdir {ROOT}/empty")
    host.run("--yes")
    assert host.diff() == []


def test_an_empty_foreign_directory_stays_when_the_root_stays(host: Uninstall) -> None:
    host.put_agent()
    host.sh(f"mkdir {ROOT}/empty; touch {ROOT}/file")
    host.run("--yes")
    assert host.exists(f"{ROOT}/empty")
    assert host.exists(f"{ROOT}/file")


def test_a_host_root_that_is_a_link_elsewhere_stays_and_its_layout_goes(host: Uninstall) -> None:
    host.sh(f"mkdir -p /srv/agent; ln -s /srv/agent {ROOT}")
    host.put_layout("/srv/agent")
    host.run("--yes")
    assert host.sh(f"readlink {ROOT}").strip() == "/srv/agent"
    assert host.sh("ls -A /srv/agent") == ""


def test_a_binary_link_to_elsewhere_is_kept_named_and_never_run(host: Uninstall) -> None:
    host.put("/srv/other", b"#!/bin/sh\ntouch /tmp/ran\n", 0o755)
    host.sh(f"mkdir -p {CONFIG}; touch {CONFIG}/config.json; ln -s /srv/other {LEGACY}/bin/aks-flex-node")
    result = host.run("--yes")
    assert f"kept {LEGACY}/bin/aks-flex-node: a link that is not ours" in result.stderr
    assert host.exists(f"{LEGACY}/bin/aks-flex-node")
    assert not host.exists("/tmp/ran")


def test_a_directory_where_the_binary_should_be_is_kept(host: Uninstall) -> None:
    host.put(f"{ROOT}/bin/aks-flex-node/data")
    host.put(f"{ROOT}/lib/aks-flex-node/aks-flex-node-blue")
    host.run("--yes")
    assert host.exists(f"{ROOT}/bin/aks-flex-node/data")


def test_our_own_directories_go_whole(host: Uninstall) -> None:
    host.put_agent(reset="exit 0")
    for path in (f"{CONFIG}/mine/a file", f"{STATE}/operations/.hidden", f"{LOGS}/agent.log"):
        host.put(path)
    host.run("--yes")
    assert host.diff() == []


def test_data_without_any_agent_goes(host: Uninstall) -> None:
    host.put(f"{CONFIG}/config.json")
    host.run("--yes")
    assert host.diff() == []


def test_an_empty_directory_of_ours_alone_is_no_trace_of_an_agent(host: Uninstall) -> None:
    host.sh(f"mkdir {CONFIG}")
    assert "nothing to do" in host.run("--yes").stderr
    assert host.exists(CONFIG)


def test_a_state_directory_that_a_killed_install_marked_goes(host: Uninstall) -> None:
    host.put(f"{STATE}/staging/made-state-directory")
    host.run("--yes")
    assert host.diff() == []


def test_a_state_directory_that_a_killed_install_found_is_only_emptied(host: Uninstall) -> None:
    host.put(f"{STATE}/staging/archive.tar.gz")
    host.run("--yes")
    assert [c.path for c in host.changes()] == [STATE]
    assert "nothing to do" in host.run("--yes").stderr


def test_directories_that_were_there_before_outlive_a_second_run(host: Uninstall) -> None:
    host.sh(f"mkdir -m 0750 {CONFIG} {STATE} {LOGS}")
    before = host.diff()
    host.install()
    host.run("--yes")
    assert host.diff() == before
    assert "nothing to do" in host.run("--yes").stderr
    assert host.diff() == before


@pytest.mark.parametrize(
    "name", ["/opt/.flexnode-probe", f"{ROOT}/bin/.flexnode-new.aks-flex-node", "/.flexnode-probe"]
)
def test_temporary_names_of_killed_runs_go(host: Uninstall, name: str) -> None:
    host.put(name)
    host.run("--yes")
    assert not host.exists(name)


def test_a_temporary_name_in_somebody_elses_directory_stays(host: Uninstall) -> None:
    host.put("/srv/.flexnode-probe")
    host.install()
    host.run("--yes")
    assert host.exists("/srv/.flexnode-probe")


def test_the_librarys_files_go_and_foreign_ones_beside_them_stay(host: Uninstall) -> None:
    host.put_agent()
    host.put("/etc/unbounded/agent/kube1-applied-config.json")
    host.put("/etc/unbounded/kube/nftables-clear.nft")
    host.put("/etc/unbounded/kube/mine")
    host.run("--yes")
    assert [c.path for c in host.changes()] == ["/etc/unbounded", "/etc/unbounded/kube", "/etc/unbounded/kube/mine"]


def test_a_log_directory_that_we_made_goes(host: Uninstall) -> None:
    host.put("/srv/flex/logs/agent.log")
    host.put_journal("before|absent|-|/srv/flex|-", "before|absent|-|/srv/flex/logs|-", logdir="/srv/flex/logs")
    host.run("--yes")
    assert host.diff() == []


def test_a_log_directory_that_was_there_before_is_kept_and_named(host: Uninstall) -> None:
    host.put("/srv/logs/others.log")
    host.put_journal("before|dir|0755|/srv/logs|0:0", logdir="/srv/logs")
    assert "kept /srv/logs: " in host.run("--yes").stderr
    assert host.exists("/srv/logs/others.log")


@pytest.mark.parametrize("directory", ["/var/log", "/", "/home", "relative", "/var/lib/../log", "/etc/systemd"])
def test_a_configured_log_directory_of_the_system_never_goes(host: Uninstall, directory: str) -> None:
    host.put(f"{CONFIG}/config.json", f'{{"agent": {{"logDir": "{directory}"}}}}'.encode())
    before = host.sh("ls -A /var/log /home /etc/systemd")
    host.run("--yes")
    assert host.sh("ls -A /var/log /home /etc/systemd") == before
    assert not host.exists(CONFIG)


def test_a_configured_log_directory_of_our_name_goes_without_a_journal(host: Uninstall) -> None:
    host.put(f"{CONFIG}/config.json", b'{"agent":{"logLevel":"info",\n  "logDir" : "/srv/flex-node-logs/"}}')
    host.put("/srv/flex-node-logs/agent.log")
    host.run("--yes")
    assert host.diff() == []


def test_a_config_elsewhere_goes_with_the_directory_made_for_it(host: Uninstall) -> None:
    host.put("/srv/conf/node.json", b"{}")
    host.put_journal("before|absent|-|/srv/conf|-", config="/srv/conf/node.json")
    host.run("--yes")
    assert host.diff() == []


def test_a_config_elsewhere_leaves_a_directory_with_other_files(host: Uninstall) -> None:
    host.put("/srv/conf/node.json", b"{}")
    host.put("/srv/conf/other")
    host.put_journal("before|absent|-|/srv/conf|-", config="/srv/conf/node.json")
    host.run("--yes")
    assert [c.path for c in host.changes()] == ["/srv/conf", "/srv/conf/other"]


def test_directories_that_were_there_before_come_back_as_they_were(host: Uninstall) -> None:
    host.sh(f"mkdir -m 0750 {CONFIG}; chown 7:8 {CONFIG}; mkdir -m 2775 {LOGS}; mkdir -p {ROOT}/bin; chmod 0711 {ROOT}")
    before = host.diff()
    host.install()
    host.run("--yes")
    assert host.diff() == before


def test_a_wants_directory_that_reset_removed_comes_back(host: Uninstall) -> None:
    host.sh(f"mv {WANTS} /tmp/wants; mkdir {WANTS}")
    before = host.diff()
    host.install()
    host.sh(f"rmdir {WANTS}")
    host.run("--yes")
    assert host.diff() == before


def test_keep_config_keeps_config_and_credentials_only(host: Uninstall) -> None:
    host.put_agent()
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    host.put(f"{CONFIG}/credentials/secret", b"s", 0o600)
    host.put(f"{CONFIG}/daemon-state.json")
    host.run("--yes", "--keep-config")
    assert host.resets() == [f"{ROOT}/bin/aks-flex-node reset"]
    kept = [CONFIG, f"{CONFIG}/config.json", f"{CONFIG}/credentials", f"{CONFIG}/credentials/secret"]
    assert [c.path for c in host.changes()] == kept
    assert host.sh(f"stat -c %a {CONFIG}/credentials/secret").strip() == "600"
    assert "nothing to do" in host.run("--yes", "--keep-config").stderr


def test_what_keep_config_parked_is_put_back_by_the_run_after_a_kill(host: Uninstall) -> None:
    host.put_agent()
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    host.put(f"{ROOT}/bin/aks-flex-node", host.box.read(f"{ROOT}/bin/aks-flex-node") + b"kill -9 $PPID\n", 0o755)
    host.run("--yes", "--keep-config", code=137)
    assert not host.exists(f"{CONFIG}/config.json")
    host.put_agent()
    host.run("--yes", "--keep-config")
    assert host.box.read(f"{CONFIG}/config.json") == b"{}"
    assert not host.exists(STATE)


def test_a_later_run_without_keep_config_removes_what_was_kept(host: Uninstall) -> None:
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    host.run("--yes", "--keep-config")
    assert host.exists(f"{CONFIG}/config.json")
    host.run("--yes")
    assert host.diff() == []
