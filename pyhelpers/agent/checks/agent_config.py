"""agent-config: config.json can be read and follows every rule; each broken rule is one result."""

from __future__ import annotations

from pyhelpers.agent.checks.model import FAIL, PASS, Check, Question, Result
from pyhelpers.agent.config import ConfigErrors


def run(question: Question) -> list[Result]:
    """The config was read once, before the checks started."""
    config = question.config
    if isinstance(config, ConfigErrors):
        return [_problem(config.path, text, config.remedy) for text in config.problems]
    return [Result(PASS, f"{config.path} is complete, node name {config.node_name}", target=config.path)]


def _problem(path: str, text: str, remedy: str) -> Result:
    key, colon, what = text.partition(": ")
    if colon and " " not in key.split(" (")[0]:
        return Result(FAIL, text, target=key, required=what, remedy=f"correct {key} in {path}")
    return Result(FAIL, f"{path} {text}", target=path, remedy=remedy)


CHECK = Check(
    id="agent-config",
    asks="Is config.json there, is it JSON, and does every key follow its rule?",
    why="A wrong key would otherwise be found when the host has half changed.",
    remedy="correct the named keys",
    run=run,
    start_can_do_without=False,
)
