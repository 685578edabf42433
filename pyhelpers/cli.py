"""The command line `flexkit`: finds the subcommand and hands over. Nothing here does any work.

Each subcommand lives beside the part that it runs, as `main(argv) -> exit code`, and is imported only when it
is called, because `flexkit sandbox -- true` must cost no more than what it needs. Exit codes of all: 1 something was
found wrong, 2 the call is wrong, 125 the sandbox or host that is needed cannot be had; a command that runs in one
hands on its own.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from pyhelpers.agent import streams

# name -> (module with main(argv), what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "bench": ("pyhelpers.bench.command", "measure sandboxes and throwaway hosts side by side"),
    "demo": ("pyhelpers.demo", "bootstrap, show and uninstall the agent on a throwaway clone of this machine"),
    "doctor": ("pyhelpers.sandbox.doctor", "say which depth of test this machine can do, and why"),
    "host": ("pyhelpers.testhost.command", "start, use and delete a throwaway host"),
    "mutants": ("pyhelpers.suites.mutants", "check that the script tests catch listed one-line faults"),
    "release": ("pyhelpers.release.command", "build the reference agent's archives and checksums.txt"),
    "sandbox": ("pyhelpers.sandbox.command", "run one command in a private sandbox of this machine"),
    "sweep": ("pyhelpers.sweep.command", "kill or fail a script at each of its mutating system calls"),
    "stamp": ("pyhelpers.stamp.command", "write scripts/lib into the scripts, or check that it is there"),
    "test": ("pyhelpers.suites.command", "run bats and pytest files in a pool of sandboxes"),
    "try": ("pyhelpers.testhost.trial", "run any installer in a throwaway host and show what it changed"),
}


def usage() -> str:
    """The help text: one line for each subcommand."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, (_, what) in sorted(COMMANDS.items())]
    return "usage: flexkit COMMAND [ARGS…]   (flexkit COMMAND --help)\n\n" + "\n".join(lines)


def entry() -> NoReturn:
    """`flexkit`: ends without the interpreter's tidying, which takes a sixth of the time of a sandbox."""
    code = main()
    sys.stderr.flush()
    os._exit(code)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `flexkit ARGV`; the exit code is the subcommand's, 2 for a wrong call, 1 when stdout takes no more."""
    streams.open_all()  # or a socket of ours takes the place of a closed stream, and words go into it
    code, words = 1, ""
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
    except (SystemExit, OSError):  # the first is argparse's end
        if not (words := _unwritten()):
            raise
    if words := words or _unwritten():
        print(f"flexkit: cannot write the output: {words}", file=sys.stderr)
        return 1
    return code


def _unwritten() -> str:
    """Why what was printed cannot be written; empty when it can."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or the interpreter fails on it once more
        return os.strerror(error.errno or 0)
    return ""


def _run(args: list[str]) -> int:
    if args and args[0] in ("-h", "--help"):
        print(usage())
        return 0
    if not args or args[0] not in COMMANDS:
        print(usage(), file=sys.stderr)
        return 2
    run = importlib.import_module(COMMANDS[args[0]][0]).main
    code: int = run(args[1:])
    return code
