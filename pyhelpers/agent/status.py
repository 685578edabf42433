"""`status`: what is installed and how it is, read from systemd, the layout and the daemon's state. Changes nothing.

It works when the daemon is down, when its state is refused and where there is no systemd.
"""

from __future__ import annotations

import json
from typing import Any

from pyhelpers import contract
from pyhelpers.agent import find, layout, state, units
from pyhelpers.host import Host

PROPERTIES = ("LoadState", "ActiveState", "SubState", "UnitFileState", "MainPID", "NRestarts")


def report(host: Host, output: str) -> str:
    """The status as text or JSON."""
    found = collect(host)
    return json.dumps(found, indent=2, sort_keys=True) if output == "json" else _text(found)


def collect(host: Host) -> dict[str, Any]:
    """state, root, slot, version, last operation, units, problems."""
    problems: list[str] = []
    said: dict[str, Any] = {}
    try:
        said = state.read(host) or {}
    except state.StateRefused as error:
        problems.append(str(error))
    except PermissionError:
        problems.append(f"{contract.DAEMON_STATE} is readable by root only")
    if said.get("refusedState"):
        problems.append(f"an earlier state was refused: {said['refusedState']}")
    shown = {unit: units.show(host, unit, *PROPERTIES) for unit in units.UNITS}
    agent = shown[contract.AGENT_UNIT]
    if not agent:
        problems.append("systemd does not answer")
    if host.present(contract.START_ATTEMPT):
        problems.append("a start has not been finished: run start again")
    paths = layout.Layout(find.root(host))
    return {
        "state": _state(agent, said, host.present(units.path(contract.AGENT_UNIT))),
        "root": paths.root,
        "slot": layout.slot_name(host, paths, paths.current),
        "lastGoodSlot": layout.slot_name(host, paths, paths.last_good),
        "version": said.get("version", ""),
        "lastOperation": said.get("lastOperation"),
        "daemon": said,
        "units": {unit: _unit(values) for unit, values in shown.items()},
        "problems": problems,
    }


def _state(agent: dict[str, str], said: dict[str, Any], installed: bool) -> str:
    """One word: ready, starting, restarting, failed, stopped, not-installed, unknown."""
    if not agent:
        return "unknown" if installed else "not-installed"
    active = agent.get("ActiveState", "")
    if active == "active":
        is_it = str(said.get("pid")) == agent.get("MainPID") and said.get("state") == "ready"
        return "ready" if is_it else "starting"
    if active == "activating":
        return "restarting" if agent.get("SubState") == "auto-restart" else "starting"
    if active == "failed":
        return "failed"
    return "stopped" if installed else "not-installed"


def _unit(values: dict[str, str]) -> dict[str, Any]:
    return {
        "load": values.get("LoadState", "unknown"),
        "active": values.get("ActiveState", "unknown"),
        "sub": values.get("SubState", "unknown"),
        "enabled": values.get("UnitFileState", "") or "no",
        "restarts": int(values.get("NRestarts", "0") or 0),
    }


def _text(found: dict[str, Any]) -> str:
    operation = found["lastOperation"]
    lines = [
        f"State:           {found['state']}",
        f"Version:         {found['version'] or '-'}",
        f"Root:            {found['root']}",
        f"Active slot:     {found['slot'] or '-'} (last good: {found['lastGoodSlot'] or '-'})",
        f"Last operation:  {operation if operation else 'none'}",
    ]
    for unit, is_it in found["units"].items():
        lines.append(f"Unit:            {unit}: {is_it['active']} ({is_it['sub']}), {is_it['enabled']}")
    lines += [f"Problem:         {problem}" for problem in found["problems"]]
    return "\n".join(lines)
