"""The one error of the data layer, and its form for files that are not the published ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 200  # characters of another library's message


class DataError(Exception):
    """A data set is unknown, or its files are missing or wrong; the message says what to do."""


def wrong_file(place: Path | str, what: str) -> DataError:
    """The error of one line about a file: where, what is wrong with it, and the remedy."""
    return DataError(f"{place}: {what}; delete it and get the published file again")


@contextmanager
def reading(place: Path | str, problem: str) -> Iterator[None]:
    """Raise a DataError of this problem for whatever a reader of files raises.

    Readers document few of their errors: a damaged file may raise any exception in most of them,
    and a wrong length in it a MemoryError.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
        memory = ", or too little memory" if isinstance(error, MemoryError) else ""
        raise wrong_file(place, f"{problem}{memory} ({reason})") from error


def content_of(path: Path) -> bytes:
    """The bytes of a file; DataError if it cannot be read."""
    with reading(path, "it cannot be read"):
        return path.read_bytes()
