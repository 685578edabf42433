"""disk-space: there is room where the agent goes and under /var/lib, looked at apart; on one file system together."""

from __future__ import annotations

from dataclasses import dataclass

from pyhelpers import contract
from pyhelpers.agent.checks import mounts, probe
from pyhelpers.agent.checks.model import FAIL, PASS, UNKNOWN, Check, Question, Result

MIB = 1 << 20
RESERVE = 64 * MIB  # what must be left on a file system afterwards
COPIES_AT_TARGET = 3  # both slots, and the next one while it is written
COPIES_IN_STATE = 2  # the archive and what is unpacked from it


@dataclass(frozen=True)
class Need:
    """What is put where, in bytes."""

    name: str
    path: str
    size: int


def needs(question: Question) -> list[Need]:
    """What the agent puts on the host."""
    target = question.directories[0] if question.directories else contract.HOST_ROOT
    return [
        Need("the agent", target, COPIES_AT_TARGET * question.binary_bytes),
        Need("staging and state", contract.STATE_DIR, COPIES_IN_STATE * question.binary_bytes),
    ]


def run(question: Question) -> list[Result]:
    """One result for each file system."""
    groups: dict[int, list[tuple[Need, str]]] = {}
    results = []
    for need in needs(question):
        try:
            where, _ = probe.nearest(question.host, need.path)
            entry = question.host.stat(where)
        except OSError as error:
            results.append(_unknown(need.path, error))
            continue
        groups.setdefault(entry.st_dev if entry else -1, []).append((need, where))
    return results + [_judge(question, group) for group in groups.values()]


def _unknown(path: str, error: OSError) -> Result:
    return Result(UNKNOWN, f"the room at {path} cannot be seen: {error.strerror or error}", target=path)


def _judge(question: Question, group: list[tuple[Need, str]]) -> Result:
    where = group[0][1]
    try:
        space = question.host.space(where)
    except OSError as error:
        return _unknown(where, error)
    free = space.f_bavail * space.f_frsize
    wanted = sum(need.size for need, _ in group) + RESERVE
    paths = " and ".join(need.path for need, _ in group)
    text = f"{_mib(free)} MiB free for {paths}, {_mib(wanted, up=True)} MiB needed"
    if free >= wanted:
        return Result(PASS, text, paths, f"{free} bytes", f"{wanted} bytes")
    proof = mounts.evidence(mounts.of(question.host, where))
    return Result(FAIL, f"only {text}{f'; {proof}' if proof else ''}", paths, f"{free} bytes", f"{wanted} bytes")


def _mib(size: int, up: bool = False) -> int:
    return -(-size // MIB) if up else size // MIB


CHECK = Check(
    id="disk-space",
    asks="Is there room for both slots of the agent, for staging and for a reserve?",
    why="A disk that fills up in the middle of an upgrade leaves a host that cannot be repaired from afar.",
    remedy="free or add space on the named file system",
    run=run,
)
