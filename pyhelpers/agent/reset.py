"""`reset` (alias `unbootstrap`): takes the node off the host. The agent's binaries stay, so that it can join again.

UninstallService, then ResetNode. Every step can be repeated, one that fails does not stop the others, the exit tells.
What a step does and what it must not touch stands with the step.
"""

from __future__ import annotations

import stat
from collections.abc import Callable

from pyhelpers import contract
from pyhelpers.agent import log, machines, network, remove, root, units
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.layout import Layout
from pyhelpers.agent.steps import Step, run_all
from pyhelpers.host import Host

ROOTS = (contract.HOST_ROOT, contract.LEGACY_ROOT)
HELPERS = ("bin/unbounded-agent-nspawn-lifecycle", "libexec/unbounded-localdns-network")
WIREGUARD_KEYS = ("/etc/wireguard/server.priv", "/etc/wireguard/server.pub")
RUNTIME_UNIT_DIR = "/run/systemd/system"
RUNNING = ("active", "activating", "reloading")
STOP_SECONDS = 90  # the unit's TimeoutStopSec is 60


def run(host: Host) -> None:
    """Reset. AgentError: which steps failed; running it again is safe."""
    if host.user() != 0:
        raise AgentError("reset changes the host and must be run as root")
    run_all(host, [*uninstall_service(), *reset_node()])
    log.info("the node has been reset; the agent's binaries were kept")


def uninstall_service() -> list[Step]:
    """The first boot unit goes first: it would bootstrap again once the agent's unit is gone."""
    return [
        ("first boot unit", unit_step(contract.FIRST_BOOT_UNIT)),
        ("agent unit", unit_step(contract.AGENT_UNIT)),
        ("recovery unit", unit_step(contract.RECOVERY_UNIT)),
        ("recovery script", _recovery_scripts),
        ("upgrade signal", lambda host: _unlink(host, contract.UPGRADE_SIGNAL)),
        ("systemd", _reload),
    ]


def reset_node() -> list[Step]:
    """Machines before the network they use; configuration last, since the other steps may look at it."""
    return [
        *machines.steps(),
        *network.steps(unit_step(contract.LOCALDNS_UNIT)),
        ("WireGuard keys", lambda host: _unlink(host, *WIREGUARD_KEYS)),
        ("host helpers", _helpers),
        ("systemd", _reload),
        ("logs", lambda host: remove.tree(host, contract.LOG_DIR)),
        ("configuration", lambda host: remove.tree(host, contract.CONFIG_DIR)),
        ("start attempt", lambda host: _unlink(host, contract.START_ATTEMPT)),
        ("host root", _root),
    ]


def unit_step(unit: str) -> Callable[[Host], list[str] | None]:
    """A step that stops, disables, unmasks and removes one unit of ours."""

    def step(host: Host) -> None:
        entry = host.lstat(units.path(unit))
        if host.find("systemctl") and entry is not None and stat.S_ISREG(entry.st_mode):
            host.run(["systemctl", "disable", "--now", "--", unit], timeout=STOP_SECONDS).check()
        elif units.show(host, unit, "ActiveState").get("ActiveState") in RUNNING:  # its file is gone, masked or dangles
            host.run(["systemctl", "stop", "--", unit], timeout=STOP_SECONDS).check()
        for link in units.wants_links(host, unit):
            _unlink_below(host, link)
        _unlink(host, units.path(unit))
        if host.link_target(f"{RUNTIME_UNIT_DIR}/{unit}") == "/dev/null":  # masked until the next boot
            host.unlink(f"{RUNTIME_UNIT_DIR}/{unit}")

    return step


def _unlink_below(host: Host, link: str) -> None:
    """Remove a wants link, and its directory when that is empty now, as `systemctl disable` does."""
    host.unlink(link)
    directory = link.rpartition("/")[0]
    if not host.names(directory):
        host.remove_directory(directory)


def _recovery_scripts(host: Host) -> None:
    _unlink(host, *(Layout(where).recovery_script for where in ROOTS))


def _helpers(host: Host) -> None:
    _unlink(host, *(f"{where}/{name}" for where in ROOTS for name in HELPERS))


def _unlink(host: Host, *paths: str) -> None:
    for path in paths:
        entry = host.lstat(path)
        if entry is not None and stat.S_ISDIR(entry.st_mode):
            raise AgentError(f"{path} is a directory, which we did not make")
        host.unlink(path)


def _reload(host: Host) -> None:
    """Let systemd forget the units; a unit that it never loaded cannot be reset, which is what is wanted."""
    if host.find("systemctl") and host.is_directory(RUNTIME_UNIT_DIR):
        units.reload(host)
        for unit in units.UNITS:
            host.run(["systemctl", "reset-failed", "--", unit])


def _root(host: Host) -> None:
    removal = root.remove(host)
    if removal.held:
        log.info(f"{contract.HOST_ROOT} stays, it holds {', '.join(removal.held)}")
