"""host-os-configuration: every other directory that a later phase writes to can be written."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.agent.checks import probe
from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result

DIRECTORIES = (  # where, what for
    ("/etc/sysctl.d", "kernel settings"),
    (contract.UNIT_DIR, "units"),
    (contract.CONFIG_DIR, "config and credentials"),
    (contract.LIBRARY_CONFIG_DIR, "network and machine configuration"),
    (contract.STATE_DIR, "journal, staging and state"),
    ("/var/lib", "machines"),
    ("/var/log", "logs"),
)
REQUIRED = "create, write, rename, delete"


def run(question: Question) -> list[Result]:
    """One result when all is well, otherwise one for each directory that is not."""
    directories = dict(DIRECTORIES)
    log_dir = question.setting("agent.logDir")
    if log_dir:
        directories.setdefault(log_dir, "logs")
    bad = []
    for directory, purpose in directories.items():
        answer = probe.can_create(question.host, directory, execute=False)
        if answer.cause:
            message = f"{directory} ({purpose}) cannot be written: {answer}"
            bad.append(Result(FAIL, message, directory, answer.cause, REQUIRED))
    fine = f"{len(directories)} directories from {DIRECTORIES[0][0]} to {list(directories)[-1]} can be written"
    return bad or [Result(PASS, fine, observed=REQUIRED, required=REQUIRED)]


CHECK = Check(
    id="host-os-configuration",
    asks="Can units, kernel settings, config, state and logs be written?",
    why="They are written after the agent is in place, when a failure would leave half a deployment.",
    remedy="make the named mount writable",
    run=run,
    seconds=20,
)
