"""What every job of the workflow does: its log, and one line for what goes wrong."""

from __future__ import annotations

import contextlib
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from runs.result_table import DamagedTable, TableError


@contextlib.contextmanager
def job(log: str | Path) -> Iterator[None]:
    """Send what is printed to the log; end with status 1 and one line on a fault of the files.

    A damaged file of results is removed, so that the next run makes it again.
    """
    with (
        open(log, "w", buffering=1) as out,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        try:
            yield
        except DamagedTable as error:
            error.path.unlink(missing_ok=True)
            _end(f"error: {error}; it is removed: run again")
        except (TableError, OSError) as error:
            _end(f"error: {error}")
        except Exception:
            _end(traceback.format_exc())


def _end(message: str) -> None:
    print(message, file=sys.stderr)
    raise SystemExit(1)
