"""Records what a script does to the disk in a sandbox, and holds it against the model of a power cut."""

from __future__ import annotations

from typing import NamedTuple

from pyhelpers.sandbox import SandboxError, Server
from pyhelpers.sandbox.mutations import SYNCS, Call
from pyhelpers.sweep import image, invariants, runs
from pyhelpers.sweep.follow import Case
from pyhelpers.sweep.image import Image
from pyhelpers.sweep.powercut import Step, Trace, Verdict, judge


class Judgement(NamedTuple):
    """The same run with and without its syncs. calls: those that change something; syncs: those that make it last."""

    calls: int
    syncs: int
    kept: Verdict
    dropped: Verdict


def record(server: Server, case: Case) -> Trace:
    """Run the case's script undisturbed."""
    steps: list[Step] = []
    with case.box(server, case.start) as box:

        def look(call: Call) -> int:
            sync = call.path if call.name in SYNCS else None
            steps.append(Step(f"{call.name} {call.path}".rstrip(), image.take(box), sync))
            return 0

        result, _ = runs.watched(box, case.command, look, syncs=True)
        end = image.take(box)
    if result.code != case.code:
        raise SandboxError(f"a second run of {case.script} ended with {result.code}")
    return Trace(steps, end)


def judgement(server: Server, case: Case) -> Judgement:
    """Record a run, then cut its power everywhere."""
    trace = record(server, case)
    syncs = sum(step.sync is not None for step in trace.steps)
    done = lasting(trace.end)

    def end(state: Image) -> list[str]:
        return [] if lasting(state) == done else ["it has said that it is done, and that does not last"]

    bare = trace.without_syncs()
    return Judgement(len(bare.steps), syncs, judge(trace, case.instant, end), judge(bare, case.instant, end))


def lasting(state: Image) -> str:
    """Equal for two images that hold the same but for what a run makes for a moment."""
    kept = {path: node for path, node in invariants.split_litter(state)[1].items() if not path.startswith("/run/")}
    return image.key(kept)
