"""What one test said: the common result of bats and pytest."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One test of one file; outcome is passed, failed or skipped; message says why it did not pass."""

    file: str
    name: str
    outcome: str
    seconds: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class FileReport:
    """All tests of one file, and how long the file took as a whole (seconds)."""

    file: str
    seconds: float
    cases: list[Case] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """How many cases had this outcome."""
        return sum(case.outcome == outcome for case in self.cases)
