"""`flexkit sweep install|bootstrap|uninstall`: every mutating system call of a script is a place to be killed at, and
one that fails; after each the host must be sound, a normal run must finish, and uninstall must leave what was before.

A bootstrap is swept up to the agent's start. With --power-cut nothing is broken: one run is recorded, and every state
of the disk is judged that a power cut can leave. Exit 1 when something does not hold, 125 when it could not be tried.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

from pyhelpers import arguments
from pyhelpers.sandbox import SandboxError, Server
from pyhelpers.sandbox.mutations import Call
from pyhelpers.sweep import hosts, points, report, runs, trace
from pyhelpers.sweep.follow import Case
from pyhelpers.sweep.image import Image
from pyhelpers.sweep.points import Point
from pyhelpers.sweep.report import Figures
from pyhelpers.sweep.runs import Violation


def main(argv: Sequence[str]) -> int:
    """Sweep as the options say and print the figures."""
    options = _parse(argv)
    console = Console(soft_wrap=True)
    start = time.monotonic()
    figures: list[Figures] = []
    try:
        with Server(jobs=options.jobs) as server:
            if options.power_cut:
                return _cut(server, console, options)
            for script, host in _wanted(options):
                figures.append(_sweep(server, script, host, options))
    except SandboxError as error:
        console.print(f"flexkit sweep: {error}; `flexkit doctor` says what this machine can do", markup=False)
        return 125
    report.show(console, figures, options.sample is not None, time.monotonic() - start)
    return 1 if any(one.violations for one in figures) else 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="flexkit sweep", description=__doc__)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help="install, bootstrap, uninstall (all)")
    parser.add_argument("--from", dest="start", choices=list(hosts.PREPARE), help="the host to start from (each)")
    parser.add_argument("--sample", type=arguments.count, metavar="N", help="only N calls of each, evenly spread")
    parser.add_argument("--full", action="store_true", help="all seven errors at each call, not the two likeliest")
    parser.add_argument("--agent", choices=("stand-in", "reference"), default="stand-in", help="what is installed")
    parser.add_argument("--power-cut", action="store_true", help="judge the syncs by a model instead")
    parser.add_argument("--jobs", type=arguments.count, default=2, help="runs at a time (2)")
    options = parser.parse_args(argv)
    for script in options.scripts:
        if script not in hosts.HOSTS:
            parser.error(f"there is no script {script}")
        if options.start is not None and options.start not in hosts.HOSTS[script]:
            parser.error(f"{script} is swept on these hosts: {', '.join(hosts.HOSTS[script])}")
    if options.start is not None and not options.scripts:
        parser.error("--from needs the name of a script")
    return options


def _wanted(options: argparse.Namespace) -> list[tuple[str, str]]:
    """Each script with each host that the options name."""
    return [
        (script, host)
        for script in options.scripts or list(hosts.HOSTS)
        for host in (hosts.HOSTS[script] if options.start is None else [options.start])
    ]


def _cut(server: Server, console: Console, options: argparse.Namespace) -> int:
    """The model of a power cut: nothing may be wrong, but something must be when the syncs are left out."""
    found = []
    for script, host in _wanted(options):
        case, _ = runs.case(server, script, host, options.agent == "reference")
        found.append((case, trace.judgement(server, case)))
    report.show_cuts(console, found)
    return 1 if any(one.kept.faults or not one.dropped.faults for _, one in found) else 0


def _sweep(server: Server, script: str, host: str, options: argparse.Namespace) -> Figures:
    """One script on one host."""
    start = time.monotonic()
    case, seen = runs.case(server, script, host, options.agent == "reference")
    figures = Figures(script, host, len(seen))
    states = {call.number: state for call, state in seen}
    chosen = points.sample([call for call, _ in seen], options.sample)
    with ThreadPoolExecutor(options.jobs) as workers:
        for violations, unreached in workers.map(
            lambda call: _break(server, case, call, states[call.number], options.full), chosen
        ):
            figures.violations += violations
            figures.unreached += unreached
    for call in chosen:
        figures.add(call, len(points.of(call, options.full)))
    figures.states, figures.seconds = case.states, time.monotonic() - start
    return figures


def _break(server: Server, case: Case, call: Call, state: Image, full: bool) -> tuple[list[Violation], int]:
    """All that is tried at one call -> what does not hold, and how many runs ended before they came to it."""
    crash = Point(call.number, call.name, call.path)
    found = [Violation(case.script, case.host, crash, what) for what in runs.crash(server, case, call, state)]
    unreached = 0
    for point in points.of(call, full):
        wrong, reached = runs.error(server, case, point)
        found += [Violation(case.script, case.host, point, what) for what in wrong]
        unreached += not reached
    return found, unreached
