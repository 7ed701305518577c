"""Limits of the matrix mechanism's optimiser at n = 1024; run by ``make bench``.

Times are CPU seconds of this process, on one core of a current machine.
"""

import time

import pytest

from mechanisms.strategies import TOLERANCE, optimal_strategy
from mechanisms.workloads import AllRange, Prefix


@pytest.mark.parametrize(
    ("kind", "error"), [(AllRange, 6484329), (Prefix, 8944.3292)], ids=["all-range", "prefix"]
)
def test_optimal_strategy_over_1024_cells(kind, error):
    gram = kind(1024).gram()
    clock = time.process_time()
    strategy = optimal_strategy(gram)
    seconds = time.process_time() - clock
    print(
        f"\noptimal strategy, {kind.__name__} n = 1024: {seconds:.2f} s, gap {strategy.gap:.2g}, "
        f"error {strategy.error:.8g}",
        end="",
    )
    assert strategy.error == pytest.approx(error, rel=6e-8)
    assert strategy.gap <= TOLERANCE
    assert seconds <= 15
