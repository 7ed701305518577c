"""The setup that jobs of the workflow share: a log, and errors in one line."""

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
    """Redirect output to the log; on an error, end with status 1 and a message in the log.

    Errors of files and tables get one line, others a traceback. A damaged file of results is
    removed, so that the next run makes it again.
    """
    with exit_with_planner():
        try:
            with (
                open(log, "w", buffering=1, encoding="utf-8") as out,
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(out),
            ):
                yield
        except DamagedTable as error:
            error.path.unlink(missing_ok=True)
            fail_job(in_one_line(f"{error.fault}; it was removed: run again"), log)
        except (TableError, OSError) as error:
            fail_job(in_one_line(error), log)
        except Exception:
            fail_job(traceback.format_exc(), log)


def fail_job(message: str, log: str | Path) -> None:
    """End the job with status 1 and a message in its log, or on stderr if the disk is full."""
    try:
        with open(log, "a", encoding="utf-8") as out:
            print(message, file=out)
    except OSError:
        print(message, file=sys.stderr)
    sys.exit(1)


def exit_with_planner() -> contextlib.AbstractContextManager[None]:
    """Within the block, exit soon after the Snakemake that planned this job has ended.

    Otherwise a job would outlive a killed run, and the next run would write the same files at the
    same time. The parent process is not enough to tell, because it may be a shell between the two.
    """
    number = os.environ.get(PLANNER)
    return contextlib.nullcontext() if number is None else exit_with_process(int(number))


@contextlib.contextmanager
def exit_with_process(number: int) -> Iterator[None]:
    """Within the block, exit soon after the process with this id has ended.

    The watching thread is joined at the end of the block: if it were still alive when the
    interpreter shuts down, it could abort the whole process.
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
    """Exit once the process `number` has ended, unless `finished` is set first."""
    try:
        process = psutil.Process(number)
        while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            if finished.wait(WATCH_SECONDS):
                return
    except psutil.NoSuchProcess:
        pass
    os._exit(1)
