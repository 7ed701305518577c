"""Tasks shared by forked processes, with the results in the order of the tasks."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> Iterator[Result]:
    """work(task) for each task, in their order.

    With more than one process each takes its share of the tasks in a fork of this one. `work` may
    be any function of a task, but the changes that it makes to objects are lost. Results must be
    picklable. No process outlives the iterator; if this one is killed, the others end after their
    current task.

    Raises:
        What `work` raises: it is repeated here where it failed, so that the traceback is its own.
        ChildProcessError: A process ended where `work` does not fail.
    """
    if processes == 1 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    shares = [tasks[i::processes] for i in range(min(processes, len(tasks)))]
    context = multiprocessing.get_context("fork")
    workers, results = [], []
    try:
        for share in shares:
            here, there = context.Pipe(duplex=False)
            results.append(here)
            # A daemon: it is ended with this process too.
            worker = context.Process(
                target=_send, args=(work, share, there, list(results)), daemon=True
            )
            worker.start()
            workers.append(worker)
            there.close()
        for i, task in enumerate(tasks):
            try:
                result = results[i % processes].recv()
            except (EOFError, OSError):  # nothing was sent, or not all of it
                work(task)
                workers[i % processes].join()
                raise ChildProcessError(
                    f"a process ended with status {workers[i % processes].exitcode}, perhaps for "
                    "lack of memory; use fewer processes"
                ) from None
            yield result
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()
        for each in results:
            each.close()


def _send(work: Callable, share: Sequence, there: Connection, unused: list[Connection]) -> None:
    """Send the results of a share; stop at the first task that fails."""
    # Ctrl-C reaches all processes: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An end that is held here would hide from other processes that the reader is gone.
    for each in unused:
        each.close()
    with contextlib.suppress(Exception):
        for task in share:
            there.send(work(task))
