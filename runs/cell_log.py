"""The log of a cell: the beginning and end of its output, which is also copied to stderr."""

import contextlib
import os
from pathlib import Path

MOST_BYTES = 1 << 20
_STDERR = 2
# This leaves room for the line that says how much was left out.
_HALF = MOST_BYTES // 2 - 100


class CellLog:
    """A log file of limited size; use it as a context manager, which writes the end on exit.

    It adds at most `MOST_BYTES` to what earlier runs of the cell have written. The first half is
    written as it arrives; of the rest, only the end is kept. A failed write, as on a full disk,
    does not stop the cell: the OSError is raised on exit.

    Args:
        path: The path of the file.
    """

    def __init__(self, path: Path) -> None:
        self._fault: OSError | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self._room = _HALF
        self._end = bytearray()
        self._left_out = 0

    def __enter__(self) -> "CellLog":
        return self

    def __exit__(self, kind: type | None, *_) -> None:
        if self._left_out:
            self._write(b"\n... %d bytes left out ...\n" % self._left_out)
        self._write(bytes(self._end))
        self._file.close()
        if self._fault and kind is None:
            raise self._fault

    def add(self, printed: bytes) -> None:
        """Append bytes to the log."""
        self._write(printed[: self._room])
        self._end += printed[self._room :]
        self._room = max(self._room - len(printed), 0)
        over = max(len(self._end) - _HALF, 0)
        del self._end[:over]
        self._left_out += over

    def _write(self, printed: bytes) -> None:
        # The terminal may be closed, or its file full: neither ends a cell. A stream with a buffer
        # would try the same bytes again when this process exits.
        with contextlib.suppress(OSError):
            os.write(_STDERR, printed)
        try:
            self._file.write(printed)
        except OSError as error:
            self._fault = error
