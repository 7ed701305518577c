"""tldp2025 in closed form: the epsilons that Table 5 implies, and the best direction of IDN."""

import math

import numpy as np
import pandas as pd
import pytest

from mechanisms import Budget, get_mechanism
from mechanisms.query.box_query import box_query
from paper_figures.tldp2025.scores import errors
from paper_figures.tldp2025.theorems import least_deviation

COUNT = 784


def test_table_5_is_read_with_the_papers_own_noise():
    found = {each.mechanism: each.implied["published"].value for each in errors(pd.DataFrame())}
    # The paper states I sqrt(I) / 2; the Gaussian of Theorem 2 has I sqrt(1 / (2 epsilon)).
    stated = COUNT * math.sqrt(COUNT) / 2
    assert found["Gaussian (Theorem 2)"] == pytest.approx((COUNT / stated) ** 2 / 2, rel=1e-6)
    assert found["Laplace"] == pytest.approx(1, rel=1e-6)
    # MVG with zeta^2 as printed in the paper, and equal precision.
    assert "MVG" not in found
    m = n = 28
    h, halves = (sum(k**-power for k in range(1, m + 1)) for power in (1, 0.5))
    s, gamma = math.sqrt(COUNT), math.sqrt(COUNT)
    log = -math.log(1e-5)
    zeta = math.sqrt(2 * log + 2 * math.sqrt(COUNT * log) + COUNT)
    alpha = (h + halves) * gamma**2 + 2 * h * gamma * s
    beta = 2 * COUNT**0.25 * zeta * h * s

    def error(epsilon):
        bound = (-beta + math.sqrt(beta**2 + 8 * alpha * epsilon)) ** 2 / (4 * alpha**2)
        # P = bound^2 / n is divided among m directions, each with variance 1 / sqrt(P / m).
        return math.sqrt(n * m * math.sqrt(m * n) / bound)

    stated = m * COUNT * math.sqrt(COUNT) * math.log(m + 1) ** 2 / math.sqrt(2)
    assert error(found["MVG (square root)"]) == pytest.approx(stated, rel=1e-3)


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
