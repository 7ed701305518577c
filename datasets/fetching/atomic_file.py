"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside `path` that takes its place if the block ends without an error.

    After an error, Ctrl-C included, nothing is left. After a SIGKILL a hidden `.part` file is,
    which no reader takes for the real one.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        os.chmod(temporary, 0o644)  # mkstemp makes files that only the owner reads
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
