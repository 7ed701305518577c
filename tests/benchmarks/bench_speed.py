"""Speed limits, measured against the least work that the same numbers cost with bare numpy.

Run by ``make bench``; a plain ``pytest`` does not collect this folder's files. A ratio compares
two things measured in turn in the same process, each by its fastest repetition, so that a busy or
slow machine changes both. Limits in milliseconds are for one core of a current machine.
"""

import math
import time
import warnings

import numpy as np
import pytest

from mechanisms import Budget, OutOfRangeWarning, Query, get_mechanism
from mechanisms.privacy.gaussian import mu_for

REPETITIONS = 7


def fastest(*tasks, repetitions=REPETITIONS):
    """Least seconds of each task, run in turn; the first round only warms up."""
    best = [math.inf] * len(tasks)
    for repetition in range(repetitions + 1):
        for i, task in enumerate(tasks):
            clock = time.perf_counter()
            task()
            if repetition:
                best[i] = min(best[i], time.perf_counter() - clock)
    return best


def report(name, measured, limit, unit, details=""):
    """One row of the table that ``make bench`` shows, then the check itself."""
    verdict = "ok" if measured <= limit else "MISSED"
    print(f"\n{name:<46} {measured:8.3f} {unit:<3} limit {limit:g} {unit:<3} {verdict:<7} {details}")
    assert measured <= limit, f"{name}: {measured:.3f} {unit}, limit {limit:g} {unit}"


def calibrated(key, query, budget, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        return get_mechanism(key).calibrate(query, budget, **options)


@pytest.mark.parametrize(
    "key", ["gaussian", "gaussian-analytic", "gaussian-per-element", "idn", "imgm", "r1smg"]
)
def bench_thousand_draws_against_raw_normals(key):
    """1000 draws at 89 x 89 in float64 against rng.standard_normal((1000, 89, 89))."""
    query = Query(
        shape=(89, 89),
        l2_sensitivity=math.sqrt(2),
        element_range=(0.0, math.sqrt(2) / 89),
        adjacency="replace",
    )
    mechanism = calibrated(key, query, Budget(epsilon=0.5, delta=1e-7))
    rng = np.random.default_rng(0)
    raw, ours = fastest(
        lambda: rng.standard_normal((1000, 89, 89)), lambda: mechanism.sample(rng, 1000)
    )
    details = f"{1e3 * ours:.0f} ms against {1e3 * raw:.0f} ms"
    report(f"draw 1000 x 89 x 89, {key}", ours / raw, 1.3, "x", details)
