"""What every job of the workflow does: its log, and one line for what goes wrong."""

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import psutil

from mechanisms.query.words import in_one_line
from runs.result_table import DamagedTable, TableError

# The environment variable with the process id of the Snakemake that plans the jobs.
PLANNER = "MATRIX_NOISE_PLANNER"
WATCH_SECONDS = 0.5


@contextlib.contextmanager
def job(log: str | Path) -> Iterator[None]:
    """Send what is printed to the log; end with status 1 and one line on a fault of the files.

    A damaged file of results is removed, so that the next run makes it again.
    """
    with ending_with_planner():
        try:
            with (
                open(log, "w", buffering=1, encoding="utf-8") as out,
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(out),
            ):
                yield
        except DamagedTable as error:
            error.path.unlink(missing_ok=True)
            end_with(in_one_line(f"{error}; it is removed: run again"), log)
        except (TableError, OSError) as error:
            end_with(in_one_line(error), log)
        except Exception:
            end_with(traceback.format_exc(), log)


def end_with(message: str, log: str | Path) -> None:
    """End the job with status 1 and a message in its log, or on stderr where the disk is full."""
    try:
        with open(log, "a", encoding="utf-8") as out:
            print(message, file=out)
    except OSError:
        print(message, file=sys.stderr)
    sys.exit(1)


def ending_with_planner() -> contextlib.AbstractContextManager[None]:
    """End this process soon after the Snakemake that started it, however that ended.

    Otherwise a job outlives a killed run, and the next run writes the same files beside it. A shell
    may stand between the two, so that this process's parent says nothing.
    """
    number = os.environ.get(PLANNER)
    return contextlib.nullcontext() if number is None else ending_with(int(number))


@contextlib.contextmanager
def ending_with(number: int) -> Iterator[None]:
    """End this process soon after the process of a number, inside of the block.

    The thread that watches is joined at the end of the block: a thread that is alive when the
    interpreter ends is unwound in the middle of its work, which can abort the whole process.
    """
    finished = threading.Event()
    watcher = threading.Thread(target=_watch, args=(number, finished))
    watcher.start()
    try:
        yield
    finally:
        finished.set()
        watcher.join()


def _watch(number: int, finished: threading.Event) -> None:
    """End this process once the process `number` has ended, unless `finished` is set first."""
    try:
        process = psutil.Process(number)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if finished.wait(WATCH_SECONDS):
                return
    except psutil.NoSuchProcess:
        pass
    os._exit(1)
