"""Limits of the matrix mechanism's optimisers; run by ``make bench``.

Times are CPU seconds of this process, on one core of a current machine.
"""

import time

import numpy as np
import pytest

from mechanisms.strategies.optimal_strategy import TOLERANCE, optimal_strategy, sdp_strategy
from mechanisms.strategies.p_identity import search
from mechanisms.strategies.workload import AllRange, Prefix
from tests.peak_memory import peak_of


def timed(task, *arguments):
    """(result, CPU seconds)."""
    clock = time.process_time()
    result = task(*arguments)
    return result, time.process_time() - clock


@pytest.mark.parametrize(
    ("workload", "error", "gap", "limit"),
    [
        (AllRange(1024), 6484329, TOLERANCE, 15),
        (Prefix(1024), 8944.3292, TOLERANCE, 15),
        (AllRange(2048), None, 1e-6, 90),
        (Prefix(2048), None, 1e-6, 90),
    ],
    ids=str,
)
def test_optimal_strategy(workload, error, gap, limit):
    strategy, seconds = timed(optimal_strategy, workload.gram())
    print(
        f"\noptimal strategy, {workload}: {seconds:.2f} s, gap {strategy.gap:.2g}, error "
        f"{strategy.error:.8g}",
        end="",
    )
    if error is not None:
        assert strategy.error == pytest.approx(error, rel=1e-7)
    assert strategy.gap <= gap
    assert seconds <= limit


@pytest.mark.parametrize("kind", [AllRange, Prefix])
def test_twenty_times_faster_than_a_convex_solver(kind):
    """At n = 32, both warm; the fastest of three."""
    gram = kind(32).gram()
    ours, oracle = (
        min(timed(solver, gram)[1] for _ in range(3)) for solver in (optimal_strategy, sdp_strategy)
    )
    print(f"\n{kind.__name__} n = 32: {1e3 * ours:.2f} ms, CVXPY {1e3 * oracle:.0f} ms", end="")
    assert oracle >= 20 * ours


def test_peak_memory_is_at_most_ten_gram_matrices():
    gram = AllRange(1024).gram()
    _, peak = peak_of(optimal_strategy, gram)
    # The Gram matrix was there before.
    multiple = peak / gram.nbytes + 1
    print(f"\npeak memory at n = 1024: {multiple:.1f} n^2 doubles", end="")
    assert multiple <= 10


@pytest.mark.parametrize(("kind", "share"), [(AllRange, 0.1783), (Prefix, 0.0891)])
def test_search_for_laplace_noise(kind, share):
    """No worse than four random starts of 1000 iterations, which found these shares."""
    gram = kind(1024).gram()
    strategy, seconds = timed(search, gram)
    print(
        f"\np-identity strategy, {kind.__name__} n = 1024: {seconds:.1f} s, "
        f"{strategy.error / np.trace(gram):.4f} of the identity's error",
        end="",
    )
    assert strategy.error < share * np.trace(gram)
    assert seconds <= 20
