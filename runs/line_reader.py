"""Lines of a pipe, each with a deadline for the whole line and not only for its first byte."""

import os
import select
import time
from typing import IO

# No answer comes near it: whoever writes more is not answering.
MOST_BYTES = 64 << 20
_CHUNK = 1 << 16


class LineReader:
    """Reads a pipe that nothing else reads.

    Args:
        pipe: Its reading end.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._held = bytearray()

    def line(self, seconds: float) -> bytes | None:
        """The next line with its end.

        Returns:
            None if no whole line comes within `seconds`, which may be 0; b"" where the pipe has
            ended or a line exceeds `MOST_BYTES`. Half a line at the end is lost.
        """
        deadline = time.monotonic() + seconds
        while (end := self._held.find(b"\n")) < 0:
            left = max(deadline - time.monotonic(), 0)
            if not select.select([self._pipe], [], [], left)[0]:
                return None
            chunk = os.read(self._pipe.fileno(), _CHUNK)
            if not chunk or len(self._held) > MOST_BYTES:
                return b""
            self._held += chunk
            if b"\n" not in chunk and time.monotonic() > deadline:
                return None
        line = bytes(self._held[: end + 1])
        del self._held[: end + 1]
        return line
