"""`DataError`, the error of the data layer, and its message about files that are wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 200  # characters quoted of another library's message
_SHOWN = 40  # bytes quoted of a file's beginning


class DataError(Exception):
    """A data set is unknown, or its files are missing or wrong; the message says what to do."""


def beginning_of(path: Path) -> str:
    """Describe how a file begins, which tells a web page or a Git LFS pointer from data."""
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
    """Return a one-line error that says where a file is, what is wrong with it, and the remedy.

    If `place` is a Path, the error also says how the file begins.
    """
    begins = f", {beginning_of(place)}" if isinstance(place, Path) else ""
    return DataError(f"{place}: {what}{begins}; delete it and get the published file again")


@contextmanager
def reading(place: Path | str, problem: str) -> Iterator[None]:
    """Turn any exception of the block, except a DataError, into a DataError that states `problem`.

    Readers document few of their errors: on a damaged file, most of them may raise any exception,
    and on a wrong length in it a MemoryError.
    """
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
        raise wrong_file(place, f"{problem} ({reason})") from error
