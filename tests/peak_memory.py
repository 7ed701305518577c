"""The memory that a call needs."""

import tracemalloc


def peak_of(task, *arguments, **options):
    """(result, bytes): the value that a call returns, and its peak of allocated memory."""
    tracemalloc.start()
    try:
        result = task(*arguments, **options)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
