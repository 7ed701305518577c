"""The best direction of IDN's noise."""

import numpy as np
import pytest

from mechanisms import Budget, get_mechanism
from mechanisms.query.box_query import box_query
from paper_figures.tldp2025.theorems import least_deviation


def test_no_workload_gives_a_row_less_noise_than_the_best_direction():
    def noise_for(weights):
        query, budget = box_query((4, 6), 0.0, 1.0), Budget(epsilon=0.7, delta=1e-5)
        return get_mechanism("idn").calibrate(query, budget, workload=np.diag(weights)).noise

    best = least_deviation(noise_for(np.ones(4)))
    rng = np.random.default_rng(0)
    for weights in 10.0 ** rng.uniform(-6, 0, (50, 4)):
        found = noise_for(weights)
        assert least_deviation(found) == pytest.approx(best)
        assert found.row_std.min() >= best
    assert noise_for([1, 1e-6, 1e-6, 1e-6]).row_std.min() == pytest.approx(best, rel=1e-5)
