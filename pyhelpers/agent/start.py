"""`start` (alias `bootstrap`): from a config file to a running, ready agent.

The record of the attempt is written before the first change and removed when the agent is ready, so that a start that
was cut short is known as ours and continued by the next one. Nothing is changed when the config is wrong.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

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
    if host.user() != 0:
        raise AgentError("start changes the host and must be run as root")
    with _alone(host):
        _start(host, build, config_path, bool(loaded.get("azure.arc.enabled")))


def _start(host: Host, build: Build, config_path: str, arc: bool) -> None:
    record(host, config_path)
    where = place.converge(host, build)
    log.info(f"agent {build.version} is in slot {where.slot} of {where.root}")
    fault.before_units(build.fault)
    units.converge(host, where.root, config_path, arc)
    units.reload(host)
    _start_and_wait(host)
    host.unlink(contract.START_ATTEMPT)
    log.info(f"{contract.AGENT_UNIT} is active and ready")


@contextmanager
def _alone(host: Host) -> Iterator[None]:
    """One start after the other: each restarts the daemon that the other waits for. A kill releases the lock."""
    host.make_directory(contract.STATE_DIR)
    fd = os.open(host.real(contract.STATE_DIR), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def record(host: Host, config_path: str) -> None:
    """Note the attempt, once: an unfinished one stays as it is."""
    if host.present(contract.START_ATTEMPT):
        log.info("continuing an earlier start that was not finished")
        return
    text = json.dumps({"configPath": config_path}) + "\n"
    host.write(contract.START_ATTEMPT, text.encode(), 0o600)


def _start_and_wait(host: Host) -> None:
    host.make_directory(contract.CONFIG_DIR)
    with wait.watching(str(host.real(contract.CONFIG_DIR))) as changes:
        units.enable_and_restart(host)
        unit = units.show(host, contract.AGENT_UNIT, "MainPID", "InvocationID")
        pid = int(unit.get("MainPID", "0") or 0)
        with wait.process(pid) as ended:
            result = wait.until(lambda: _is_ready(host, pid), changes, ended, READY_SECONDS) if pid else "ended"
        if result == "ready" and units.show(host, contract.AGENT_UNIT, "ActiveState").get("ActiveState") != "active":
            result = "ended"
    if result != "ready":
        why = "ended before it was ready" if result == "ended" else f"was not ready within {READY_SECONDS:g} s"
        _show_journal(host, unit.get("InvocationID", ""))
        raise AgentError(f"{contract.AGENT_UNIT} {why}; see journalctl -u {contract.AGENT_UNIT}")


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
