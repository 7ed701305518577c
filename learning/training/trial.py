"""The seeds of a trial."""

from typing import NamedTuple


class Seeds(NamedTuple):
    """Seeds of a trial; all mechanisms that are compared share the first two."""

    start: int
    batches: int
    noise: int
