"""is-privileged-user: the agent changes units, mounts and network of the host."""

from __future__ import annotations

from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result


def run(question: Question) -> list[Result]:
    """Only user id 0 will do; capabilities of another user are not enough for systemd and machines."""
    user = question.host.user()
    if user == 0:
        return [Result(PASS, "runs as root", observed="uid 0", required="uid 0")]
    return [Result(FAIL, f"runs as user id {user}, not as root", observed=f"uid {user}", required="uid 0")]


CHECK = Check(
    id="is-privileged-user",
    asks="Does it run as root?",
    why="The agent writes units, mounts and network settings; without root the first change would fail.",
    remedy="run it with sudo",
    run=run,
)
