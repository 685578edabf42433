"""Reset on a tree: what goes, what stays, in which order, and that a failure stops nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyhelpers import contract
from pyhelpers.agent import layout, machines, reset, state, units
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.steps import run_all
from pyhelpers.host import Completed, Mount
from pyhelpers.rooted import RecordingHost
from pyhelpers.tree import compare, snapshot

ROOT, LEGACY = contract.HOST_ROOT, contract.LEGACY_ROOT
WANTS = f"{contract.UNIT_DIR}/multi-user.target.wants"


@pytest.fixture
def joined(host: RecordingHost, install: Callable[..., None], config: Callable[..., str]) -> RecordingHost:
    """A host on which start has made everything; systemd's own part is done by hand."""
    install()
    layout.ensure(host, ROOT)
    units.converge(host, ROOT, config(), arc=False)
    host.make_directory(WANTS)
    host.link(f"{WANTS}/{contract.AGENT_UNIT}", units.path(contract.AGENT_UNIT))
    state.write(host, {"state": "ready"})
    host.make_directory(contract.LOG_DIR)
    host.write(f"{contract.LOG_DIR}/agent.log", b"")
    host.events.clear()
    return host


def commands(host: RecordingHost) -> list[str]:
    return [words for action, words in host.events if action == "run"]


def test_after_reset_only_the_binaries_are_left(
    host: RecordingHost, install: Callable[..., None], tmp_path: Path
) -> None:
    install()
    layout.ensure(host, ROOT)
    before = snapshot(tmp_path)
    units.converge(host, ROOT, contract.CONFIG_PATH, arc=False)
    host.make_directory(contract.CONFIG_DIR)
    state.write(host, {"state": "ready"})
    host.make_directory(WANTS)
    host.link(f"{WANTS}/{contract.AGENT_UNIT}", units.path(contract.AGENT_UNIT))
    reset.run(host)
    assert [str(change) for change in compare(before, snapshot(tmp_path))] == []


def test_reset_again_changes_nothing(joined: RecordingHost) -> None:
    reset.run(joined)
    joined.events.clear()
    reset.run(joined)
    assert [event for event in joined.events if event[0] != "run"] == []


def test_reset_of_a_bare_host_changes_nothing(host: RecordingHost) -> None:
    reset.run(host)
    assert [event for event in host.events if event[0] != "run"] == []


def test_the_first_boot_unit_is_disabled_and_removed_before_the_agent_is_stopped(joined: RecordingHost) -> None:
    first = units.path(contract.FIRST_BOOT_UNIT)
    joined.write(first, b"[Unit]\n")
    joined.events.clear()
    reset.run(joined)
    order = [
        ("run", f"systemctl disable --now -- {contract.FIRST_BOOT_UNIT}"),
        ("unlink", first),
        ("run", f"systemctl disable --now -- {contract.AGENT_UNIT}"),
        ("unlink", units.path(contract.AGENT_UNIT)),
    ]
    assert [event for event in joined.events if event in order] == order


def test_a_first_boot_unit_that_is_not_there_is_neither_disabled_nor_stopped(joined: RecordingHost) -> None:
    reset.run(joined)
    said = [c for c in commands(joined) if contract.FIRST_BOOT_UNIT in c]
    assert said == [f"systemctl show --property=ActiveState -- {contract.FIRST_BOOT_UNIT}"]


@pytest.mark.parametrize("target", ["/dev/null", "/gone"])
def test_a_masked_or_dangling_unit_that_still_runs_is_stopped_and_its_link_goes(
    joined: RecordingHost, target: str
) -> None:
    joined.link(units.path(contract.AGENT_UNIT), target)
    joined.link(f"/run/systemd/system/{contract.AGENT_UNIT}", "/dev/null")
    joined.answers["systemctl show"] = Completed((), 0, "ActiveState=active\n")
    reset.run(joined)
    assert f"systemctl stop -- {contract.AGENT_UNIT}" in commands(joined)
    assert not joined.present(units.path(contract.AGENT_UNIT))
    assert joined.names("/run/systemd/system") == []


def test_the_configuration_goes_last_but_for_attempt_and_root(joined: RecordingHost) -> None:
    names = [name for name, _ in reset.reset_node()]
    assert names[-3:] == ["configuration", "start attempt", "host root"]


@pytest.mark.parametrize(
    "path",
    [
        f"{LEGACY}/lib/aks-flex-node/aks-flex-node-recovery.sh",
        f"{ROOT}/bin/unbounded-agent-nspawn-lifecycle",
        f"{LEGACY}/bin/unbounded-agent-nspawn-lifecycle",
        f"{ROOT}/libexec/unbounded-localdns-network",
        f"{LEGACY}/libexec/unbounded-localdns-network",
        "/etc/wireguard/server.priv",
        "/etc/wireguard/server.pub",
        contract.UPGRADE_SIGNAL,
        contract.START_ATTEMPT,
        units.path(contract.RECOVERY_UNIT),
    ],
)
def test_every_file_of_an_earlier_life_goes(joined: RecordingHost, path: str) -> None:
    joined.make_directory(path.rpartition("/")[0])
    joined.write(path, b"old")
    reset.run(joined)
    assert not joined.present(path)


def test_the_journal_stays_for_uninstall(joined: RecordingHost) -> None:
    joined.make_directory(contract.STATE_DIR)
    joined.write(contract.JOURNAL, b"flexnode-journal 1 /opt/unbounded\n")
    reset.run(joined)
    assert joined.present(contract.JOURNAL)


