"""`flexkit host`: throwaway hosts by hand. A host that is up goes on until `down`, or until its keeper is killed."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from pyhelpers import arguments
from pyhelpers.sandbox.spec import DEFAULT_SIZE, PATH
from pyhelpers.testhost import names
from pyhelpers.testhost.host import Host, HostError


def main(argv: Sequence[str]) -> int:
    """Exit code: the command's for `exec`, 1 for `diff` with a difference, 125 when the host cannot be used."""
    options = _parser().parse_args(argv)
    try:
        code: int = options.run(options)
    except (HostError, FileExistsError) as error:
        print(f"flexkit host: {error}", file=sys.stderr)
        return 125
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flexkit host", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    what = "start a clone of this machine and print its name"
    up = commands.add_parser("up", help=what, description=_sentence(what))
    up.set_defaults(run=_up)
    up.add_argument("name", nargs="?", default="", metavar="NAME", help="what to call it (a new name)")
    up.add_argument(
        "--size", type=arguments.size, default=DEFAULT_SIZE, help=f"what it may write, as 512m or 1g ({DEFAULT_SIZE})"
    )
    up.add_argument(
        "--base", type=arguments.directory, metavar="DIR", help="a root file system to use instead of this machine's"
    )
    up.add_argument(
        "--bind",
        type=arguments.bind,
        action="append",
        default=[],
        metavar="PATH[:TARGET]",
        help="show PATH in it, read-only; /tmp and /run are empty in it otherwise",
    )
    up.add_argument("--network", action="store_true", help="share this machine's network")
    for name, run, text in (
        ("exec", _exec, "run a command in it; the exit code is the command's"),
        ("reboot", _reboot, "reboot it from inside"),
        ("cut", _cut, "take its power away and start it again"),
        ("diff", _diff, "show what changed on its disk since before its first boot"),
        ("down", _down, "delete it"),
    ):
        usage = "flexkit host exec [-h] NAME [--] CMD [ARGS…]" if name == "exec" else None
        command = commands.add_parser(name, help=text, description=_sentence(text), usage=usage)
        command.set_defaults(run=run)
        command.add_argument("name", metavar="NAME", help="the name that `host up` printed")
        if name == "exec":
            command.add_argument("argv", nargs="+", metavar="CMD", help="the command and its arguments")
        if name == "cut":
            command.add_argument("--no-boot", action="store_true", help="leave it off")
        if name == "diff":
            command.add_argument("--all", action="store_true", help="also what a mere boot changes")
            command.add_argument("--plain", action="store_true", help="one line for each path")
    what = "show the hosts that are up"
    commands.add_parser("list", help=what, description=_sentence(what)).set_defaults(run=_list)
    return parser


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _up(options: argparse.Namespace) -> int:
    if options.name in names.all_names():
        raise HostError(f"there is a host {options.name} already")
    with Host.clone_of_this_machine(
        options.bind,
        options.size,
        options.base,
        name=options.name,
        network=options.network,
    ) as host:
        print(host.hand_over())
    return 0


def _exec(options: argparse.Namespace) -> int:
    env = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb")}
    host = Host.named(options.name)
    streams = [stream.fileno() for stream in (sys.stdin, sys.stdout, sys.stderr)]
    return host.run_with(options.argv, streams, env, cwd="/root", terminal=all(map(os.isatty, streams[:2]))).code


def _reboot(options: argparse.Namespace) -> int:
    Host.named(options.name).reboot()
    return 0


def _cut(options: argparse.Namespace) -> int:
    Host.named(options.name).power_cut(boot=not options.no_boot)
    return 0


def _diff(options: argparse.Namespace) -> int:
    changes = Host.named(options.name).diff(all_paths=options.all)
    if options.plain:
        for change in changes:
            print(change)
    elif changes:
        from rich.console import Console  # costs more than all the other commands together

        from pyhelpers.testhost import show

        Console(soft_wrap=True, highlight=False, emoji=False).print(show.change_tree(changes))
    return 1 if changes else 0


def _down(options: argparse.Namespace) -> int:
    Host.named(options.name).down()
    return 0


def _list(options: argparse.Namespace) -> int:
    for name in names.all_names():
        print(f"{name}\t{Host.named(name).state}")
    return 0
