"""Kills everything in a sandbox before the N-th mutating system call of a command, and says what is left later."""

from __future__ import annotations

import platform
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from pyhelpers.sandbox import Box, Result, Server
from pyhelpers.sandbox.mutations import Watch, evenly, go_on, stop_before
from pyhelpers.tree import Change

PROJECT = Path(__file__).resolve().parents[2]
INSTALL = str(PROJECT / "scripts/install.sh")
UNINSTALL = str(PROJECT / "scripts/uninstall.sh")
POINTS = 20


def archive(release: Path) -> str:
    """The amd64 or arm64 archive of a release directory, for this machine."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    return str(release / f"aks-flex-node-linux-{machine}.tar.gz")


def must(result: Result) -> Result:
    """The result of a command that has to succeed."""
    assert result.code == 0, result.stdout + result.stderr
    return result


def count(box: Box, command: Sequence[str]) -> int:
    """Run COMMAND to its end -> how many mutating calls it made."""
    with Watch(str(box.root / "run/count.sock"), "/run/count.sock", go_on) as watch:
        must(box.run(watch.argv(list(command))))
    return watch.count


def stopped_or_ended(watch: Watch, run: Callable[[], Result]) -> threading.Thread:
    """Start RUN in a thread; wait until the watch has stopped it or it has ended by itself.

    The count varies by a call or two with how reads and writes fall, so a run may end before its last point: then the
    kill comes after its end.
    """

    def go() -> None:
        run()
        watch.stopped.set()

    runner = threading.Thread(target=go)
    runner.start()
    assert watch.stopped.wait(120), "neither stopped nor ended"
    return runner


def kill_at(box: Box, command: Sequence[str], number: int) -> None:
    """Run COMMAND until its call NUMBER is about to happen, then kill the whole pid namespace."""
    with Watch(str(box.root / "run/kill.sock"), "/run/kill.sock", stop_before(number)) as watch:
        runner = stopped_or_ended(watch, lambda: box.run(watch.argv(list(command))))
        box.restart()
        runner.join()


def leftovers(
    server: Server, prepare: Callable[[Box], None], command: Sequence[str], number: int, *, rerun: bool
) -> list[Change]:
    """Prepare, kill at call NUMBER, perhaps run again, uninstall -> what is different from the untouched tree."""
    with server.box(binds=[PROJECT]) as box:
        prepare(box)
        kill_at(box, command, number)
        if rerun:
            must(box.run(command))
        must(box.run(["sh", UNINSTALL, "--yes"]))
        return box.diff()


def numbers(server: Server, prepare: Callable[[Box], None], command: Sequence[str]) -> list[int]:
    """The call numbers to kill at: POINTS of them, evenly spread over a first, undisturbed run."""
    with server.box(binds=[PROJECT]) as box:
        prepare(box)
        return evenly(count(box, command), POINTS)
