"""uninstall.sh killed before a mutating system call: the next run finishes, and the tree is the untouched one."""

from __future__ import annotations

from collections.abc import Sequence

from pyhelpers.sandbox import Box, Server
from pyhelpers.sandbox.mutations import evenly
from tests.faults.kill import count, kill_at
from tests.scripts.uninstall import CONFIG, LOGS, PROJECT, ROOT, STATE, UNINSTALL, WANTS, Uninstall

POINTS = 12
COMMAND = ["sh", UNINSTALL, "--yes"]
KEEP = [*COMMAND, "--keep-config"]


def installed(box: Box) -> Uninstall:
    """An agent that was installed on a bare host, started, and has a config."""
    host = Uninstall(box)
    host.install()
    host.put_layout()
    host.put_units()
    host.put(f"{CONFIG}/config.json", b"{}", 0o600)
    host.put(f"{CONFIG}/credentials/secret", b"s", 0o600)
    host.put(f"{LOGS}/agent.log")
    return host


def found_directories(box: Box) -> Uninstall:
    """The same where directories were there before, empty, with modes of their own."""
    Uninstall(box).sh(
        f"mkdir -m 0750 {CONFIG} {STATE} {LOGS}; mkdir -m 0711 {ROOT}; mv {WANTS} /tmp/wants; mkdir {WANTS}"
    )
    return installed(box)


def numbers(server: Server, command: Sequence[str]) -> list[int]:
    with server.box(binds=[PROJECT]) as box:
        installed(box)
        return evenly(count(box, command), POINTS)


def test_a_killed_run_is_finished_by_the_next(server: Server) -> None:
    for number in numbers(server, COMMAND):
        with server.box(binds=[PROJECT]) as box:
            host = installed(box)
            kill_at(box, COMMAND, number)
            host.run("--yes")
            assert host.diff() == [], f"killed before call {number}"


def test_a_killed_run_still_knows_which_directories_were_there_before(server: Server) -> None:
    with server.box(binds=[PROJECT]) as box:
        Uninstall(box).sh(
            f"mkdir -m 0750 {CONFIG} {STATE} {LOGS}; mkdir -m 0711 {ROOT}; mv {WANTS} /tmp/wants; mkdir {WANTS}"
        )
        before = Uninstall(box).diff()
    for number in numbers(server, COMMAND):
        with server.box(binds=[PROJECT]) as box:
            host = found_directories(box)
            kill_at(box, COMMAND, number)
            host.run("--yes")
            assert host.diff() == before, f"killed before call {number}"


def test_a_killed_run_loses_no_config_that_was_to_be_kept(server: Server) -> None:
    for number in numbers(server, KEEP):
        with server.box(binds=[PROJECT]) as box:
            host = installed(box)
            kill_at(box, KEEP, number)
            host.run("--yes", "--keep-config")
            left = [change.path for change in host.changes()]
            kept = [CONFIG, f"{CONFIG}/config.json", f"{CONFIG}/credentials", f"{CONFIG}/credentials/secret"]
            assert left == kept, f"killed before call {number}"
            assert box.read(f"{CONFIG}/config.json") == b"{}"
            assert box.read(f"{CONFIG}/credentials/secret") == b"s"
