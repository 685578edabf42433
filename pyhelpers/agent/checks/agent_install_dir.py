"""agent-install-dir: the directories of the agent's own files can be made, written and executed from.

Which they are is passed in: they follow from where the daemon's binary goes, and are not named again here.
"""

from __future__ import annotations

from pyhelpers.agent.checks import probe
from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result

REQUIRED = "create, write, execute, rename, delete"


def run(question: Question) -> list[Result]:
    """One result when all is well, otherwise one for each directory that is not."""
    answers = {d: probe.can_create(question.host, d, execute=True) for d in question.directories}
    bad = [
        Result(FAIL, f"{directory} cannot be used: {answer}", directory, answer.cause, REQUIRED)
        for directory, answer in answers.items()
        if answer.cause
    ]
    tried = ", ".join(dict.fromkeys(answer.where for answer in answers.values()))
    fine = f"{', '.join(answers)} can be used (tried in {tried})"
    return bad or [Result(PASS, fine, target=tried, observed=REQUIRED, required=REQUIRED)]


CHECK = Check(
    id="agent-install-dir",
    asks="Can the agent's directories be made, written, and their files executed and replaced?",
    why="A read-only, full or noexec target would otherwise show when the agent is already half installed.",
    remedy="make the named mount writable and executable, or install to a host where it is",
    run=run,
    seconds=20,
)