def test_a_unit_that_does_not_stop_fails_the_reset_but_all_else_is_done(joined: RecordingHost) -> None:
    joined.answers[f"systemctl disable --now -- {contract.AGENT_UNIT}"] = Completed((), 1, "", "Job failed")
    with pytest.raises(AgentError, match=r"reset is not complete: agent unit: .*Job failed"):
        reset.run(joined)
    assert joined.present(units.path(contract.AGENT_UNIT))
    assert not joined.present(contract.CONFIG_DIR)


def test_every_failure_is_told_at_the_end(host: RecordingHost) -> None:
    def fails(_: object) -> None:
        raise OSError("first")

    with pytest.raises(AgentError, match="a: first; b: second; b: third"):
        run_all(host, [("a", fails), ("b", lambda _: ["second", "third"]), ("c", lambda _: None)])


def test_a_directory_with_a_unit_s_wants_links_of_others_stays(joined: RecordingHost) -> None:
    joined.link(f"{WANTS}/ssh.service", "/lib/systemd/system/ssh.service")
    reset.run(joined)
    assert joined.names(WANTS) == ["ssh.service"]


def test_a_config_directory_that_is_a_mount_point_is_emptied_and_that_is_enough(joined: RecordingHost) -> None:
    joined.mounted = [Mount(contract.CONFIG_DIR, "tmpfs")]
    reset.run(joined)
    assert joined.names(contract.CONFIG_DIR) == []
    assert joined.is_directory(contract.CONFIG_DIR)


def test_a_mount_below_the_config_directory_stays_and_is_named(joined: RecordingHost) -> None:
    inner = f"{contract.CONFIG_DIR}/credentials/mounted"
    joined.make_directory(inner)
    joined.write(f"{inner}/theirs", b"x")
    joined.mounted = [Mount(inner, "nfs")]
    with pytest.raises(AgentError, match=f"configuration: {inner} is a mount point and stays"):
        reset.run(joined)
    assert joined.read(f"{inner}/theirs") == b"x"
    assert not joined.present(contract.CONFIG_PATH)


def test_a_link_in_the_config_directory_is_removed_and_not_followed(joined: RecordingHost) -> None:
    joined.make_directory("/srv/theirs")
    joined.write("/srv/theirs/file", b"x")
    joined.link(f"{contract.CONFIG_DIR}/link", "/srv/theirs")
    reset.run(joined)
    assert joined.read("/srv/theirs/file") == b"x"


def test_a_config_directory_that_is_a_link_loses_the_link_only(host: RecordingHost) -> None:
    host.make_directory("/srv/config")
    host.write("/srv/config/file", b"x")
    host.link(contract.CONFIG_DIR, "/srv/config")
    reset.run(host)
    assert not host.present(contract.CONFIG_DIR)
    assert host.read("/srv/config/file") == b"x"


def test_the_link_of_a_linked_host_goes_and_its_agent_stays(host: RecordingHost, install: Callable[..., None]) -> None:
    install(LEGACY)
    host.link(ROOT, LEGACY)
    layout.ensure(host, LEGACY)
    reset.run(host)
    assert not host.present(ROOT)
    assert host.is_executable(f"{LEGACY}/bin/aks-flex-node")


# --- machines ---------------------------------------------------------------------------------------------------
def machine(host: RecordingHost) -> None:
    for path in ("/var/lib/machines/kube1/usr/bin", f"{contract.UNIT_DIR}/systemd-nspawn@kube1.service.d"):
        host.make_directory(path)
        host.write(f"{path}/file", b"")
    for path in ("/etc/systemd/nspawn/kube1.nspawn", "/etc/unbounded/agent/kube1-applied-config.json"):
        host.make_directory(path.rpartition("/")[0])
        host.write(path, b"")
    host.tools.add("machinectl")
    host.events.clear()


def test_a_machine_goes_with_all_its_files(host: RecordingHost, tmp_path: Path) -> None:
    host.make_directory("/var/lib/machines")
    host.make_directory("/etc/systemd/nspawn")
    before = snapshot(tmp_path)
    machine(host)
    run_all(host, machines.steps())
    assert [str(change) for change in compare(before, snapshot(tmp_path))] == []
    assert "machinectl remove kube1" in commands(host)


def test_a_machine_that_is_not_there_costs_no_command(host: RecordingHost) -> None:
    run_all(host, machines.steps())
    assert host.events == []


def test_a_machine_that_does_not_stop_is_terminated_and_then_named(host: RecordingHost) -> None:
    machine(host)
    host.answers["systemctl is-active"] = Completed((), 0, "active\n")
    with pytest.raises(AgentError, match=r"systemd-nspawn@kube1.service does not stop"):
        run_all(host, machines.steps())
    said = [c for c in commands(host) if "is-active" not in c]
    assert said[:2] == ["systemctl stop -- systemd-nspawn@kube1.service", "machinectl terminate kube1"]


def test_bpf_file_systems_of_our_machines_are_unmounted_and_no_others(host: RecordingHost) -> None:
    host.mounted = [Mount("/sys/fs/bpf", "bpf"), Mount("/run/bpffs/kube2", "bpf"), Mount("/srv/kube1", "ext4")]
    run_all(host, machines.steps())
    assert commands(host) == ["umount -- /run/bpffs/kube2"]
