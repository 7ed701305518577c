"""The spectrum of two normal distributions against closed forms, many digits and sampling."""

import math

import mpmath as mp
import numpy as np
import pytest
from normal_pair import NormalPair

from mechanisms import Budget, Query, get_mechanism
from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile, SwappedVariancesProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile

EPSILONS = (0.0, 0.1, 1.0, 5.0)


def agrees(found, expected, relative=1e-11):
    assert found.lower <= found.value <= found.upper
    assert found.value == pytest.approx(expected, rel=relative, abs=1e-300)


@pytest.mark.parametrize("mu", [0.05, 0.3, 1.0, 5.0])
def test_equal_covariances_are_the_gaussian_profile(mu):
    pair = NormalPair(ratios=np.ones(3), shifts=mu * np.array([0.6, 0.0, -0.8]))
    for each in (pair, pair.reversed()):
        for epsilon in EPSILONS:
            agrees(each.delta(epsilon), GaussianProfile(mu=mu).delta(epsilon).value)


@pytest.mark.parametrize("rows", [1, 2, 100, 2126])
@pytest.mark.parametrize("ratio", [0.05, 0.3, 2.0])
def test_covariances_of_rank_one_and_two_are_the_sketches_profiles(rows, ratio):
    raised = 1 + ratio**2
    for ratios, family in (
        ([raised], RaisedVarianceProfile),
        ([raised, 1 / raised, 1.0], SwappedVariancesProfile),
    ):
        pair = NormalPair(ratios=np.array(ratios), shifts=np.zeros(len(ratios))).compose(rows)
        for epsilon in EPSILONS:
            agrees(pair.delta(epsilon), family(rows=rows, ratio=ratio).delta(epsilon).value)


def by_tails(variance, shift, epsilon):
    """int (p - e^epsilon q)_+ between the roots of a quadratic, with 400 digits."""
    with mp.workdps(400):
        variance, shift = mp.mpf(variance), mp.mpf(shift)
        # 2 (log p / q - epsilon) = a x^2 + b x + c.
        a, b = 1 - 1 / variance, 2 * shift / variance
        c = -(shift**2) / variance - mp.log(variance) - 2 * epsilon
        square = b**2 - 4 * a * c
        if square <= 0:
            return 0.0

        def below(x):
            p = mp.ncdf((x - shift) / mp.sqrt(variance))
            return p - mp.exp(epsilon) * mp.ncdf(x)

        low, high = sorted((-b + sign * mp.sqrt(square)) / (2 * a) for sign in (-1, 1))
        between = below(high) - below(low)
        return float(between if a < 0 else 1 - mp.exp(epsilon) - between)


@pytest.mark.parametrize("variance", [1e-3, 0.5, 0.99, 1.001, 1.7, 300.0])
@pytest.mark.parametrize("shift", [0.0, 0.2, -1.0, 6.0])
def test_one_axis_by_its_tails(variance, shift):
    pair = NormalPair(ratios=np.array([variance]), shifts=np.array([shift]))
    for epsilon in EPSILONS:
        expected = by_tails(variance, shift, epsilon)
        found = pair.delta(epsilon)
        agrees(found, expected, relative=1e-9)
        assert found.upper - found.lower <= 1e-9 * expected + 1e-300


def random_pair(seed, size=4):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((2, size, size))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.5 * np.eye(size)
    means = 0.7 * rng.standard_normal((2, size))
    return means[0], covariances[0], means[1], covariances[1]


