"""agent-install-dir: the directories of the agent's own files can be made, written and executed from.

Which they are is passed in: they follow from where the daemon's binary goes, and are not named again here.
"""

from __future__ import annotations

from pyhelpers.agent.checks import probe
from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result

REQUIRED = "create, write, execute, rename, delete"


def run(question: Question) -> list[Result]:
    """One result when all is well, otherwise one for each reason."""
    refused = probe.refusals(question.host, question.directories, execute=True)
    if not refused:
        listed = ", ".join(question.directories)
        return [Result(PASS, f"{listed} can be used", observed=REQUIRED, required=REQUIRED)]
    return [
        Result(FAIL, f"{', '.join(paths)} cannot be used: {answer}", ", ".join(paths), str(answer), REQUIRED)
        for answer, paths in refused.items()
    ]


CHECK = Check(
    id="agent-install-dir",
    asks="Can the agent's directories be made, written, and their files executed and replaced?",
    why="A read-only, full or noexec target would otherwise show when the agent is already half installed.",
    remedy="make the named mount writable and executable, or install to a host where it is",
    run=run,
    seconds=20,
)
