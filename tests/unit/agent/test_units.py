"""Units of the agent: written in order, converged, found again by reset."""

from __future__ import annotations

import stat

import pytest

from pyhelpers import contract
from pyhelpers.agent import units
from pyhelpers.host import CommandError, Completed
from pyhelpers.rooted import RecordingHost

ROOT = contract.HOST_ROOT
SCRIPT = f"{ROOT}/lib/aks-flex-node/aks-flex-node-recovery.sh"


@pytest.fixture
def ready(host: RecordingHost) -> RecordingHost:
    host.make_directory(f"{ROOT}/lib/aks-flex-node")
    host.events.clear()
    return host


def test_they_are_written_in_the_order_script_recovery_unit_main_unit(ready: RecordingHost) -> None:
    assert units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    assert [path for action, path in ready.events if action == "rename"] == [
        SCRIPT,
        "/etc/systemd/system/aks-flex-node-agent-recovery.service",
        "/etc/systemd/system/aks-flex-node-agent.service",
    ]


def test_the_script_is_0750_and_the_units_are_0644(ready: RecordingHost) -> None:
    units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    paths = (SCRIPT, units.path(contract.RECOVERY_UNIT), units.path(contract.AGENT_UNIT))
    assert [stat.S_IMODE(ready.real(p).stat().st_mode) for p in paths] == [0o750, 0o644, 0o644]


def test_converging_again_writes_nothing(ready: RecordingHost) -> None:
    units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    ready.events.clear()
    assert not units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    assert ready.events == []


def test_an_older_unit_a_wrong_mode_and_a_mask_are_replaced(ready: RecordingHost) -> None:
    units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    ready.link(units.path(contract.AGENT_UNIT), "/dev/null")
    ready.real(units.path(contract.RECOVERY_UNIT)).chmod(0o600)
    ready.write(SCRIPT, b"old", 0o750)
    assert units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)
    assert ready.link_target(units.path(contract.AGENT_UNIT)) is None
    assert not units.converge(ready, ROOT, contract.CONFIG_PATH, arc=False)


def test_a_refused_reset_of_the_start_limit_does_not_stop_the_start(host: RecordingHost) -> None:
    host.answers["systemctl reset-failed"] = Completed((), 1, "", "not loaded")
    units.enable_and_restart(host)
    assert host.events[-1] == ("run", "systemctl restart aks-flex-node-agent.service")


def test_a_refused_enable_is_an_error(host: RecordingHost) -> None:
    host.answers["systemctl enable"] = Completed((), 1, "", "Failed to enable unit: File exists")
    with pytest.raises(CommandError, match="File exists"):
        units.enable_and_restart(host)


def test_properties_keep_equals_signs_in_their_values(host: RecordingHost) -> None:
    host.answers["systemctl show"] = Completed((), 0, "ExecStart={ path=/x }\nMainPID=7\n")
    assert units.show(host, "x", "ExecStart", "MainPID") == {"ExecStart": "{ path=/x }", "MainPID": "7"}


def test_wants_links_are_found_in_every_wants_and_requires_directory(host: RecordingHost) -> None:
    for directory in ("multi-user.target.wants", "custom.target.requires", "x.service.d"):
        host.make_directory(f"{contract.UNIT_DIR}/{directory}")
        host.link(f"{contract.UNIT_DIR}/{directory}/{contract.AGENT_UNIT}", "../x")
    assert [link.split("/")[4] for link in units.wants_links(host, contract.AGENT_UNIT)] == [
        "custom.target.requires",
        "multi-user.target.wants",
    ]
