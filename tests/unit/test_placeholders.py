"""What a URL of an archive may hold is told where the option is told."""

from __future__ import annotations

import re

import pytest

from pyhelpers.stamp.command import CHECKOUT


@pytest.mark.parametrize(("script", "option"), [("install", "--archive"), ("bootstrap", "--agent-url")])
def test_help_and_docs_name_each_placeholder_that_the_scripts_fill_in(script: str, option: str) -> None:
    filled = re.findall(r"flexnode_fill_in '(\{\{\w+\}\})'", (CHECKOUT / "scripts/lib/agent.sh").read_text())
    help_text = (CHECKOUT / f"scripts/lib/options-{script}.sh").read_text().partition(f"  {option} ")[2]
    row = (CHECKOUT / "docs/options.md").read_text().partition(f"| `{option}` ")[2].partition("\n")[0]
    assert len(filled) == 4
    assert re.findall(r"\{\{\w+\}\}", help_text.partition("\n  --")[0]) == sorted(filled, key=help_text.index)
    assert set(re.findall(r"\{\{\w+\}\}", row)) == set(filled)
