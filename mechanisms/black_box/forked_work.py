"""Tasks shared by forked processes, with the results in the order of the tasks."""

import contextlib
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

# So many tasks of each process may be done or begun before the first result is taken.
AHEAD = 4


def usable_cores() -> int:
    """How many cores this process may use; one where a fork is unsafe, on all but Linux."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1


def threads() -> int:
    """How many threads this process has, those of libraries included; zero where that is hidden."""
    return len(list(Path("/proc/self").glob("task/*")))


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], processes: int
) -> Iterator[Result]:
    """work(task) for each task, in their order.

    With more than one process each takes the next task when it is done with one, in a fork of this
    process. `work` may be any function of a task, but the changes that it makes to objects are
    lost. Results must be picklable. No process outlives the iterator; if this one is killed, the
    others end after their current task.

    Raises:
        What `work` raises: it is repeated here where it failed, so that the traceback is its own.
        ChildProcessError: A process ended where `work` does not fail.
    """
    if processes == 1 or len(tasks) < 2:
        yield from map(work, tasks)
        return
    context = multiprocessing.get_context("fork")
    workers: dict[Connection, multiprocessing.Process] = {}
    # The task that a process is at, by its connection.
    at: dict[Connection, int] = {}
    done: dict[int, Result] = {}
    ended: dict[int, multiprocessing.Process] = {}
    begun = 0
    try:
        for _ in range(min(processes, len(tasks))):
            here, there = context.Pipe()
            # A daemon: it is ended with this process too.
            workers[here] = context.Process(
                target=_serve, args=(work, tasks, there, [*workers, here]), daemon=True
            )
            workers[here].start()
            there.close()
        idle = list(workers)
        for i, task in enumerate(tasks):
            while i not in done and i not in ended:
                while idle and begun < min(len(tasks), i + AHEAD * processes):
                    at[idle[-1]] = begun
                    with contextlib.suppress(OSError):  # it has ended, as the next lines see
                        idle.pop().send(begun)
                    begun += 1
                for each in wait(list(at)):
                    number = at.pop(each)
                    try:
                        done[number] = each.recv()
                        idle.append(each)
                    except (EOFError, OSError):  # nothing was sent, or not all of it
                        ended[number] = workers[each]
            if i in ended:
                work(task)
                ended[i].join()
                raise ChildProcessError(
                    f"a process ended with status {ended[i].exitcode}, perhaps for lack of memory; "
                    "use fewer processes"
                )
            yield done.pop(i)
    finally:
        for worker in workers.values():
            worker.terminate()
            worker.join()
        for each in workers:
            each.close()


def _serve(work: Callable, tasks: Sequence, there: Connection, unused: list[Connection]) -> None:
    """Send the results of tasks whose numbers come; stop at the first one that fails."""
    # Ctrl-C reaches all processes: the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An end that is held here would hide from other processes that the reader is gone.
    for each in unused:
        each.close()
    with contextlib.suppress(Exception):
        while True:
            there.send(work(tasks[there.recv()]))
