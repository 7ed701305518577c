"""The cost of a search against all its outcomes, one by one."""

import math

import numpy as np
import pytest

from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.search_profile import SearchProfile


def best_of(law: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Probabilities of the best outcome, outcomes in rising order; counts: P(K = k), k from 0.

    The last number is that of no outcome.
    """
    below = np.r_[0.0, np.cumsum(law)]
    powers = np.array([below**k for k in range(counts.size)])
    return np.r_[np.diff(counts[1:] @ powers[1:]), counts[0]]


def delta(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def geometric(mean: float) -> np.ndarray:
    k = np.arange(2000)
    return np.where(k > 0, (1 - 1 / mean) ** (k - 1.0) / mean, 0.0)


def logarithmic(g: float) -> np.ndarray:
    k = np.arange(2000)
    return np.where(k > 0, (1 - g) ** k / (np.maximum(k, 1) * math.log(1 / g)), 0.0)


def poisson(mean: float) -> np.ndarray:
    k = np.arange(60)
    return np.exp(-mean + k * math.log(mean) - np.array([math.lgamma(each + 1) for each in k]))


def noise(mu: float) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian noise merged into 60 cells of rising order, for two neighbours."""
    ends = np.linspace(-5, 5, 59)
    cells = [
        np.diff([0.0, *(0.5 * math.erfc((shift - x) / math.sqrt(2)) for x in ends), 1.0])
        for shift in (0.0, mu)
    ]
    return cells[1], cells[0]


@pytest.mark.parametrize(
    ("counts", "eta"),
    [(geometric(8.0), 1.0), (logarithmic(0.05), 0.0), (poisson(6.0), None)],
    ids=["geometric", "logarithmic", "poisson"],
)
def test_no_outcome_of_a_search_exceeds_the_bound(counts, eta):
    runs = float(counts @ np.arange(counts.size))
    found = SearchProfile(base=GaussianProfile(mu=0.3), runs=runs, eta=eta)
    for p, q in (noise(0.3), noise(0.3)[::-1]):
        for epsilon in (0.0, 0.1, 0.5, 1.0, 2.0):
            assert (
                delta(best_of(p, counts), best_of(q, counts), epsilon) <= found.delta(epsilon).upper
            )


def test_pure_guarantees_cost_eta_plus_2():
    """Papernot and Steinke 2022, Corollary 3."""
    for eta in (-0.5, 0.0, 1.0, 2.0):
        found = SearchProfile(base=PureProfile(largest=0.1), runs=10.0, eta=eta)
        assert found.epsilon(0.0).upper == pytest.approx((eta + 2) * 0.1)


@pytest.mark.parametrize(
    ("mu", "runs", "eta"), [(0.1, 3.0, 0.0), (0.5, 10.0, 1.0), (2.0, 100.0, 1.0)]
)
def test_the_bound_is_below_that_of_renyi_dp(mu, runs, eta):
    """Papernot and Steinke 2022, Theorem 2, and the conversion of Canonne et al. 2020."""
    found = SearchProfile(base=GaussianProfile(mu=mu), runs=runs, eta=eta)
    orders, rho = np.geomspace(1.001, 500, 2000), mu**2 / 2
    own = (1 - 1 / orders) * rho * orders + -found.log_success / orders
    total = rho * orders + (1 + eta) * own.min() + math.log(runs) / (orders - 1)
    converted = total + np.log1p(-1 / orders) - np.log(1e-5 * orders) / (orders - 1)
    assert 0.8 * converted.min() < found.epsilon(1e-5).upper < converted.min()


def test_the_mean_of_the_runs_is_met():
    for eta, g in ((1.0, 0.1), (0.0, 0.2), (2.0, 0.3), (-0.5, 0.01)):
        k = np.arange(1, 20_000)
        logs = [math.lgamma(each + eta) - math.lgamma(each + 1) for each in k]
        weights = np.exp(np.array(logs) + k * math.log1p(-g))
        mean = float(weights @ k / weights.sum())
        found = SearchProfile(base=GaussianProfile(mu=1.0), runs=mean, eta=eta)
        assert math.exp(found.log_success) == pytest.approx(g, rel=1e-6)


@pytest.mark.parametrize(
    ("runs", "eta", "words"),
    [(1.0, 1.0, "runs must be > 1"), (5.0, -1.0, "eta must be"), (0.0, None, "runs must be")],
)
def test_bad_searches_are_refused(runs, eta, words):
    with pytest.raises(ValueError, match=words):
        SearchProfile(base=GaussianProfile(mu=1.0), runs=runs, eta=eta)


@pytest.mark.parametrize("runs", [1.5, 1e15, 1e200])
def test_a_logarithmic_number_of_runs_is_the_limit_of_others(runs):
    """(1 - g) / (g ln(1 / g)) runs on average, g down to 1e-203."""
    found, *near = (
        SearchProfile(base=GaussianProfile(mu=1.0), runs=runs, eta=eta)
        for eta in (0.0, 5e-324, -1e-300, 1e-12)
    )
    g = found.log_success
    mean = math.log(-math.expm1(g)) - g - math.log(-g)
    assert mean == pytest.approx(math.log(runs), rel=1e-9)
    for each in near:
        assert each.epsilon(1e-5).upper == pytest.approx(found.epsilon(1e-5).upper, rel=1e-6)


@pytest.mark.parametrize("eta", [-0.99, 0.0, 1.0, 1e6])
def test_a_search_of_hardly_more_than_one_run(eta):
    one = GaussianProfile(mu=1.0).epsilon(1e-5).value
    found = SearchProfile(base=GaussianProfile(mu=1.0), runs=1 + 1e-15, eta=eta)
    assert one <= found.epsilon(1e-5).upper < one * (1 + 1e-3)


@pytest.mark.parametrize("eta", [-0.99, 0.0, 1.0])
def test_a_search_of_more_runs_than_a_float_of_g_allows(eta):
    """Of pure noise; a geometric number costs 3 epsilon whatever its mean."""
    found = SearchProfile(base=PureProfile(largest=0.5), runs=1e300, eta=eta)
    assert found.epsilon(0.0).upper == pytest.approx((eta + 2) * 0.5)
