"""Measures sandboxes: one run against one of bubblewrap, the command line, a difference of 10,000 changes."""

from __future__ import annotations

import os
import subprocess
import sys

from pyhelpers.bench.report import Row, row, seconds
from pyhelpers.sandbox import Server

ROUNDS = 200
COMMAND_ROUNDS = 20
TRUE = "/bin/true"
BWRAP = ["/usr/bin/bwrap", "--unshare-all", "--bind", "/", "/", "true"]
FLEXKIT = [sys.executable, "-m", "pyhelpers", "sandbox", "--", "true"]


def measure() -> list[Row]:
    """The rows; the runs that are compared take turns, so that a busy moment hits both."""
    with Server(jobs=2) as server:
        ours, bwrap, bare, box = _against_bwrap(server)
        difference = _difference(server)
    _write_bytecode()
    command = [seconds(lambda: _spawn(FLEXKIT)) for _ in range(COMMAND_ROUNDS)]
    return [
        row("true (posix_spawn)", bare),
        row("bwrap --unshare-all --bind / / true", bwrap),
        row('Server.run(["true"])', ours, than=bwrap, limit=1.5),
        row('Box.run(["true"])', box, than=bwrap),
        row("flexkit sandbox -- true", command, limit=150),
        row("difference of 10,000 changes", difference, limit=100),
    ]


def _against_bwrap(server: Server) -> tuple[list[float], list[float], list[float], list[float]]:
    ours: list[float] = []
    bwrap: list[float] = []
    bare: list[float] = []
    boxed: list[float] = []
    with server.box() as box:
        server.run(["true"])
        box.run(["true"])
        for _ in range(ROUNDS):
            bwrap.append(seconds(lambda: _spawn(BWRAP)))
            bare.append(seconds(lambda: _spawn([TRUE])))
            boxed.append(seconds(lambda: box.run(["true"])))
            ours.append(seconds(lambda: server.run(["true"])))
    return ours, bwrap, bare, boxed


def _difference(server: Server) -> list[float]:
    result = server.run(["sh", "-ec", "mkdir /opt/many; cd /opt/many; seq 10000 | xargs touch"])
    return [seconds(result.diff) for _ in range(10)]


def _write_bytecode() -> None:
    """As any first run does, unless the environment forbids it."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(FLEXKIT, check=True, env=env)


def _spawn(argv: list[str]) -> None:
    pid = os.posix_spawn(argv[0], argv, os.environ)
    _, status = os.waitpid(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(argv)} failed: {status}")
