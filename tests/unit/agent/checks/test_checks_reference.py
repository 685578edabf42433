"""docs/checks.md says what the table of checks says."""

from __future__ import annotations

from pathlib import Path

from pyhelpers.agent.checks import reference
from pyhelpers.agent.checks.table import CHECKS

DOCUMENT = (Path(__file__).parents[4] / "docs/checks.md").read_text()


def test_the_reference_is_what_the_table_gives() -> None:
    assert reference.markdown() == DOCUMENT, "run: python3 -m pyhelpers.agent.checks.reference > docs/checks.md"


def test_the_reference_has_the_order_of_the_report() -> None:
    places = [DOCUMENT.index(f"**`{check.id}`**") for check in CHECKS]
    assert places == sorted(places)
