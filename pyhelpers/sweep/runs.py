"""The broken runs themselves: one watched run shows the state before every call; one more for each error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from pyhelpers.sandbox import Box, Result, SandboxError, Server
from pyhelpers.sandbox.mutations import Call, Decision, Watch
from pyhelpers.sweep import agents, hosts, image, invariants, points
from pyhelpers.sweep.follow import Case, last_line
from pyhelpers.sweep.image import Image
from pyhelpers.sweep.points import Point

SOCKET = f"{hosts.OWN}/watch.sock"
NAMES_CHANGE = ("make", "rename", "remove")  # the kinds of calls after which another file may stand somewhere


@dataclass(frozen=True)
class Violation:
    """One thing that does not hold, and where the run was broken."""

    script: str
    host: str
    point: Point
    what: str

    def __str__(self) -> str:
        return f"{self.script} on a {self.host} host, {self.point}: {self.what}"


def watched(box: Box, command: list[str], decide: Decision, syncs: bool = False) -> tuple[Result, list[Call]]:
    """Run COMMAND with DECIDE asked before every mutating call -> the calls too."""
    with Watch(str(box.root) + SOCKET, SOCKET, decide, syncs) as watch:
        result = box.run(watch.argv(command), env=hosts.ENV, timeout=120)
    if result.timed_out:
        raise SandboxError(f"no end within two minutes: {' '.join(command)}")
    return result, watch.log


def case(server: Server, script: str, host: str, reference: bool) -> tuple[Case, list[tuple[Call, Image]]]:
    """Prepare the host, run the script undisturbed -> the case, and each call with the state just before it.

    A call is held while the state is taken: killing everything at that moment leaves exactly these files.
    """
    seen: list[tuple[Call, Image]] = []
    complete = {agents.binary(name, reference): name for name in agents.VERSIONS}
    with server.box(binds=[hosts.PROJECT]) as box:
        hosts.prepare(box, host, reference)
        made = Case(script, host, hosts.command(script, host, reference), complete, image.take(box))
    with made.box(server, made.start) as box:

        def look(call: Call) -> int:
            seen.append((call, image.take(box)))
            return 0

        result, _ = watched(box, made.command, look)
        made.code, made.outcome = result.code, image.outcome(image.take(box))
        expected = hosts.START_FAILED if script == "bootstrap" else 0
        if result.code != expected or (expected and "E_START" not in result.stderr):
            raise SandboxError(f"{script} on a {host} host ended with {result.code}: {last_line(result)}")
    return made, seen


def crash(server: Server, case: Case, call: Call, state: Image) -> list[str]:
    """What does not hold when everything is killed before CALL."""
    return case.instant(state) + case.future(server, state)


def error(server: Server, case: Case, point: Point) -> tuple[list[str], bool]:
    """What does not hold when the call fails -> that, and whether the run came to the call at all."""
    found: list[str] = []
    reached = False
    with case.box(server, case.start) as box:

        def decide(call: Call) -> int:
            nonlocal reached
            if call.number == point.number:
                reached = True
                return point.error
            if reached and points.kind(call.name) in NAMES_CHANGE:
                found.extend(case.instant(image.take(box)))
            return 0

        result, _ = watched(box, case.command, decide)
        state = image.take(box)
    found += case.instant(state) + _end(case, result, state)
    return list(dict.fromkeys(found + case.future(server, state))), reached


def _end(case: Case, result: Result, state: Image) -> list[str]:
    """What a run that met an error must be able to say: done, and it is; or one error line, and nothing is left."""
    left, rest = invariants.split_litter(state)
    found = [f"{path} was left, and nobody says so" for path in left if not _is_named(path, result.stderr)]
    if result.code == case.code:
        if image.outcome(rest) != case.outcome:
            found.append(f"it ends as usual ({result.code}) and is not done")
    elif not any(": error: " in line and line.endswith("]") for line in result.stderr.splitlines()):
        found.append(f"exit {result.code} without an error line: {last_line(result)}")
    return found


def _is_named(path: str, words: str) -> bool:
    """Whether a warning or error says that PATH, or what it lies in, is there."""
    return any(f"{place}: " in words or f"{place} is left" in words for place in (path, *_above(path)))


def _above(path: str) -> list[str]:
    """The directories above a temporary name that are temporary too."""
    parents = [str(parent) for parent in PurePosixPath(path).parents]
    return [parent for parent in parents if image.is_temporary(parent)]
