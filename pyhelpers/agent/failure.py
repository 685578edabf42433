"""What the agent raises when a command cannot do its job; `str()` is the cause that the user reads."""

from __future__ import annotations


class AgentError(Exception):
    """Shown as `Command execution failed: <cause>`, exit 1."""


class Interrupted(Exception):
    """SIGINT or SIGTERM arrived: stop where we are, exit 0."""
