"""Lines for people and the journal, on stderr. Under systemd each carries its priority, so `journalctl -p` works."""

from __future__ import annotations

import os

from pyhelpers.agent import streams

LEVELS = {"error": 3, "warning": 4, "info": 6, "debug": 7}
_threshold = [LEVELS["info"]]  # a list, so that set_level needs no global statement


def set_level(name: str) -> None:
    """Show `name` (of LEVELS) and what is more important."""
    _threshold[0] = LEVELS[name]


def _say(level: str, message: str) -> None:
    if LEVELS[level] > _threshold[0]:
        return
    if "JOURNAL_STREAM" in os.environ:
        line = f"<{LEVELS[level]}>{message}"
    else:
        line = message if level == "info" else f"{level}: {message}"
    streams.say(line)


def error(message: str) -> None:
    """Something failed."""
    _say("error", message)


def warning(message: str) -> None:
    """Something is not as it should be, and we go on."""
    _say("warning", message)


def info(message: str) -> None:
    """What is being done."""
    _say("info", message)


def debug(message: str) -> None:
    """Details."""
    _say("debug", message)
