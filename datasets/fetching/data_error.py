"""The one error of the data layer, and its form for files that are not the published ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 200  # characters of another library's message
_SHOWN = 40  # bytes of a file's beginning


class DataError(Exception):
    """A data set is unknown, or its files are missing or wrong; the message says what to do."""


def beginning_of(path: Path) -> str:
    """How a file begins, in words: it tells a web page or a pointer from data."""
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_SHOWN)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if not beginning:
        return "it is empty"
    if not beginning.strip(b"\0"):
        return "it begins with zeros"
    return f"it begins with {str(beginning)[1:]}"


def wrong_file(place: Path | str, what: str) -> DataError:
    """The error of one line about a file: where, what is wrong with it, and the remedy.

    Of a path, the error also says how the file there begins.
    """
    begins = f", {beginning_of(place)}" if isinstance(place, Path) else ""
    return DataError(f"{place}: {what}{begins}; delete it and get the published file again")


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
        raise wrong_file(place, f"{problem} ({reason})") from error