@pytest.mark.parametrize("seed", range(6))
def test_any_pair_by_sampling_its_densities(seed):
    """The loss is computed from both densities, in the coordinates in which they are given."""
    mean_p, covariance_p, mean_q, covariance_q = random_pair(seed)
    pair = NormalPair.of(mean_p, covariance_p, mean_q, covariance_q)
    drawn = np.random.default_rng(seed).multivariate_normal(mean_p, covariance_p, 200_000)

    def log_density(mean, covariance):
        moved = drawn - mean
        form = np.sum(moved * np.linalg.solve(covariance, moved.T).T, axis=1)
        return -(form + np.linalg.slogdet(covariance)[1]) / 2

    losses = log_density(mean_p, covariance_p) - log_density(mean_q, covariance_q)
    own = pair.sample_losses(np.random.default_rng(100 + seed), 200_000)
    for epsilon in (0.0, 1.0):
        for sample in (losses, own):
            terms = np.maximum(-np.expm1(epsilon - sample), 0.0)
            error = terms.std() / math.sqrt(len(terms))
            assert abs(pair.delta(epsilon).value - terms.mean()) < 4.5 * error


@pytest.mark.parametrize("seed", range(6))
def test_both_directions_belong_together(seed):
    """Both have one total variation, and turning a pair twice changes nothing."""
    pair = NormalPair.of(*random_pair(seed))
    agrees(pair.reversed().delta(0.0), pair.delta(0.0).value)
    agrees(pair.reversed().reversed().delta(0.7), pair.delta(0.7).value)


def test_a_bounded_loss_has_delta_zero_beyond_it():
    pair = NormalPair(ratios=np.array([0.5, 0.9]), shifts=np.array([0.3, 0.0]))
    # The density of P over that of Q at its peak, which is at shift / (1 - ratio).
    largest = -math.log(0.5 * 0.9) / 2 + 0.3**2 / (2 * 0.5)
    assert pair.largest_loss == pytest.approx(largest)
    assert pair.delta(1.0001 * largest).value == 0
    assert pair.delta(0.9 * largest).value > 0
    assert pair.reversed().largest_loss == math.inf
    equal = NormalPair(ratios=np.ones(2), shifts=np.zeros(2))
    assert equal.delta(0.0).value == 0


def test_near_one_the_rest_keeps_its_digits():
    pair = NormalPair(ratios=np.array([1.0]), shifts=np.array([12.0]))
    # 1 - delta(0) = 2 Phi(-6).
    assert 1 - pair.delta(0.0).value == pytest.approx(math.erfc(6 / math.sqrt(2)), rel=1e-6)


@pytest.mark.parametrize(
    ("key", "adjacency"), [("gaussian-sketch", "add-remove"), ("jl", "replace")]
)
def test_no_two_data_sets_exceed_the_profile_of_a_sketch(key, adjacency):
    """And those that the profile is of attain it."""
    size, rows, epsilon = 3, 20, 0.5
    query = Query(
        shape=(size, size),
        l2_sensitivity=1.0,
        structure="gram",
        record_bound=1.0,
        adjacency=adjacency,
    )
    budget = Budget(epsilon=epsilon, delta=1e-5)
    sketch = get_mechanism(key).calibrate(query, budget, "exact", rows=rows)
    rng = np.random.default_rng(0)

    def spectrum(others, record, replaced):
        common = others.T @ others + sketch.w**2 * np.eye(size)
        first, second = (common + np.outer(each, each) for each in (record, replaced))
        zero = np.zeros(size)
        pair = NormalPair.of(zero, first, zero, second).compose(rows)
        return max(each.delta(epsilon).value for each in (pair, pair.reversed()))

    def record():
        drawn = rng.standard_normal(size)
        return drawn / np.linalg.norm(drawn) * rng.uniform(0.5, 1.0)

    axes = np.eye(size)
    gone = np.zeros(size) if adjacency == "add-remove" else axes[1]
    assert spectrum(np.zeros((1, size)), axes[0], gone) == pytest.approx(1e-5, rel=1e-6)
    for count in range(40):
        others = np.array([sketch.w * record() for _ in range(count % 4 + 1)])
        other = gone if adjacency == "add-remove" else record()
        assert spectrum(others, record(), other) <= 1e-5 * (1 + 1e-9)
