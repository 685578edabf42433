"""existing-deployment: nothing of an earlier deployment is in the way.

Never counted: the binary and its layout (reset keeps them) and the first-boot unit. The agent's own units do not count
while an attempt of ours is unfinished: the next run continues it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyhelpers import contract
from pyhelpers.agent import machines, units
from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result
from pyhelpers.host import Host


def machine_artifacts(machine: str) -> Iterator[tuple[str, str]]:
    """A machine that runs, and what it leaves on the disk: in words, and where."""
    yield "a registered machine", f"/run/systemd/machines/{machine}"
    yield from machines.artifacts(machine)


def agent_units() -> Iterator[tuple[str, str]]:
    """The agent's own units."""
    for unit in units.UNITS:
        yield "a unit of the agent", units.path(unit)


def unfinished(host: Host) -> str:
    """The record that shows an unfinished attempt of ours, or "".

    Either the agent's start has begun and not ended, or bootstrap's journal (docs/architecture.md) has no last line.
    """
    if host.present(contract.START_ATTEMPT):
        return contract.START_ATTEMPT
    lines = (host.read(contract.JOURNAL) or b"").decode("utf-8", "replace").splitlines()
    ours = bool(lines) and lines[0].startswith(f"{contract.JOURNAL_HEADER} /") and "attempt|bootstrap" in lines
    return contract.JOURNAL if ours and "done" not in lines else ""


def run(question: Question) -> list[Result]:
    """One result for each artifact that is there or cannot be looked at."""
    host = question.host
    results = [found for machine in contract.MACHINES for found in _look(host, machine_artifacts(machine))]
    installed = _look(host, agent_units())
    attempt = ""
    if installed:
        try:
            attempt = unfinished(host)
        except OSError as error:
            installed.append(_uninspectable("the record of an attempt", error.filename or contract.JOURNAL, error))
    results += [] if attempt else installed
    if results:
        return results
    if installed:
        return [Result(PASS, "an unfinished attempt of ours is continued", target=attempt, observed=attempt)]
    return [Result(PASS, "none")]


def _look(host: Host, artifacts: Iterator[tuple[str, str]]) -> list[Result]:
    results = []
    for what, path in artifacts:
        try:
            if host.present(path):
                results.append(
                    Result(FAIL, f"{what} is there: {path}", target=path, observed="present", required="absent")
                )
        except OSError as error:
            results.append(_uninspectable(what, path, error))
    return results


def _uninspectable(what: str, path: str, error: OSError) -> Result:
    text = error.strerror or str(error)
    message = f"cannot see whether {what} is there: {path}: {text}"
    return Result(FAIL, message, target=path, observed=text, required="absent")


CHECK = Check(
    id="existing-deployment",
    asks="Is the host free of an earlier deployment?",
    why="Starting over one would mix its state with the new one's.",
    remedy="run `aks-flex-node reset` or uninstall.sh first",
    run=run,
)
