"""The texts that start installs: what systemd and the shell make of them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import jinja2
import pytest

from pyhelpers import contract
from pyhelpers.render import text, units

ROOT = contract.HOST_ROOT


def lines(unit: str) -> list[str]:
    return unit.splitlines()


def test_the_agent_unit_runs_the_daemon_from_the_root_with_the_given_config() -> None:
    unit = lines(units.agent_unit(ROOT, contract.CONFIG_PATH, arc=False))
    assert "ExecStart=/opt/unbounded/bin/aks-flex-node agent --config /etc/aks-flex-node/config.json" in unit
    assert "RequiresMountsFor=/opt/unbounded" in unit


@pytest.mark.parametrize(
    "setting",
    [
        "Type=simple",
        "OnFailure=aks-flex-node-agent-recovery.service",
        "StartLimitIntervalSec=300",
        "StartLimitBurst=5",
        "Restart=on-failure",
        "RestartSec=30",
        "TimeoutStartSec=300",
        "TimeoutStopSec=60",
        "WantedBy=multi-user.target",
        "After=network-online.target systemd-udev-settle.service",
        "Wants=network-online.target systemd-udev-settle.service",
    ],
)
def test_the_agent_unit_has_every_setting_of_the_contract(setting: str) -> None:
    assert setting in lines(units.agent_unit(ROOT, contract.CONFIG_PATH, arc=False))


def test_with_arc_the_agent_waits_for_arc_s_metadata_service() -> None:
    unit = lines(units.agent_unit(ROOT, contract.CONFIG_PATH, arc=True))
    assert "After=network-online.target systemd-udev-settle.service himdsd.service" in unit
    assert "Wants=network-online.target systemd-udev-settle.service himdsd.service" in unit


def test_the_recovery_unit_runs_the_script_below_the_root() -> None:
    unit = lines(units.recovery_unit(ROOT))
    assert "ExecStart=/opt/unbounded/lib/aks-flex-node/aks-flex-node-recovery.sh" in unit


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_accepts_both_units_and_knows_every_setting(tmp_path: Path) -> None:
    binary = tmp_path / "root/bin/aks-flex-node"
    script = tmp_path / "root/lib/aks-flex-node/aks-flex-node-recovery.sh"
    for path in (binary, script):
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    paths = [tmp_path / name for name in (contract.AGENT_UNIT, contract.RECOVERY_UNIT)]
    paths[0].write_text(units.agent_unit(str(tmp_path / "root"), "/srv/100%/a b/$x.json", arc=True))
    paths[1].write_text(units.recovery_unit(str(tmp_path / "root")))
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    ours = [line for line in done.stderr.splitlines() if str(tmp_path) in line]
    assert ours == []


# --- quoting ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ("/plain/path", "/plain/path"),
        ("/a b", '"/a b"'),
        ("/100%", "/100%%"),
        ("/$HOME", "/$$HOME"),
        ('/"q"', '"/\\"q\\""'),
        ("/back\\slash", '"/back\\\\slash"'),
        ("/semi;colon", '"/semi;colon"'),
    ],
)
def test_an_argument_is_quoted_so_that_systemd_passes_it_on_unchanged(value: str, quoted: str) -> None:
    assert text.systemd_argument(value) == quoted


def test_a_list_of_paths_has_no_variables_to_switch_off() -> None:
    assert text.systemd_path("/$x 100%") == '"/$x 100%%"'


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        text.render("recovery.service.j2", root=ROOT)


# --- the recovery script ----------------------------------------------------------------------------------------
def test_the_literals_of_the_embedded_script_are_those_of_the_contract() -> None:
    script = text.source("recovery.sh")
    directory = f"{contract.LEGACY_ROOT}/lib/{contract.LIB_NAME}"
    assert f"signal={contract.UPGRADE_SIGNAL}\n" in script
    assert f"unit={contract.AGENT_UNIT}\n" in script
    assert f"current={directory}/{contract.CURRENT}\n" in script
    assert f"last_good={directory}/{contract.LAST_GOOD}\n" in script


def test_no_legacy_path_is_left_on_a_host_with_another_root() -> None:
    assert contract.LEGACY_ROOT not in units.recovery_script(ROOT)
    assert units.recovery_script(contract.LEGACY_ROOT) == text.source("recovery.sh")


class Recovery:
    """The installed script on a tree of its own, with a systemctl that notes its calls."""

    def __init__(self, place: Path) -> None:
        self.place, self.calls = place, place / "calls"
        self.lib = place / "root/lib/aks-flex-node"
        self.lib.mkdir(parents=True)
        (place / "bin").mkdir()
        self.executable("bin/systemctl", f'printf "systemctl %s\\n" "$*" >>{self.calls}\n')
        script = units.recovery_script(str(place / "root"))
        script = script.replace(contract.UPGRADE_SIGNAL, str(place / "signal")).replace(
            "PATH=", f"PATH={place}/bin:", 1
        )
        self.script = place / "recovery.sh"
        self.script.write_text(script)

    def executable(self, name: str, body: str) -> Path:
        path = self.place / name
        path.write_text(f"#!/bin/sh\n{body}")
        path.chmod(0o755)
        return path

    def agents(self, current: str, last_good: str) -> None:
        for slot in ("blue", "green"):
            name = f"root/lib/aks-flex-node/aks-flex-node-{slot}"
            self.executable(name, f'printf "{slot} %s\\n" "$*" >>{self.calls}\n')
        (self.lib / contract.CURRENT).symlink_to(self.lib / f"aks-flex-node-{current}")
        (self.lib / contract.LAST_GOOD).symlink_to(self.lib / f"aks-flex-node-{last_good}")

    def run(self, shell: str) -> tuple[int, str, list[str]]:
        done = subprocess.run([*shell.split(), self.script], capture_output=True, text=True, check=False)
        calls = self.calls.read_text().splitlines() if self.calls.exists() else []
        return done.returncode, done.stderr, calls


SHELLS = [s for s in ("dash", "bash --posix", "busybox sh") if shutil.which(s.split()[0])]


@pytest.fixture
def recovery(tmp_path: Path) -> Recovery:
    return Recovery(tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_an_ordinary_failure_changes_nothing(recovery: Recovery, shell: str) -> None:
    recovery.agents("green", "blue")
    assert recovery.run(shell) == (0, "", [])


@pytest.mark.parametrize("shell", SHELLS)
def test_a_failed_upgrade_asks_last_good_to_go_back_and_restarts_without_blocking(
    recovery: Recovery, shell: str
) -> None:
    (recovery.place / "signal").write_text("{}")
    recovery.agents("green", "blue")
    unit = contract.AGENT_UNIT
    assert recovery.run(shell) == (
        0,
        "",
        [
            f"blue recover-agent-upgrade --message {unit} failed",
            f"systemctl reset-failed -- {unit}",
            f"systemctl --no-block restart -- {unit}",
        ],
    )


@pytest.mark.parametrize("shell", SHELLS)
def test_when_the_last_good_agent_itself_failed_nothing_is_changed(recovery: Recovery, shell: str) -> None:
    (recovery.place / "signal").write_text("{}")
    recovery.agents("blue", "blue")
    code, words, calls = recovery.run(shell)
    assert (code, calls) == (1, [])
    assert "manual: the agent that failed is the last good one" in words


@pytest.mark.parametrize("shell", SHELLS)
def test_without_an_executable_last_good_nothing_is_changed(recovery: Recovery, shell: str) -> None:
    (recovery.place / "signal").write_text("{}")
    recovery.agents("green", "blue")
    (recovery.lib / "aks-flex-node-blue").chmod(0o644)
    code, words, calls = recovery.run(shell)
    assert (code, calls) == (1, [])
    assert "leads to no executable agent" in words


@pytest.mark.parametrize("shell", SHELLS)
def test_the_last_failing_status_is_reported_and_the_restart_still_tried(recovery: Recovery, shell: str) -> None:
    (recovery.place / "signal").write_text("{}")
    recovery.agents("green", "blue")
    recovery.executable("root/lib/aks-flex-node/aks-flex-node-blue", "exit 7\n")
    code, words, calls = recovery.run(shell)
    assert code == 7
    assert "recover-agent-upgrade: exit status 7" in words
    assert calls[-1] == f"systemctl --no-block restart -- {contract.AGENT_UNIT}"
