"""The seeds of a trial."""

from typing import NamedTuple


class Seeds(NamedTuple):
    """Seeds of a trial; all mechanisms share `start` and `batches`."""

    start: int
    batches: int
    noise: int
