"""Ask all checks at the same time and bring the answers in the table's order. Prints nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pyhelpers.agent.checks.model import UNKNOWN, Check, Question, Result


@dataclass(frozen=True)
class Answered:
    """A check, what it answered, and how long that took."""

    check: Check
    results: Sequence[Result]
    milliseconds: int


class _Asking:
    """One check in a thread of its own. A daemon thread: one that hangs must not keep the process alive."""

    def __init__(self, check: Check, question: Question) -> None:
        self.check, self.question = check, question
        self.results: list[Result] = []
        self.started = self.ended = time.monotonic()
        self.thread = threading.Thread(target=self._ask, name=check.id, daemon=True)
        self.thread.start()

    def _ask(self) -> None:
        try:
            results = self.check.run(self.question)
        except Exception as error:
            results = [Result(UNKNOWN, f"the check itself failed: {type(error).__name__}: {error}")]
        self.ended = time.monotonic()
        self.results = results

    def answer(self) -> Answered:
        self.thread.join(max(0.0, self.started + self.check.seconds - time.monotonic()))
        if self.thread.is_alive():
            late = Result(UNKNOWN, f"no answer within {self.check.seconds:g} s")
            return Answered(self.check, [late], round(self.check.seconds * 1000))
        return Answered(self.check, self.results, round((self.ended - self.started) * 1000))


def ask(checks: Sequence[Check], question: Question) -> list[Answered]:
    """Run the checks; one that fails or does not answer in time is unknown."""
    asking = [_Asking(check, question) for check in checks]
    return [one.answer() for one in asking]
