"""docs/config.md says what the rules say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pyhelpers.agent.config import reference
from pyhelpers.agent.config.relations import RELATIONS
from pyhelpers.agent.config.rules import LEGACY_KEYS, RULES
from pyhelpers.agent.config.validate import BY_KEY, validate

DOCUMENT = (Path(__file__).parents[4] / "docs/config.md").read_text()


def test_the_reference_is_what_the_tables_give() -> None:
    assert reference.markdown() == DOCUMENT, "run: python3 -m pyhelpers.agent.config.reference > docs/config.md"


def test_every_key_stands_in_the_reference_once() -> None:
    assert len(BY_KEY) == len(RULES)
    assert [key for key in BY_KEY if DOCUMENT.count(f"\n| `{key}` |") != 1] == []
    assert [new for _, new in LEGACY_KEYS if new not in BY_KEY] == []


def test_every_rule_over_several_keys_says_what_it_is() -> None:
    assert all((relation.__doc__ or "").endswith(".") for relation in RELATIONS)


def test_the_smallest_config_of_the_reference_is_right() -> None:
    [example] = re.findall(r"```json\n(.*?)```", DOCUMENT, re.S)
    assert validate(json.loads(example), "host1")[1] == []


def test_every_default_follows_its_own_rule() -> None:
    assert [rule.key for rule in RULES if rule.default is not None and not rule.kind.accepts(rule.default)] == []
