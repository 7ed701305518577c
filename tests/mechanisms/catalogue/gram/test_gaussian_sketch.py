"""The Gaussian sketch of GaussMix: its Renyi accounting by quadrature, its exact privacy."""

import math

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.catalogue.gram.gaussian_sketch import least_gamma, stated_epsilon

BUDGET = Budget(epsilon=1.0, delta=1e-5)


def gram(adjacency="add-remove"):
    return Query(
        shape=(5, 5),
        l2_sensitivity=1.0,
        structure="gram",
        record_bound=1.0,
        adjacency=adjacency,
    )


GRID = np.linspace(-400, 400, 20_001)


def renyi(order, with_record, without):
    """Renyi divergence of centred normals with these variances, by the trapezoidal rule."""
    p, q = (stats.norm.logpdf(GRID, scale=math.sqrt(each)) for each in (with_record, without))
    return math.log(np.trapezoid(np.exp(order * p + (1 - order) * q), GRID)) / (order - 1)


@pytest.mark.parametrize(("gamma", "rows"), [(5.0, 1), (60.0, 10), (2000.0, 100)])
def test_the_stated_epsilon_is_that_of_the_best_order(gamma, rows):
    delta = 1e-5
    orders = 1 + np.geomspace(1e-3, gamma - 1.01, 100)

    def converted(order):
        # Canonne, Kamath and Steinke 2020, Proposition 12.
        divergence = rows * renyi(order, 1.0, 1 - 1 / gamma)
        gap = math.log(1 / delta) + (order - 1) * math.log(1 - 1 / order) - math.log(order)
        return divergence + gap / (order - 1)

    best = min(converted(order) for order in orders)
    assert stated_epsilon(gamma, rows, delta) == pytest.approx(best, rel=2e-2)
    assert stated_epsilon(gamma, rows, delta) <= best * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("rows", [1, 100])
def test_gamma_meets_the_budget(epsilon, rows):
    gamma = least_gamma(Budget(epsilon=epsilon, delta=1e-6), rows)
    assert stated_epsilon(gamma, rows, 1e-6) == pytest.approx(epsilon, rel=1e-8)


def test_the_claim_holds_with_less_noise_than_that_of_blocki_et_al():
    sketch = get_mechanism("gaussian-sketch").calibrate(gram(), BUDGET)
    result = verify(sketch, samples=20_000)
    assert result.verdict == "loose"
    assert result.true_delta.upper < 1e-5
    assert 1.01 < result.wasted_variance < 3
    assert sketch.w < get_mechanism("jl").calibrate(gram(), BUDGET).w / 5
    exact = [get_mechanism(key).calibrate(gram(), BUDGET, "exact").w for key in ("jl", sketch.key)]
    assert exact[0] == pytest.approx(exact[1], rel=1e-9)


def test_replaced_records_are_refused():
    with pytest.raises(Unsupported, match="adjacency add-remove"):
        get_mechanism("gaussian-sketch").calibrate(gram("replace"), BUDGET)


@pytest.mark.parametrize("epsilon", [1e6, 1e15])
def test_a_large_epsilon_has_noise_that_suffices(epsilon):
    mechanism = get_mechanism("gaussian-sketch").calibrate(
        gram(), Budget(epsilon=epsilon, delta=1e-5)
    )
    gamma = least_gamma(mechanism.budget, 5)
    assert 1.0003 < gamma < 1.0010
    assert stated_epsilon(gamma, 5, 1e-5) <= epsilon * (1 + 1e-9)
    assert mechanism.profile().delta(epsilon).upper <= 1e-5
