"""Runs one command inside a host as a transient unit of its systemd. Runs in the keeper.

`systemd-run` gives the command the host's own cgroups and capabilities; the client that asks for it enters the
host's namespaces and drops what could reach the machine itself.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pyhelpers.sandbox.spec import PATH

# What systemd puts into a unit's environment; a command gets exactly the environment that it was given.
SYSTEMD_VARIABLES = (
    *("PATH", "LANG", "LANGUAGE", "HOME", "LOGNAME", "USER", "SHELL", "TERM", "INVOCATION_ID", "JOURNAL_STREAM"),
    *("SYSTEMD_EXEC_PID", "NOTIFY_SOCKET", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE"),
)
# A shell in between, so that the exit code is a shell's: 126, 127, 128+N. systemd would call death by SIGTERM success.
SHELL = ("/bin/sh", "-c", '"$@"; exit $?', "sh")
STOP_SECONDS = 5.0
UNIT_PREFIX = "flexkit-run-"

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Outcome:
    """How a command ended; `seconds` from the request to the end."""

    code: int
    seconds: float
    timed_out: bool


def enter(leader: int, argv: Sequence[str]) -> list[str]:
    """The call that runs ARGV in the namespaces of LEADER, without the capabilities that act on the machine."""
    bounding = "--bounding-set=-sys_time,-sys_module,-sys_rawio"
    return ["nsenter", f"--target={leader}", "-m", "-u", "-i", "-n", "-p", "setpriv", bounding, "--", *argv]


@dataclass(frozen=True)
class Command:
    """What to run. timeout: seconds, None for no limit. terminal: give it one, of which stdin and stdout are ends."""

    argv: list[str]
    env: dict[str, str]
    cwd: str = "/"
    timeout: float | None = None
    terminal: bool = False


def as_unit(unit: str, command: Command) -> list[str]:
    """The call of systemd-run; values of the environment are taken from its own, so they are in no argument."""
    unset = " ".join(name for name in SYSTEMD_VARIABLES if name not in command.env)
    return [
        *("systemd-run", "--quiet", "--wait", "--collect", "--pty" if command.terminal else "--pipe"),
        *(f"--unit={unit}", f"--working-directory={command.cwd}"),
        f"--description={unit}",  # else the arguments stand in the host's journal
        *("--property=KillMode=process", f"--property=UnsetEnvironment={unset}"),  # what it starts may outlive it
        *(f"--setenv={name}" for name in command.env),
        "--",
        *(argument.replace("$", "$$") for argument in (*SHELL, *command.argv)),  # systemd would put variables in
    ]


def run(leader: int, command: Command, fds: Sequence[int], caller: int) -> Outcome:
    """Run it with the three descriptors FDS; killed after its timeout, or when the socket CALLER hangs up."""
    started = time.monotonic()
    unit = f"{UNIT_PREFIX}{next(_numbers)}.service"
    process = subprocess.Popen(
        enter(leader, as_unit(unit, command)),
        stdin=fds[0],
        stdout=fds[1],
        stderr=fds[2],
        env={"PATH": PATH, **command.env},
    )
    ended = _wait(process, command.timeout, caller)
    if not ended:
        kill = enter(leader, ["systemctl", "kill", "--kill-who=all", "--signal=KILL", unit])
        subprocess.run(kill, check=False, capture_output=True, timeout=STOP_SECONDS, env={"PATH": PATH})
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        process.kill()
        process.wait()
    code = process.wait() if ended else 128 + signal.SIGKILL
    code = 128 - code if code < 0 else code
    return Outcome(code, time.monotonic() - started, not ended)


def _wait(process: subprocess.Popen[bytes], timeout: float | None, caller: int) -> bool:
    """Whether PROCESS ended by itself in time, with its caller still there."""
    end = os.pidfd_open(process.pid)
    try:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        poll.register(caller, 0)  # POLLHUP alone
        return any(fd == end for fd, _ in poll.poll(None if timeout is None else timeout * 1000))
    finally:
        os.close(end)
