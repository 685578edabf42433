"""Steps that all run: one failure does not stop the others, and the end tells of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Optional

from pyhelpers.agent import log
from pyhelpers.agent.failure import AgentError
from pyhelpers.host import CommandError, Host

Step = tuple[str, Callable[[Host], Optional[list[str]]]]  # what it does; what it had to leave behind


def run_all(host: Host, steps: Sequence[Step]) -> None:
    """Run each step. AgentError, after the last one: which failed, and what was left behind."""
    failures: list[str] = []
    for name, step in steps:
        try:
            left = step(host) or []
        except (AgentError, CommandError, OSError) as error:
            left = [str(error)]
        for cause in left:
            log.error(f"{name}: {cause}")
        if not left:
            log.debug(f"{name}: done")
        failures += [f"{name}: {cause}" for cause in left]
    if failures:
        raise AgentError("reset is not complete: " + "; ".join(failures))
