"""The agent for real: under systemd on a throwaway clone of this machine, from start to reset."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyhelpers import contract
from pyhelpers.release.variants import variant
from pyhelpers.sandbox.result import Result
from pyhelpers.testhost.host import Host

pytestmark = pytest.mark.skipif(shutil.which("systemd-nspawn") is None, reason="needs systemd-nspawn")

UNIT, CONFIG = contract.AGENT_UNIT, contract.CONFIG_PATH
BINARY = f"{contract.HOST_ROOT}/bin/{contract.BINARY_NAME}"
LIB = f"{contract.HOST_ROOT}/lib/{contract.LIB_NAME}"
CLUSTER = (
    "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/r"
    "/providers/Microsoft.ContainerService/managedClusters/c"
)
SETTINGS = {"azure": {"targetCluster": {"resourceId": CLUSTER}, "managedIdentity": {}}}
VARIANTS = ("current", "next", "legacy", "slow", "dies-0", "dies-1", "broken-start")


@pytest.fixture
def host() -> Iterator[Host]:
    binds: list[Path | tuple[Path | str, str]] = [(variant(name), f"/media/{name}") for name in VARIANTS]
    with Host.clone_of_this_machine(binds=binds) as host:
        host.write(CONFIG, json.dumps(SETTINGS), 0o600)
        yield host


def ok(result: Result) -> Result:
    assert result.code == 0, result.stdout + result.stderr
    return result


def install(host: Host, name: str, root: str = contract.HOST_ROOT) -> None:
    """Put the variant there as an installer does: by rename, over whatever is at the path."""
    path = f"{root}/bin/{contract.BINARY_NAME}"
    ok(host.run(["install", "-D", "-m", "0755", f"/media/{name}/{contract.BINARY_NAME}", f"{path}.new"]))
    ok(host.run(["mv", "-f", "-T", f"{path}.new", path]))


def start(host: Host, binary: str = BINARY) -> Result:
    return host.run([binary, "start", "--config", CONFIG])


def status(host: Host, binary: str = BINARY) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ok(host.run([binary, "status", "--output", "json"])).stdout)
    return found


def show(host: Host, prop: str) -> str:
    return ok(host.run(["systemctl", "show", "--value", f"--property={prop}", UNIT])).stdout.strip()


def until_ready(host: Host, binary: str = BINARY, seconds: float = 20) -> dict[str, Any]:
    """What a restart by systemd leads to; it has no end that a caller could wait for, so it is asked again."""
    deadline = time.monotonic() + seconds
    while (found := status(host, binary))["state"] != "ready":
        assert time.monotonic() < deadline, found
    return found


def exists(host: Host, path: str) -> bool:
    return host.run(["test", "-e", path, "-o", "-L", path]).code == 0


def test_start_leaves_an_enabled_active_ready_agent_and_no_attempt(host: Host) -> None:
    install(host, "current")
    done = ok(start(host))
    assert done.stdout == ""
    assert (show(host, "ActiveState"), show(host, "UnitFileState")) == ("active", "enabled")
    assert show(host, "StatusText") == "ready: v0.1.0 in slot blue"
    assert status(host)["state"] == "ready"
    assert not exists(host, contract.START_ATTEMPT)
    modes = ok(host.run(["stat", "-c", "%a %U %n", f"{LIB}/aks-flex-node-blue", f"{LIB}/{contract.RECOVERY_SCRIPT}"]))
    assert [line.split()[:2] for line in modes.stdout.splitlines()] == [["755", "root"], ["750", "root"]]
    assert ok(host.run(["readlink", "-f", BINARY])).stdout == f"{LIB}/aks-flex-node-blue\n"


def test_start_again_is_fine_and_a_changed_config_is_taken(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    first = show(host, "MainPID")
    host.write(CONFIG, json.dumps({**SETTINGS, "agent": {"logLevel": "debug"}}), 0o600)
    ok(start(host))
    assert show(host, "MainPID") != first
    assert status(host)["state"] == "ready"


def test_starts_at_the_same_time_all_end_with_one_ready_agent(host: Host) -> None:
    install(host, "current")
    script = 'for i in 1 2 3; do "$@" & p="$p $!"; done; for i in $p; do wait $i || exit; done'
    ok(host.run(["sh", "-c", script, "sh", BINARY, "start", "--config", CONFIG]))
    assert status(host)["state"] == "ready"
    left = ok(
        host.run(
            ["find", "/opt", "/etc/aks-flex-node", "/etc/systemd", "/var/lib/aks-flex-node", "-name", ".flexnode-*"]
        )
    )
    assert left.stdout == ""


def test_reset_leaves_the_binaries_and_nothing_else(host: Host) -> None:
    install(host, "current")
    ok(host.run(["rm", "-r", contract.CONFIG_DIR]))  # reset takes it, whoever made it
    before = host.diff()
    host.write(CONFIG, json.dumps(SETTINGS), 0o600)
    ok(start(host))
    ok(host.run([BINARY, "reset"]))
    layout = {BINARY, contract.STATE_DIR, f"{contract.HOST_ROOT}/lib", f"{contract.HOST_ROOT}/libexec", LIB}
    new = {change.path for change in host.diff()} - {change.path for change in before}
    assert {path for path in new if not path.startswith(f"{LIB}/")} <= layout
    assert host.run(["systemctl", "cat", UNIT]).code != 0
    assert ok(host.run(["systemctl", "--failed", "--no-legend"])).stdout == ""


def test_a_node_that_was_reset_joins_again_with_the_agent_that_was_kept(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    ok(host.run([BINARY, "reset"]))
    ok(host.run([BINARY, "reset"]))
    host.write(CONFIG, json.dumps(SETTINGS), 0o600)
    ok(start(host))
    assert status(host)["state"] == "ready"


def test_after_reset_a_newer_agent_that_is_installed_is_the_one_that_runs(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    ok(host.run([BINARY, "reset"]))
    install(host, "next")
    host.write(CONFIG, json.dumps(SETTINGS), 0o600)
    ok(start(host))
    found = status(host)
    assert (found["version"], found["slot"], found["lastGoodSlot"]) == ("v0.2.0", "green", "green")


def test_systemctl_stop_is_a_clean_end_and_status_works_when_it_is_down(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    ok(host.run(["systemctl", "stop", UNIT]))
    assert (show(host, "ActiveState"), show(host, "Result")) == ("inactive", "success")
    found = status(host)
    assert (found["state"], found["daemon"]["state"], found["slot"]) == ("stopped", "stopped", "blue")


def test_a_killed_daemon_is_restarting_and_a_restart_makes_it_ready(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    ok(host.run(["systemctl", "kill", "--signal=KILL", UNIT]))
    deadline = time.monotonic() + 5
    while status(host)["state"] != "restarting":
        assert time.monotonic() < deadline
    ok(host.run(["systemctl", "restart", UNIT]))
    until_ready(host)


def test_after_a_reboot_and_after_a_power_cut_the_agent_gets_ready(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    host.reboot()
    until_ready(host)
    host.power_cut()
    until_ready(host)


def test_a_forged_state_is_refused_reported_and_replaced(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    forged = host.read(contract.DAEMON_STATE).replace(b'"ready"', b'"forged"')
    ok(host.run(["systemctl", "stop", UNIT]))
    host.write(contract.DAEMON_STATE, forged, 0o600)
    assert any("refused" in problem for problem in status(host)["problems"])
    ok(host.run(["systemctl", "start", UNIT]))
    found = until_ready(host)
    assert any("an earlier state was refused" in problem for problem in found["problems"])
    journal = ok(host.run(["journalctl", "--no-pager", "-p", "err", "-u", UNIT])).stdout
    assert "does not match" in journal


def test_the_daemon_restores_units_and_script_of_an_older_install(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    path = f"{contract.UNIT_DIR}/{UNIT}"
    wanted = host.read(path)
    host.write(path, wanted.replace(b"RestartSec=30\n", b"RestartSec=31\n"))
    ok(host.run(["rm", f"{LIB}/{contract.RECOVERY_SCRIPT}"]))
    ok(host.run(["systemctl", "daemon-reload"]))
    ok(host.run(["systemctl", "restart", UNIT]))
    until_ready(host)
    assert host.read(path) == wanted
    assert show(host, "RestartUSec") == "30s"
    assert exists(host, f"{LIB}/{contract.RECOVERY_SCRIPT}")


def test_the_recovery_unit_does_nothing_when_no_upgrade_is_under_way(host: Host) -> None:
    install(host, "current")
    ok(start(host))
    pid = show(host, "MainPID")
    ok(host.run(["systemctl", "start", contract.RECOVERY_UNIT]))
    assert show(host, "MainPID") == pid


def test_a_daemon_that_dies_at_once_fails_the_start_with_its_own_words(host: Host) -> None:
    install(host, "dies-0")
    done = start(host)
    assert done.code == 1
    assert "built to die here: dies-0" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"Command execution failed: {UNIT} ended before it was ready")
    assert exists(host, contract.START_ATTEMPT)
    preflight = host.run([BINARY, "preflight", "--config", CONFIG])
    assert "an unfinished attempt of ours is continued" in preflight.stdout


def test_a_start_that_failed_is_continued_with_a_repaired_agent(host: Host) -> None:
    install(host, "dies-0")
    assert start(host).code == 1
    install(host, "current")
    ok(start(host))
    assert status(host)["version"] == "v0.1.0"
    assert not exists(host, contract.START_ATTEMPT)


def test_a_slow_daemon_is_waited_for(host: Host) -> None:
    install(host, "slow")
    begun = time.monotonic()
    ok(start(host))
    assert time.monotonic() - begun >= 5
    assert status(host)["state"] == "ready"


def test_a_start_that_fails_before_any_unit_leaves_none(host: Host) -> None:
    install(host, "broken-start")
    done = start(host)
    assert (done.code, done.stdout) == (1, "")
    assert not exists(host, f"{contract.UNIT_DIR}/{UNIT}")
    assert exists(host, contract.START_ATTEMPT)
    ok(host.run([BINARY, "reset"]))
    assert not exists(host, contract.START_ATTEMPT)


def test_a_daemon_that_dies_later_is_restarted_by_systemd(host: Host) -> None:
    install(host, "dies-1")
    ok(start(host))
    deadline = time.monotonic() + 10
    while status(host)["state"] != "restarting":
        assert time.monotonic() < deadline
    assert show(host, "ExecMainStatus") == "1"


def test_a_legacy_release_lives_in_usr_local_and_a_current_one_takes_over_through_the_link(host: Host) -> None:
    legacy = f"{contract.LEGACY_ROOT}/bin/{contract.BINARY_NAME}"
    install(host, "legacy", contract.LEGACY_ROOT)
    assert host.run([legacy, "host-root"]).code == 1
    ok(start(host, legacy))
    assert not exists(host, contract.HOST_ROOT)
    ok(host.run([legacy, "reset"]))
    install(host, "current", contract.LEGACY_ROOT)
    assert ok(host.run([legacy, "host-root"])).stdout == f"{contract.LEGACY_ROOT}\n"
    host.write(CONFIG, json.dumps(SETTINGS), 0o600)
    ok(start(host, legacy))
    assert ok(host.run(["readlink", contract.HOST_ROOT])).stdout == f"{contract.LEGACY_ROOT}\n"
    assert (status(host, BINARY)["version"], status(host, BINARY)["root"]) == ("v0.1.0", contract.LEGACY_ROOT)
    script = host.read(f"{contract.LEGACY_ROOT}/lib/{contract.LIB_NAME}/{contract.RECOVERY_SCRIPT}")
    assert contract.LEGACY_ROOT.encode() in script
    ok(host.run([legacy, "reset"]))
    assert not exists(host, contract.HOST_ROOT)
    assert exists(host, legacy)


def test_reset_takes_our_network_away_and_leaves_the_host_s(host: Host) -> None:
    setup = """
    ip link add cbr0 type bridge; ip link add wg51820 type ifb; ip link add theirs type bridge
    ip link set theirs up; ip address add 192.0.2.1/24 dev theirs
    ip rule add priority 77 table 51820; ip rule add priority 78 table 100
    ip route add 198.51.100.0/24 dev theirs table 51899; ip route add 198.51.100.0/24 dev theirs table 100
    nft add table ip unbounded_localdns; nft add table ip theirs
    """
    ok(host.run(["sh", "-ec", setup]))
    install(host, "current")
    ok(host.run([BINARY, "reset"]))
    links = ok(host.run(["ip", "-brief", "link"])).stdout
    assert "theirs" in links and "cbr0" not in links and "wg51820" not in links
    rules = ok(host.run(["ip", "rule"])).stdout
    assert "lookup 100" in rules and "51820" not in rules
    routes = ok(host.run(["ip", "route", "show", "table", "all"])).stdout
    assert "table 100" in routes and "51899" not in routes
    assert ok(host.run(["nft", "list", "tables"])).stdout == "table ip theirs\n"


def test_reset_leaves_a_localdns_interface_that_is_no_dummy_and_says_so(host: Host) -> None:
    ok(host.run(["ip", "link", "add", "localdns", "type", "bridge"]))
    install(host, "current")
    ok(start(host))
    done = host.run([BINARY, "reset"])
    assert done.code == 1
    assert "interface localdns is no dummy interface and stays" in done.stderr.splitlines()[-1]
    ok(host.run(["ip", "link", "show", "localdns"]))
    assert not exists(host, f"{contract.UNIT_DIR}/{UNIT}") and not exists(host, contract.CONFIG_DIR)


def test_reset_disables_the_first_boot_unit_so_that_it_does_not_bootstrap_again(host: Host) -> None:
    first = f"{contract.UNIT_DIR}/{contract.FIRST_BOOT_UNIT}"
    text = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
    host.write(first, text)
    ok(host.run(["systemctl", "enable", "--now", contract.FIRST_BOOT_UNIT]))
    install(host, "current")
    ok(start(host))
    ok(host.run([BINARY, "reset"]))
    assert not exists(host, first)
    assert not exists(host, f"{contract.UNIT_DIR}/multi-user.target.wants/{contract.FIRST_BOOT_UNIT}")
    assert host.run(["systemctl", "is-active", contract.FIRST_BOOT_UNIT]).stdout == "inactive\n"


@pytest.mark.parametrize("target", ["/dev/null", "/gone"])
def test_reset_and_start_get_over_a_masked_and_a_dangling_unit(host: Host, target: str) -> None:
    install(host, "current")
    ok(start(host))
    ok(host.run(["ln", "-sf", target, f"{contract.UNIT_DIR}/{UNIT}"]))
    ok(host.run(["systemctl", "daemon-reload"]))
    ok(host.run([BINARY, "reset"]))
    assert host.run(["systemctl", "is-active", UNIT]).stdout == "inactive\n"
    assert not exists(host, f"{contract.UNIT_DIR}/{UNIT}")
    ok(host.run(["ln", "-sf", target, f"{contract.UNIT_DIR}/{UNIT}"]))
    host.write(CONFIG, json.dumps(SETTINGS), 0o600)
    ok(start(host))
    assert status(host)["state"] == "ready"


def test_sigterm_while_start_waits_ends_it_with_exit_0(host: Host) -> None:
    install(host, "slow")
    done = host.run(["timeout", "--preserve-status", "--signal=TERM", "3", BINARY, "start", "--config", CONFIG])
    assert done.code == 0
    assert "is active and ready" not in done.stderr
    assert exists(host, contract.START_ATTEMPT)
