"""`flexkit sandbox [--diff] [--timeout S] [--size N] -- CMD`: one command in a sandbox of this machine.

Everything goes through pipes, so that no descriptor of the outside, not even a terminal, is within CMD's reach.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pyhelpers import arguments
from pyhelpers.sandbox.mounts import OWN, is_below
from pyhelpers.sandbox.pump import Command
from pyhelpers.sandbox.result import SandboxError
from pyhelpers.sandbox.server import Server
from pyhelpers.sandbox.spec import DEFAULT_SIZE

COULD_NOT = 125


def main(argv: Sequence[str]) -> int:
    """The exit code is the command's; 125: the sandbox could not be made, 124: the time was up."""
    options = _parse(argv)
    try:
        return _run(options)
    except SandboxError as error:
        print(f"flexkit sandbox: {error}; `flexkit doctor` says what this machine can do", file=sys.stderr)
        return COULD_NOT


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="flexkit sandbox",
        usage="flexkit sandbox [--diff] [--timeout S] [--size N] [--bind PATH]… [--] CMD [ARGS…]",
        description="Run CMD over an overlay of this machine, without its network. Nothing outside changes. "
        "/tmp and /run are empty in it; --bind shows what lies there.",
    )
    parser.add_argument("--diff", action="store_true", help="print what CMD changed on stdout afterwards")
    parser.add_argument("--timeout", type=arguments.seconds, metavar="S", help="kill CMD after S seconds (never)")
    parser.add_argument(
        "--size",
        type=arguments.size,
        default=DEFAULT_SIZE,
        metavar="N",
        help=f"room for what it writes, as 512m or 1g ({DEFAULT_SIZE})",
    )
    parser.add_argument(
        "--bind",
        type=arguments.bind,
        action="append",
        default=[],
        metavar="PATH[:TARGET]",
        help="show PATH in it, read-only (but sockets in it are live), for example --bind . below /tmp",
    )
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD", help="the command and its arguments")
    options = parser.parse_args(argv)
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command:
        parser.error("CMD is missing")
    return options


def _run(options: argparse.Namespace) -> int:
    command = Command(
        options.command,
        os.environ,
        _directory([target for _, target in options.bind]),
        stdin=_stdin(),
        timeout=options.timeout,
        merge=_same_file(1, 2),
    )
    with Server(jobs=0, fork=True) as server, server.box(options.bind, options.size) as box:
        end = box.carry(command, _write)
        if options.diff:
            box.kill()
            for change in box.diff():
                print(change)
        if box.is_full() and end.code != 0:
            raise SandboxError(f"the store of {options.size} is full: give a larger --size")
    if end.timed_out:
        print(f"flexkit sandbox: timed out after {options.timeout:g} s", file=sys.stderr)
        return 124
    return end.code


def _directory(binds: Sequence[str]) -> str:
    """Where CMD runs: here, or in `/` when this directory is not in the sandbox; that is said."""
    here = os.getcwd()  # noqa: PTH109 - pathlib alone is a tenth of what this command takes
    if here in OWN or any(is_below(here, bind) for bind in binds) or not any(is_below(here, own) for own in OWN):
        return here
    print(f"flexkit sandbox: {here} is not in the sandbox, CMD runs in /; --bind . shows it", file=sys.stderr)
    return "/"


def _stdin() -> int | bytes:
    """Our stdin, unless it is closed or a terminal: a sandbox waits for nobody."""
    try:
        return b"" if os.isatty(0) or not os.fstat(0) else 0
    except OSError:
        return b""


def _same_file(first: int, second: int) -> bool:
    """Whether both go to one place; then one pipe keeps the order."""
    try:
        return os.path.sameopenfile(first, second)
    except OSError:
        return False


def _write(number: int, block: bytes) -> None:
    while block:
        block = block[os.write(number, block) :]
