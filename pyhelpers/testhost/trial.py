"""`flexkit try`: run any installer in a throwaway clone of this machine and show what it did to it.

A URL is fetched outside first. The clone has no network but its own loopback unless --network is given: then it
shares this machine's network as it is, loopback and all that listens there included, but without CAP_NET_ADMIN and
CAP_NET_RAW, so it can use the network and not change it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

from rich.console import Console
from rich.markup import escape

from pyhelpers import arguments
from pyhelpers.sandbox.spec import PATH
from pyhelpers.testhost import archive, facts, show
from pyhelpers.testhost.host import Host, HostError
from pyhelpers.tree import Change

PLACE = "/run/flexkit-try"  # in the host's memory: it is no part of the difference
TIMED_OUT = 124  # as timeout(1)
TITLES = {
    "units": "units, new or in a new state",
    "users": "users",
    "groups": "groups",
    "ports": "listening ports",
    "processes": "processes that are still running",
}


def main(argv: Sequence[str]) -> int:
    """Exit code: the installer's; 124 when its time was up, 125 when it could not be tried."""
    options = _parser().parse_args(argv)
    console = Console(soft_wrap=True, highlight=False, emoji=False)
    try:
        with tempfile.TemporaryDirectory(prefix="flexkit-try-") as directory:
            return _try(options, obtain(options.installer, Path(directory)), console)
    except HostError as error:
        why = str(error)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    print(f"flexkit try: {why}", file=sys.stderr)
    return 125


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="flexkit try", description=__doc__)
    parser.add_argument("--network", action="store_true", help="share this machine's network (see above)")
    parser.add_argument("--keep", action="store_true", help="leave the clone up to look around")
    parser.add_argument(
        "--tar", type=arguments.new_file, metavar="FILE", help="keep the difference as a tar file (an OCI layer)"
    )
    parser.add_argument(
        "--timeout", type=arguments.seconds, default=600, metavar="SECONDS", help="kill it after this time (600)"
    )
    parser.add_argument("--size", type=arguments.size, default="2g", help="what it may write, as 512m or 1g (2g)")
    parser.add_argument(
        "--bind",
        type=arguments.bind,
        action="append",
        default=[],
        metavar="PATH[:TARGET]",
        help="show PATH in it, read-only; /tmp and /run are empty in it otherwise",
    )
    parser.add_argument(
        "installer", metavar="INSTALLER", help="a file or a URL; a script without #! is run by sh, stdin is empty"
    )
    rest = parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="its arguments, all that follows")
    rest.required = False  # else argparse asks for them when INSTALLER is missing
    return parser


def obtain(installer: str, directory: Path) -> Path:
    """The installer as a file. Raises OSError, also for what cannot be fetched."""
    if not installer.startswith(("http://", "https://")):
        path = Path(installer)
        with path.open("rb"):
            return path
    path = directory / (installer.partition("?")[0].rstrip("/").rpartition("/")[2] or "installer")
    try:
        with urllib.request.urlopen(installer, timeout=60) as answer:
            path.write_bytes(answer.read())
    except (OSError, ValueError, HTTPException) as error:
        why = error.reason if isinstance(error, URLError) and not isinstance(error, HTTPError) else error
        raise OSError(f"{installer} cannot be fetched: {getattr(why, 'strerror', None) or why}") from None
    return path


def command(content: bytes, path: str, args: Sequence[str]) -> list[str]:
    """How the installer is called: by itself when the kernel can run it, else by sh."""
    return [*([] if content.startswith((b"#!", b"\x7fELF")) else ["/bin/sh"]), path, *args]


def _try(options: argparse.Namespace, installer: Path, console: Console) -> int:
    content, place = installer.read_bytes(), f"{PLACE}/{installer.name}"
    env = {"PATH": PATH, "HOME": "/root", "USER": "root", "LANG": "C.UTF-8", "TERM": os.environ.get("TERM", "dumb")}
    with Host.clone_of_this_machine(options.bind, options.size, network=options.network) as host:
        host.write(place, content, 0o755)
        before = facts.gather(host)
        console.print(f"[bold cyan]== {escape(installer.name)} in a clone of this machine[/]")
        with open(os.devnull) as nothing:  # noqa: PTH123 - no path of a project
            streams = [nothing.fileno(), sys.stdout.fileno(), sys.stderr.fileno()]
            sys.stdout.flush()
            end = host.run_with(command(content, place, options.args), streams, env, options.timeout, "/root")
        changes, new = host.diff(), facts.news(before, facts.gather(host))
        new["units"] = facts.changed_units(host, new["units"], changes)
        outcome = f"timed out after {options.timeout:g} s" if end.timed_out else f"exit code {end.code}"
        _show(console, outcome, changes, new)
        if options.tar:
            with host.root() as root_fd:
                archive.write(options.tar, root_fd, changes)
            console.print(f"\nthe difference is in {options.tar}")
        if options.keep:
            name = host.hand_over()
            console.print(f"\nthe clone is up: flexkit host exec {name} -- bash; flexkit host down {name}")
    return TIMED_OUT if end.timed_out else end.code


def _show(console: Console, outcome: str, changes: Sequence[Change], new: dict[str, list[str]]) -> None:
    console.print(f"\n[bold cyan]== {outcome}[/]")
    console.print(f"\n[bold cyan]== files: {len(changes)} changed[/]")
    if changes:
        console.print(show.change_tree(changes))
    for title, lines in new.items():
        console.print(f"\n[bold cyan]== {TITLES[title]}: {len(lines)}[/]")
        for line in lines:
            console.print(f"  {escape(line)}")
