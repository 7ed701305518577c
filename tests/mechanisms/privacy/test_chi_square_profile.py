"""Profiles of Gaussians that differ in variance, against 30 to 260 digits and samples."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import linalg, special, stats

from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile, SwappedVariancesProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile

FAMILIES = (RaisedVarianceProfile, SwappedVariancesProfile)


def raised_reference(rows, ratio, epsilon):
    """P(L > epsilon) - e^epsilon Q(L > epsilon) from gamma functions, for P against Q."""
    excess, k = mp.mpf(ratio) ** 2, mp.mpf(rows) / 2
    start = (epsilon + k * mp.log1p(excess)) / excess
    upper = [mp.gammainc(k, a, regularized=True) for a in (start, start * (1 + excess))]
    return upper[0] - mp.exp(epsilon) * upper[1]


def swapped_reference(rows, ratio, epsilon):
    """E (1 - e^(epsilon - L))_+ over the loss L = (lambda - 1) G - (1 - 1/lambda) G' of two gammas.

    Given G', the inner mean is elementary: P(G > a) minus e^epsilon times another tail.
    """
    excess, k = mp.mpf(ratio) ** 2, mp.mpf(rows) / 2
    shrunk = excess / (1 + excess)

    def inner(small):
        a = (epsilon + shrunk * small) / excess
        tail = mp.gammainc(k, a, regularized=True)
        # E e^(-excess (G - a)) over G > a
        return tail - mp.exp(excess * a) * (1 + excess) ** -k * mp.gammainc(
            k, a * (1 + excess), regularized=True
        )

    # As a function of y = log(G'/k), the density of G' is smooth and falls fast on both sides.
    def integrand(y):
        small = k * mp.exp(y)
        return mp.exp(k * mp.log(small) - small - mp.loggamma(k)) * inner(small)

    # The range in which that density is above e^-80 of its peak. For small k its logarithm falls
    # only linearly on the left.
    spread = 1 / mp.sqrt(k)
    left = max(13 * spread, 81 / k)
    return mp.quad(integrand, [-left, -left / 4, -spread, spread, 4 * spread, 5 + 13 * spread])


def agreed_delta(family, reference, rows, epsilon, delta):
    """The true delta at the ratio whose delta is about the given one, if both methods agree."""
    # The ratio is rounded to three digits, because delta is checked at exactly that ratio.
    unit = family(rows=rows, ratio=1.0)
    ratio = float(f"{1 / unit.scale_factor(max(epsilon, 0.01), delta):.3g}")
    bounds = family(rows=rows, ratio=ratio).delta(epsilon)
    exact = reference(rows, ratio, epsilon)
    assert bounds.lower <= exact <= bounds.upper
    assert abs(bounds.value / exact - 1) < 1e-9
    assert bounds.upper / bounds.lower - 1 < 1e-8
    return bounds.value


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 101, 2126, 100_000])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0.0, 0.05), (0.01, 1e-3), (1.0, 1e-5), (1.0, 1e-15), (0.3, 0.5), (8.0, 1e-15), (2.0, 1e-200)],
)
def test_raised_variance_agrees_with_gamma_functions(rows, epsilon, delta):
    with mp.workdps(260):
        found = agreed_delta(RaisedVarianceProfile, raised_reference, rows, epsilon, delta)
    assert 1e-3 * delta < found < 20 * delta


@pytest.mark.parametrize(
    ("rows", "epsilon", "delta"),
    [
        (1, 1.0, 1e-15),
        (1, 0.01, 1e-3),
        (2, 1.0, 1e-5),
        (3, 1.0, 1e-15),
        (10, 0.01, 1e-3),
        (101, 1.0, 1e-15),
        (600, 1.0, 1e-5),
    ],
)
def test_swapped_variances_agree_with_quadrature(rows, epsilon, delta):
    with mp.workdps(30):
        agreed_delta(SwappedVariancesProfile, swapped_reference, rows, epsilon, delta)


@pytest.mark.parametrize(("rows", "least"), [(10, 3.72), (100, 5.63), (1000, 9.41)])
def test_least_singular_value_that_one_record_needs(rows, least):
    """The budget is (1, 1e-5), and a record of norm 1 is added or removed.

    The known values are the least singular value of the data with the record, sqrt(w^2 + 1).
    """
    factor = RaisedVarianceProfile(rows=rows, ratio=1.0).scale_factor(1.0, 1e-5)
    assert math.hypot(factor, 1.0) == pytest.approx(least, abs=0.005)


def delta_of_draws(first, second, rows, epsilon):
    """delta of `rows` draws of N(0, first) against N(0, second), which differ by rank one each way.

    In their common axes, the loss is that of one wider and one narrower normal number. Given the
    narrower one, the mean over the wider one is elementary, as in `swapped_reference`.
    """
    narrow, *_, wide = linalg.eigh(first, second, eigvals_only=True)
    law = stats.chi2(rows)
    nodes, weights = special.roots_legendre(400)
    low, high = law.ppf(1e-16), law.isf(1e-16)
    small = low + (high - low) * (nodes + 1) / 2
    rest = epsilon + (1 - narrow) / 2 * small + rows / 2 * math.log(narrow * wide)
    start = 2 * rest / (wide - 1)
    gain = law.sf(start) - np.exp(rest) * wide ** (-rows / 2) * law.sf(wide * start)
    return (law.pdf(small) * gain) @ weights * (high - low) / 2


@pytest.mark.parametrize("family", FAMILIES)
def test_no_other_records_make_a_sketch_less_private(family):
    """Compares X^T X + w^2 I with a record of norm 1 to that without it or with another record."""
    size, rows, ratio, epsilon = 3, 20, 0.3, 0.5
    rng = np.random.default_rng(0)
    replaced = family is SwappedVariancesProfile

    def delta(others, record, other):
        common = others.T @ others + np.eye(size)
        pair = [common + np.outer(each, each) for each in (record, other)]
        # For an added record, one direction is worse, whatever the other records are.
        directions = (pair, pair[::-1]) if replaced else (pair,)
        return max(delta_of_draws(*each, rows, epsilon) for each in directions)

    def record():
        drawn = rng.standard_normal(size)
        return ratio * drawn / np.linalg.norm(drawn) * rng.uniform(0.5, 1.0)

    axes, none = ratio * np.eye(size), np.zeros(size)
    worst = family(rows=rows, ratio=ratio).delta(epsilon).value
    second = axes[1] if replaced else none
    assert delta(np.zeros((1, size)), axes[0], second) == pytest.approx(worst, rel=1e-9)
    for count in range(40):
        others = np.array([record() / ratio for _ in range(count % 4 + 1)])
        other = record() if replaced else none
        assert delta(others, record(), other) <= worst * (1 + 1e-9)


def test_many_rows_with_little_signal_are_gaussian():
    """The loss is nearly normal, with the variance of its chi-squared sum."""
    rows, ratio = 10**7, 0.02
    for family, mu in (
        (RaisedVarianceProfile, ratio**2 * math.sqrt(rows / 2)),
        (SwappedVariancesProfile, ratio**2 * math.sqrt(rows)),
    ):
        exact = family(rows=rows, ratio=ratio).delta(1.0).value
        assert exact == pytest.approx(GaussianProfile(mu=mu).delta(1.0).value, rel=5e-3)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_bounds_cover_extreme_settings(family):
    faint = family(rows=5, ratio=1e-130).delta(1.0)
    assert faint.lower == faint.value == 0.0
    assert family(rows=5, ratio=1e-130).log_delta(1.0).upper > -np.inf
    loud = family(rows=5, ratio=1e130).delta(1.0)
    assert loud.value == pytest.approx(1.0, abs=1e-12)
