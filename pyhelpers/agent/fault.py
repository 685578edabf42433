"""The one place where built-in faults are interpreted; a normal build passes through without any effect.

Tests need agents that are broken in known ways. `make release` builds them from this source with one fault each:

    broken         cannot be executed: every command exits 126
    hangs          no command ever answers
    slow           the daemon takes 5 seconds to become ready
    dies-N         the daemon exits 1 after N seconds (0: before it is ready)
    bad-host-root  `host-root` prints a relative path
    broken-start   `start` fails after layout and before any unit
"""

from __future__ import annotations

SLOW_SECONDS = 5.0
BAD_HOST_ROOT = "opt/unbounded"


def at_entry(fault: str) -> None:
    """Called before anything else of any command."""
    if fault == "broken":
        raise SystemExit(126)
    if fault == "hangs":
        import signal

        while True:
            signal.pause()


def host_root(fault: str, planned: str) -> str:
    """What `host-root` prints."""
    return BAD_HOST_ROOT if fault == "bad-host-root" else planned


def before_units(fault: str) -> None:
    """Called by start when root and layout are there and no unit is."""
    if fault == "broken-start":
        from pyhelpers.agent.failure import AgentError

        raise AgentError("built to fail here: broken-start")


def delay(fault: str) -> float:
    """Seconds that the daemon waits before it is ready."""
    return SLOW_SECONDS if fault == "slow" else 0.0


def lifetime(fault: str) -> float | None:
    """Seconds after which the daemon exits 1; None: it stays."""
    kind, _, seconds = fault.partition("-")
    return float(seconds) if kind == "dies" else None
