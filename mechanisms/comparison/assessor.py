"""The rows of mechanisms for one task, each mechanism within a time limit."""

from typing import Self

from mechanisms.comparison.assessment import (
    FAILED,
    TOO_SLOW,
    Task,
    unserved_rows,
)
from mechanisms.comparison.limited_process import LimitedProcess, NoAnswer, TooSlow


class Assessor:
    """Rows of mechanisms for one task; a context manager that ends its process.

    Args:
        task: The same for every mechanism.
        seconds: Time limit for one mechanism, all its budgets and calibrations together.
    """

    def __init__(self, task: Task, seconds: float) -> None:
        self.task = task
        self.seconds = seconds
        self._process = LimitedProcess("mechanisms.comparison.assessment:assessed_rows", task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self._process.end()

    def rows(self, key: str) -> list[dict]:
        """One row for every budget and calibration; a mechanism over the limit says so."""
        try:
            return self._process.ask(key, self.seconds)
        except TooSlow as reason:
            note = (
                f"{reason} for this size (strategy, profile or draws); allow more with --seconds, "
                "or seconds= from Python"
            )
            return unserved_rows(self.task, key, TOO_SLOW, note)
        except NoAnswer as reason:
            return unserved_rows(self.task, key, FAILED, str(reason))
