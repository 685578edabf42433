"""`daemon` (alias `agent`): what the unit runs. Converges what start installed, says that it is ready, stays.

It converges at each start, so that an older installation gets today's layout and units. It restarts nothing itself.
"""

from __future__ import annotations

import os
import signal
from datetime import datetime, timezone
from typing import Any

from pyhelpers.agent import config, fault, log, place, state, units
from pyhelpers.agent.build import Build
from pyhelpers.agent.failure import AgentError
from pyhelpers.agent.notify import notify
from pyhelpers.host import Host

STOP = {signal.SIGTERM, signal.SIGINT}


def run(host: Host, build: Build, config_path: str) -> None:
    """Run until SIGTERM or SIGINT. AgentError: what it needs is not there, or a fault that was built in."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)  # from here on they are waited for, so none is lost
    if fault.lifetime(build.fault) == 0:
        raise AgentError("built to die here: dies-0")
    loaded = config.load(host.real(config_path))
    log.set_level(loaded.log_level)
    refused = _refused(host)
    where = converge(host, build, config_path, bool(loaded.get("azure.arc.enabled")))
    me = _description(build, where, config_path, refused)
    _say(host, me, "starting", "starting")
    if not _stopped_within(fault.delay(build.fault)):
        _say(host, me, "ready", f"ready: {build.version} in slot {where.slot}")
        _stay(build)
    _say(host, me, "stopped", "stopped by a signal")


def converge(host: Host, build: Build, config_path: str, arc: bool) -> place.Place:
    """Root, layout and units as this version wants them."""
    where = place.converge(host, build)
    if units.converge(host, where.root, config_path, arc):
        log.info("units were out of date and have been written anew")
        units.reload(host)
    return where


def _stay(build: Build) -> None:
    seconds = fault.lifetime(build.fault)
    if not _stopped_within(seconds):
        raise AgentError(f"built to die after {seconds:g} seconds")


def _stopped_within(seconds: float | None) -> bool:
    """Whether a stop signal came; None waits for it for ever."""
    if seconds is None:
        signal.sigwait(STOP)
        return True
    return signal.sigtimedwait(STOP, seconds) is not None


def _refused(host: Host) -> str:
    """Why the state of the last run cannot be trusted, or "". It is reported and then replaced."""
    try:
        state.read(host)
    except state.StateRefused as error:
        log.error(str(error))
        return str(error)
    return ""


def _description(build: Build, where: place.Place, config_path: str, refused: str) -> dict[str, Any]:
    me: dict[str, Any] = {
        "pid": os.getpid(),
        "invocationId": os.environ.get("INVOCATION_ID", ""),
        "version": build.version,
        "gitCommit": build.git_commit,
        "root": where.root,
        "slot": where.slot,
        "configPath": config_path,
        "lastOperation": None,
    }
    if refused:
        me["refusedState"] = refused
    return me


def _say(host: Host, me: dict[str, Any], what: str, message: str) -> None:
    """Into the state file first: who is told that we are ready looks there."""
    me[f"{what}At"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    state.write(host, {**me, "state": what, "message": message})
    if what == "ready":
        notify("READY=1", f"STATUS={message}")
    else:
        notify(*(["STOPPING=1"] if what == "stopped" else []), f"STATUS={message}")
    log.info(message)
