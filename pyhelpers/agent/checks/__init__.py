"""Preflight: tell the truth about a host before anything on it changes. Entry point: `preflight`.

table.py is the list of requirements; each check is a module beside it. See docs/checks.md for how to add one.
"""

from __future__ import annotations

from pathlib import Path

from pyhelpers.agent import streams
from pyhelpers.agent.checks.model import Question
from pyhelpers.agent.config import Config, ConfigErrors, load
from pyhelpers.host import Host

DEFAULT_BINARY_BYTES = 64 << 20  # of an official agent, where the size of our own file is not known


def preflight(
    config_path: str,
    output: str = "text",
    ignore: str = "",
    fail_on_warnings: bool = False,
    host: Host | None = None,
    planned_root: str | None = None,
) -> int:
    """Ask every check, print the report to stdout; 0: start may go on, 1: it must not. Changes nothing.

    output: text or json. ignore: ids whose errors count as warnings, with commas between, or `all`.
    planned_root: below which the agent's files go; by default where a start on this host would put them.
    """
    from pyhelpers.agent import find
    from pyhelpers.agent.checks import report, runner, table

    host = host or Host()
    ignored, unknown = report.ignore_list(ignore, [check.id for check in table.CHECKS] + list(table.OTHER_IDS))
    for name in unknown:
        streams.say(f"preflight: warning: there is no check {name} to ignore")
    question = _question(config_path, host, planned_root or find.root(host))
    answers = runner.ask(table.CHECKS, question)
    made = report.make(answers, ignored, fail_on_warnings)
    streams.answer((report.as_json(made) if output == "json" else report.as_text(made, f"config {config_path}")) + "\n")
    return 1 if made.failed else 0


def _question(config_path: str, host: Host, planned_root: str) -> Question:
    from pyhelpers.agent import build, root

    try:
        config: Config | ConfigErrors = load(str(host.real(config_path)))
    except ConfigErrors as errors:
        config = errors
    file = build.own_file()
    size = Path(file).stat().st_size if file else DEFAULT_BINARY_BYTES
    return Question(host, config, [f"{planned_root}/{name}" for name in root.SUBDIRECTORIES], size)
