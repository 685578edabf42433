"""The units below /etc/systemd/system and the recovery script: written, enabled, asked about. reset.py removes them."""

from __future__ import annotations

import stat

from pyhelpers import contract
from pyhelpers.agent.layout import Layout
from pyhelpers.host import Host

SCRIPT_MODE, UNIT_MODE = 0o750, 0o644
UNITS = (contract.AGENT_UNIT, contract.RECOVERY_UNIT)


def converge(host: Host, root: str, config_path: str, arc: bool) -> bool:
    """Write what differs, in the order script, recovery unit, main unit; whether a unit was written.

    That order, because a main unit must never name a recovery unit that is not there, nor that one a missing script.
    systemd is told by the caller: see `reload`.
    """
    from pyhelpers.render import units as texts  # jinja2 is heavy

    _write(host, Layout(root).recovery_script, texts.recovery_script(root), SCRIPT_MODE)
    host.make_directory(contract.UNIT_DIR)
    wrote_recovery = _write(host, path(contract.RECOVERY_UNIT), texts.recovery_unit(root), UNIT_MODE)
    return (
        _write(host, path(contract.AGENT_UNIT), texts.agent_unit(root, config_path, arc), UNIT_MODE) or wrote_recovery
    )


def path(unit: str) -> str:
    """Where a unit of ours is."""
    return f"{contract.UNIT_DIR}/{unit}"


def reload(host: Host) -> None:
    """Let systemd read the units again."""
    host.run(["systemctl", "daemon-reload"]).check()


def enable_and_restart(host: Host) -> None:
    """Enable the agent and start it anew. An earlier crash loop must not refuse the repaired agent, hence the reset,
    which systemd refuses for a unit that it has not loaded: no reason to stop."""
    host.run(["systemctl", "enable", contract.AGENT_UNIT]).check()
    host.run(["systemctl", "reset-failed", contract.AGENT_UNIT])
    host.run(["systemctl", "restart", contract.AGENT_UNIT], timeout=300).check()


def show(host: Host, unit: str, *properties: str) -> dict[str, str]:
    """Properties of a unit as systemd has them; {} when systemd does not answer."""
    if host.find("systemctl") is None:
        return {}
    done = host.run(["systemctl", "show", f"--property={','.join(properties)}", "--", unit], timeout=10)
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line) if done.code == 0 else {}


def wants_links(host: Host, unit: str) -> list[str]:
    """The links by which other units want `unit`."""
    found = []
    for name in host.names(contract.UNIT_DIR):
        link = f"{contract.UNIT_DIR}/{name}/{unit}"
        if name.endswith((".wants", ".requires")) and host.link_target(link) is not None:
            found.append(link)
    return found


def _write(host: Host, where: str, text: str, mode: int) -> bool:
    entry = host.lstat(where)
    is_right = entry is not None and stat.S_ISREG(entry.st_mode) and stat.S_IMODE(entry.st_mode) == mode
    if is_right and host.read(where) == text.encode():
        return False
    host.write(where, text.encode(), mode)
    return True
