"""`start` (alias `bootstrap`): from a config file to a running, ready agent.

The record of the attempt is written before the first change and removed when the agent is ready, so that a start that
was cut short is known as ours and continued by the next one. Nothing is changed when the config is wrong.
"""

from __future__ import annotations

import json
import os
import time

from pyhelpers import contract
from pyhelpers.agent import config, fault, log, place, state, units, wait
from pyhelpers.agent.build import Build
from pyhelpers.agent.failure import AgentError
from pyhelpers.host import Host

READY_SECONDS = 60.0
JOURNAL_LINES = 10


def run(host: Host, build: Build, config_path: str) -> None:
    """Set the host up and start the agent. AgentError: it cannot be done, or the agent did not get ready."""
    if not config_path.startswith("/"):
        raise AgentError(f"--config must be an absolute path, since the unit runs with it: {config_path}")
    loaded = config.load(host.real(config_path))
    if os.geteuid() != 0:
        raise AgentError("start changes the host and must be run as root")
    record(host, config_path)
    where = place.converge(host, build)
    log.info(f"agent {build.version} is in slot {where.slot} of {where.root}")
    fault.before_units(build.fault)
    units.converge(host, where.root, config_path, bool(loaded.get("azure.arc.enabled")))
    units.reload(host)
    _start_and_wait(host)
    host.unlink(contract.START_ATTEMPT)
    log.info(f"{contract.AGENT_UNIT} is active and ready")


def record(host: Host, config_path: str) -> None:
    """Note the attempt, once: an unfinished one stays as it is."""
    if host.present(contract.START_ATTEMPT):
        log.info("continuing an earlier start that was not finished")
        return
    host.make_directory(contract.STATE_DIR)
    text = json.dumps({"configPath": config_path}) + "\n"
    host.write(contract.START_ATTEMPT, text.encode(), 0o600)


def _start_and_wait(host: Host) -> None:
    host.make_directory(contract.CONFIG_DIR)
    with wait.watching(str(host.real(contract.CONFIG_DIR))) as changes:
        units.enable_and_restart(host)
        result, invocation = _await_ready(host, changes, time.monotonic() + READY_SECONDS)
    if result != "ready":
        why = "ended before it was ready" if result == "ended" else f"was not ready within {READY_SECONDS:g} s"
        _show_journal(host, invocation)
        raise AgentError(f"{contract.AGENT_UNIT} {why}; see journalctl -u {contract.AGENT_UNIT}")


def _await_ready(host: Host, changes: int, deadline: float) -> tuple[str, str]:
    """`ready`, `ended` or `timeout`, and the unit's last invocation. A process that ended because somebody else
    restarted the unit meanwhile is followed by the new one."""
    before = 0
    while True:
        unit = units.show(host, contract.AGENT_UNIT, "MainPID", "InvocationID", "Job")
        if before and unit.get("Job", "0") not in ("", "0"):  # their restart is under way: joins it and waits for it
            host.run(["systemctl", "start", contract.AGENT_UNIT], timeout=READY_SECONDS)
            unit = units.show(host, contract.AGENT_UNIT, "MainPID", "InvocationID")
        pid = int(unit.get("MainPID", "0") or 0)
        if pid in (0, before):
            return "ended", unit.get("InvocationID", "")
        with wait.process(pid) as ended:
            result = wait.until(lambda: _is_ready(host, pid), changes, ended, deadline - time.monotonic())  # noqa: B023
        if result == "timeout":
            return result, unit.get("InvocationID", "")
        if result == "ready" and units.show(host, contract.AGENT_UNIT, "MainPID").get("MainPID") == str(pid):
            return result, unit.get("InvocationID", "")
        before = pid


def _is_ready(host: Host, pid: int) -> bool:
    """Whether the daemon with this process id says so. A state that is being refused is not ready."""
    try:
        said = state.read(host)
    except state.StateRefused:
        return False
    return said is not None and said.get("state") == "ready" and said.get("pid") == pid


def _show_journal(host: Host, invocation: str) -> None:
    select = [f"_SYSTEMD_INVOCATION_ID={invocation}"] if invocation else ["--unit", contract.AGENT_UNIT]
    done = host.run(["journalctl", "--no-pager", "--output=cat", f"--lines={JOURNAL_LINES}", *select], timeout=10)
    for line in done.stdout.splitlines():
        log.info(f"{contract.AGENT_UNIT}: {line}")
