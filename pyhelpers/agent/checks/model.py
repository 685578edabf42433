"""What a preflight check is, what it is asked about, and what it answers. No check and no output here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyhelpers.agent.config import Config, ConfigErrors
from pyhelpers.host import Host

PASS, WARN, FAIL, UNKNOWN = "pass", "warn", "fail", "unknown"
SHOWN = {PASS: "ok", WARN: "warning", FAIL: "error", UNKNOWN: "unknown"}  # as the report calls them


@dataclass(frozen=True)
class Result:
    """One answer. `target` is what was looked at; `observed` and `required` are for programs and for the reason."""

    verdict: str
    message: str
    target: str = ""
    observed: str = ""
    required: str = ""
    remedy: str = ""  # empty: the check's own


@dataclass(frozen=True)
class Question:
    """What all checks are asked about: the host, the config (or its errors), and where the agent is to go."""

    host: Host
    config: Config | ConfigErrors
    directories: Sequence[str]  # of the agent's files: binary, slots, helpers
    binary_bytes: int  # size of one slot

    def setting(self, key: str) -> str:
        """A config value as text; "" when it is not there or the config cannot be read."""
        return str(self.config.get(key) or "") if isinstance(self.config, Config) else ""


@dataclass(frozen=True)
class Check:
    """One requirement. `asks` is the question, `why` the reason to ask it, `remedy` what to do when it fails."""

    id: str
    asks: str
    why: str
    remedy: str
    run: Callable[[Question], list[Result]]
    seconds: float = 10.0  # its time limit
    start_can_do_without: bool = True  # False: ignoring it only moves the error to start
