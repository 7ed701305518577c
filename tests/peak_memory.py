"""Memory that a call needs."""

import tracemalloc


def peak_of(task, *arguments, **options):
    """(result, bytes): the most that a call allocates at one time, and what it returns."""
    tracemalloc.start()
    try:
        result = task(*arguments, **options)
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
