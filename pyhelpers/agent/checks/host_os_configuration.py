"""host-os-configuration: every other directory that a later phase writes to can be written."""

from __future__ import annotations

from pyhelpers import contract
from pyhelpers.agent.checks import probe
from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result

DIRECTORIES = (  # where, what for
    (contract.SYSCTL_DIR, "kernel settings"),
    (contract.UNIT_DIR, "units"),
    (contract.CONFIG_DIR, "config and credentials"),
    (contract.LIBRARY_CONFIG_DIR, "network and machine configuration"),
    (contract.STATE_DIR, "journal, staging and state"),
    ("/var/lib", "machines"),
    ("/var/log", "logs"),
)
REQUIRED = "create, write, rename, delete"


def run(question: Question) -> list[Result]:
    """One result when all is well, otherwise one for each reason."""
    purposes = dict(DIRECTORIES)
    log_dir = question.setting("agent.logDir")
    if log_dir:
        purposes.setdefault(log_dir, "logs")
    refused = probe.refusals(question.host, purposes, execute=False)
    if not refused:
        listed = ", ".join(path for path, _ in DIRECTORIES[:2])
        fine = f"{listed} and {len(purposes) - 2} more directories can be written"
        return [Result(PASS, fine, observed=REQUIRED, required=REQUIRED)]
    return [_refused(answer, [f"{path} ({purposes[path]})" for path in paths]) for answer, paths in refused.items()]


def _refused(answer: probe.Answer, named: list[str]) -> Result:
    listed = ", ".join(named)
    return Result(FAIL, f"{listed} cannot be written: {answer}", listed, str(answer), REQUIRED)


CHECK = Check(
    id="host-os-configuration",
    asks="Can units, kernel settings, config, state and logs be written?",
    why="They are written after the agent is in place, when a failure would leave half a deployment.",
    remedy="make the named mount writable",
    run=run,
    seconds=20,
)
