"""The agent's command line: which command, its options, and how an error is told. Imports only what a command needs.

Contract: exit 0 on success and on SIGINT or SIGTERM, else `Command execution failed: <cause>` on stderr and exit 1.
Data goes to stdout, everything else to stderr.
"""

from __future__ import annotations

from pyhelpers.agent import build as builds
from pyhelpers.agent import fault, streams

TYPE_CHECKING = False  # typing's own costs its import
if TYPE_CHECKING:
    from pyhelpers.host import Host

# command -> its options; True: the option takes a value
COMMANDS: dict[str, dict[str, bool]] = {
    "version": {},
    "host-root": {"canonical": False},
    "preflight": {"config": True, "output": True, "ignore-preflight-errors": True, "fail-on-warnings": False},
    "start": {"config": True},
    "daemon": {"config": True},
    "reset": {},
    "status": {"output": True},
}
ALIASES = {"bootstrap": "start", "agent": "daemon", "unbootstrap": "reset"}
NEED_CONFIG = ("preflight", "start", "daemon")
USAGE = """usage: aks-flex-node COMMAND [OPTIONS]

  version                       what this is
  preflight --config F [--output text|json] [--ignore-preflight-errors A,B] [--fail-on-warnings]
                                can this host run the agent? changes nothing
  start --config F              set the host up, install and start the agent (alias: bootstrap)
  daemon --config F             run the agent; its unit does this (alias: agent)
  status [--output text|json]   state, slot, last operation, units
  reset                         take the node off this host (alias: unbootstrap)
"""


def main(argv: list[str]) -> int:
    """Run one command; the exit code is the process's."""
    streams.open_all()
    try:
        return _command(argv)
    except streams.Unwritable as error:
        return _failed(str(error))


def _command(argv: list[str]) -> int:
    build = builds.current()
    fault.at_entry(build.fault)
    if argv == ["version"]:
        streams.answer(build.lines())
        return 0
    if not argv or argv[0] in ("help", "-h", "--help") or argv[1:] in (["-h"], ["--help"]):
        streams.answer(USAGE)
        return 0
    try:
        name, options = parse(argv, build.legacy)
        return _guarded(build, name, options)
    except ValueError as error:
        return _failed(str(error))


def parse(argv: list[str], legacy: bool) -> tuple[str, dict[str, str]]:
    """The command's name and its options; ValueError: what is wrong with the call."""
    name = ALIASES.get(argv[0], argv[0])
    if name not in COMMANDS or (legacy and name == "host-root"):
        raise ValueError(f'unknown command "{argv[0]}"')
    options: dict[str, str] = {}
    rest = list(argv[1:])
    while rest:
        word = rest.pop(0)
        option, equals, value = word[2:].partition("=")
        if not word.startswith("--"):
            raise ValueError(f'unexpected argument "{word}"')
        if option not in COMMANDS[name]:
            raise ValueError(f"unknown flag: --{option}")
        if COMMANDS[name][option] and not equals:
            if not rest:
                raise ValueError(f"flag needs an argument: --{option}")
            value = rest.pop(0)
        options[option] = value if COMMANDS[name][option] else "true"
    if name in NEED_CONFIG and not options.get("config"):
        raise ValueError('required flag "config" not set')
    if options.get("output", "text") not in ("text", "json"):
        raise ValueError("--output must be text or json")
    return name, options


def _failed(cause: str) -> int:
    streams.say(f"Command execution failed: {cause}")
    return 1


def _guarded(build: builds.Build, name: str, options: dict[str, str]) -> int:
    """Run the command with signals as the contract has them."""
    import os
    import signal

    from pyhelpers.agent.failure import Interrupted

    def stop(_number: int, _frame: object) -> None:
        raise Interrupted

    os.umask(0o022)
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        if name == "host-root":
            streams.answer(_host_root(build, "canonical" in options) + "\n")
            return 0
        return _told(build, name, options)
    except Interrupted:
        return 0
    except OSError as error:
        return _failed(str(error))


def _host_root(build: builds.Build, canonical: bool) -> str:
    """Callers wait for this one: it imports no more than it needs."""
    from pyhelpers import contract
    from pyhelpers.agent import find
    from pyhelpers.view import View

    return contract.HOST_ROOT if canonical else fault.host_root(build.fault, find.root(View()))


def _told(build: builds.Build, name: str, options: dict[str, str]) -> int:
    """Run the command with errors as the contract has them."""
    from pyhelpers.agent.failure import AgentError
    from pyhelpers.errors import FlexError
    from pyhelpers.host import CommandError

    try:
        return _run(build, name, options)
    except (AgentError, CommandError, FlexError) as error:
        return _failed(str(error))


def _run(build: builds.Build, name: str, options: dict[str, str]) -> int:
    from pyhelpers.host import Host

    host = Host()
    if name == "preflight":
        return _preflight(host, build, options)
    if name == "start":
        from pyhelpers.agent import start

        start.run(host, build, options["config"])
    elif name == "daemon":
        from pyhelpers.agent import daemon

        daemon.run(host, build, options["config"])
    elif name == "reset":
        from pyhelpers.agent import reset

        reset.run(host)
    else:
        from pyhelpers.agent import status

        streams.answer(status.report(host, options.get("output", "text")) + "\n")
    return 0


def _preflight(host: Host, build: builds.Build, options: dict[str, str]) -> int:
    from pyhelpers.agent import checks, place

    return checks.preflight(
        options["config"],
        options.get("output", "text"),
        options.get("ignore-preflight-errors", ""),
        "fail-on-warnings" in options,
        host,
        place.planned(host, build),
    )
