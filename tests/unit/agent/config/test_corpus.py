"""Every case of tests/corpus/config is read, and names exactly the keys or has exactly the values that it says."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from pyhelpers.agent.config import ConfigErrors, load
from pyhelpers.agent.config.keys import get, put

CORPUS = Path(__file__).parents[3] / "corpus" / "config"
BASES: dict[str, Any] = yaml.safe_load((CORPUS / "bases.yaml").read_text())
CASES: dict[str, dict[str, Any]] = {
    f"{file.stem}: {case['case']}": case
    for file in sorted(CORPUS.glob("*.yaml"))
    if file.stem != "bases"
    for case in yaml.safe_load(file.read_text())
}


def content(case: dict[str, Any]) -> str:
    """The file of a case."""
    if "text" in case:
        return str(case["text"])
    data = copy.deepcopy(BASES[case["from"]])
    for key in case.get("unset", ()):
        parent, _, last = key.rpartition(".")
        del (get(data, parent) if parent else data)[last]
    for key, value in case.get("set", {}).items():
        put(data, key, value)
    return json.dumps(data)


def key_of(problem: str) -> str:
    """The key that a problem begins with; "" for a problem of the whole file."""
    key = problem.split(": ")[0].split(" (now ")[0]
    return "" if " " in key else key


def test_the_corpus_is_large_and_its_sentences_are_unique() -> None:
    files = [file for file in CORPUS.glob("*.yaml") if file.stem != "bases"]
    assert len(CASES) == sum(len(yaml.safe_load(file.read_text())) for file in files) >= 60


@pytest.mark.parametrize("name", CASES)
def test_a_config_is_judged_as_its_case_says(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    assert ("errors" in case) != ("values" in case), "a case says errors or values"
    file = tmp_path / "config.json"
    file.write_text(content(case), encoding="utf-8")
    if "values" in case:
        config = load(file, hostname=case.get("hostname", "host1"))
        assert {key: config.get(key) for key in case["values"]} == case["values"]
        return
    with pytest.raises(ConfigErrors) as caught:
        load(file, hostname=case.get("hostname", "host1"))
    named = {key_of(problem): problem for problem in caught.value.problems}
    assert set(named) == set(case["errors"])
    assert len(named) == len(caught.value.problems), "a key is named twice"
    for key, words in case["errors"].items():
        assert words in named[key]
        assert named[key] in str(caught.value), "the one line leaves a problem out"
    assert not [word for word in case.get("silent", ()) if word in str(caught.value)]
