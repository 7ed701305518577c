"""Noise of whole numbers: its laws, its exact draws and its privacy."""

import collections
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from mechanisms import Budget, Query, Unsupported, get_mechanism, verify
from mechanisms.catalogue.counts.integer_mechanisms import skellam_epsilon, whole_multiples
from mechanisms.comparison.assessment import Task, assessment
from mechanisms.noise.exact_integers import ExactIntegers
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.integer_profile import DiscreteGaussianProfile, SkellamProfile
from mechanisms.strategies.workload_options import workload_factors

BUDGET = Budget(epsilon=1.0, delta=1e-5)
KEYS = ("discrete-gaussian", "skellam")
LAWS = {"discrete_gaussian": DiscreteGaussianProfile, "skellam": SkellamProfile}


def counts(size, most=1, width=1.0):
    return Query(
        shape=(size,),
        l2_sensitivity=width * math.sqrt(most),
        linf_sensitivity=width,
        structure="counts",
    )


def masses(name, variance, reach):
    """By their definitions, in 40 digits."""
    with mpmath.workdps(40):
        if name == "discrete_gaussian":
            raw = [mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * variance)) for x in range(-400, 401)]
            total = mpmath.fsum(raw)
            return [raw[400 + x] / total for x in range(-reach, reach + 1)]
        return [
            mpmath.exp(-variance) * mpmath.besseli(abs(x), variance)
            for x in range(-reach, reach + 1)
        ]


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("variance", [0.3, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_delta_of_one_count_in_forty_digits(name, variance, epsilon):
    p = masses(name, variance, 200)
    with mpmath.workdps(40):
        terms = [b - mpmath.exp(epsilon) * a for a, b in itertools.pairwise(p)]
        expected = p[0] + mpmath.fsum(term for term in terms if term > 0)
    bounds = LAWS[name](std=math.sqrt(variance)).delta(epsilon)
    assert bounds.value == pytest.approx(float(expected), rel=1e-12)
    assert bounds.lower <= float(expected) <= bounds.upper


@pytest.mark.parametrize("variance", [0.3, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_delta_of_the_discrete_gaussian_by_its_theorem(variance, epsilon):
    """Canonne, Kamath and Steinke 2020, Theorem 7: two tails of the law."""
    p = masses("discrete_gaussian", variance, 80)
    numbers = np.arange(-80, 81)
    tails = [
        float(sum(m for x, m in zip(numbers, p, strict=True) if x > epsilon * variance + shift))
        for shift in (-0.5, 0.5)
    ]
    expected = tails[0] - math.exp(epsilon) * tails[1]
    value = DiscreteGaussianProfile(std=math.sqrt(variance)).delta(epsilon).value
    assert value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_beyond_the_table_delta_is_negligible(name):
    bounds = LAWS[name](std=0.5).delta(1e4)
    assert (bounds.lower, bounds.value) == (0.0, 0.0)
    assert 0 < bounds.upper < 1e-200


@pytest.mark.parametrize("name", LAWS)
def test_two_counts_by_enumeration(name):
    p = np.array([float(m) for m in masses(name, 4.0, 40)])
    losses = np.log(p[1:] / p[:-1])
    both = losses[:, None] + losses[None, :]
    expected = np.sum(np.outer(p[1:], p[1:]) * np.maximum(-np.expm1(1.0 - both), 0.0))
    bounds = LAWS[name](std=2.0).compose(2).delta(1.0)
    assert bounds.lower <= expected <= bounds.upper
    assert bounds.value == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(27, 10), Fraction(40)])
def test_exact_draws_follow_their_law(name, variance):
    draw, trials = getattr(ExactIntegers(np.random.default_rng(5)), name), 4000
    drawn = np.array([draw(variance) for _ in range(trials)])
    expected = trials * np.array([float(m) for m in masses(name, float(variance), 60)])
    seen = np.array([np.count_nonzero(drawn == x) for x in range(-60, 61)])
    often = expected > 5
    pooled = np.r_[seen[often], seen[~often].sum()]
    law = np.r_[expected[often], expected[~often].sum()]
    statistic = np.sum((pooled - law) ** 2 / law)
    assert stats.chi2.sf(statistic, len(law) - 1) > 1e-3


@pytest.mark.parametrize("mean", [16, 300])
def test_exact_draws_of_a_large_mean_have_the_poisson_law(mean):
    source, trials = ExactIntegers(np.random.default_rng(8)), 4000
    drawn = [source.poisson(Fraction(mean)) for _ in range(trials)]
    often = np.flatnonzero(stats.poisson.pmf(np.arange(2 * mean), mean) * trials > 5)
    seen = np.bincount(np.clip(drawn, often[0] - 1, often[-1] + 1) - often[0] + 1)
    law = np.diff(np.r_[0.0, stats.poisson.cdf(np.r_[often[0] - 1, often], mean), 1.0])
    assert stats.chisquare(seen, trials * law).pvalue > 1e-3


def test_rejection_for_a_large_mean_never_exceeds_its_envelope():
    for mean in (16, 17, 24, 25, 100, 10**4):
        width = math.isqrt(mean) + 1
        for block in range(40):
            distance = block * width
            likely = Fraction(mean**distance, math.perm(mean + distance, distance))
            assert likely * 2**block <= Fraction(5, 4)


class Open(Exception):
    """The numbers that were given are used up."""


class Given(ExactIntegers):
    """Draws the numbers that it is given."""

    def __init__(self, numbers):
        self._numbers = iter(numbers)

    def below(self, limit):
        for number in self._numbers:
            return number
        raise Open(limit)


@pytest.mark.parametrize(
    "name, argument, draws, law",
    [
        ("poisson", Fraction(1), 8, stats.poisson(1)),
        ("bernoulli_exp", Fraction(1, 3), 5, stats.bernoulli(math.exp(-1 / 3))),
        ("bernoulli_exp", Fraction(3, 2), 9, stats.bernoulli(math.exp(-3 / 2))),
    ],
)
def test_every_sequence_of_uniform_numbers_counted(name, argument, draws, law):
    """What ends within some draws has at most its probability, and lacks what does not end."""
    found, started, unended = collections.Counter(), [((), Fraction(1))], Fraction(0)
    while started:
        numbers, share = started.pop()
        try:
            found[int(getattr(Given(numbers), name)(argument))] += share
        except Open as error:
            (limit,) = error.args
            if len(numbers) == draws:
                unended += share
            else:
                started += [((*numbers, each), share / limit) for each in range(limit)]
    missing = {value: law.pmf(value) - float(share) for value, share in found.items()}
    assert unended < 0.01
    assert all(-1e-15 <= each <= float(unended) + 1e-15 for each in missing.values()), missing


def test_exact_uniform_numbers():
    source = ExactIntegers(np.random.default_rng(0))
    seen = np.bincount([source.below(5) for _ in range(20_000)], minlength=5)
    assert stats.chisquare(seen).pvalue > 1e-3
    assert source.below(1) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("key", "least", "most"), [(KEYS[0], 0.98, 1.02), (KEYS[1], 0.7, 0.9)])
def test_the_claim_holds_and_the_exact_calibration_meets_delta(key, least, most):
    for calibration, verdict in (("published", "loose"), ("exact", "holds")):
        mechanism = get_mechanism(key).calibrate(counts(9), BUDGET, calibration)
        result = verify(mechanism, samples=5_000)
        assert result.verdict == verdict
        assert result.audit.delta_lower <= 1e-5
    gaussian = get_mechanism("gaussian-analytic").calibrate(counts(9), BUDGET)
    # The tails of the Skellam law, heavier than a Gaussian's, need less noise for one count.
    assert least < mechanism.expected_loss() / gaussian.expected_loss() < most


@pytest.mark.parametrize("key", KEYS)
def test_the_delta_of_several_counts_is_near_that_of_gaussian_noise(key):
    mechanism = get_mechanism(key).calibrate(counts(9, 4), BUDGET)
    delta = mechanism.profile().delta(1.0)
    gaussian = GaussianProfile(mu=2 / mechanism.noise.law.std).delta(1.0).value
    assert delta.lower <= delta.value <= delta.upper < 1e-5
    assert 0.5 < delta.value / gaussian < 2


@pytest.mark.parametrize("alpha", [2, 8, 30])
def test_the_stated_divergence_of_skellam_noise_is_no_less_than_the_true_one(alpha):
    variance = 40.0
    p = masses("skellam", variance, 150)
    with mpmath.workdps(40):
        sums = mpmath.fsum(b**alpha * a ** (1 - alpha) for a, b in itertools.pairwise(p))
        divergence = float(mpmath.log(sums)) / (alpha - 1)
    stated = alpha / (2 * variance) + (2 * alpha + 5) / (4 * variance**2)
    assert 0.8 * stated < divergence <= stated
    # The conversion adds to the divergence.
    assert skellam_epsilon(1, variance, 1e-5) > stated / 30


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("sampler", ["exact", "table"])
def test_releases_are_whole_multiples_with_the_stated_variance(key, sampler):
    mechanism = get_mechanism(key).calibrate(counts(600, 4, width=0.5), BUDGET, sampler=sampler)
    value = 0.5 * np.arange(600.0)
    released = mechanism.release(value, np.random.default_rng(2))
    assert np.all(released * 2 == np.rint(released * 2))
    errors = released - value
    assert np.mean(errors**2) * 600 == pytest.approx(mechanism.expected_loss(), rel=0.2)
    again = mechanism.release(value, np.random.default_rng(2))
    assert np.array_equal(released, again)


@pytest.mark.parametrize("key", KEYS)
def test_their_error_is_known_whatever_the_answer(key):
    query = counts(9)
    mechanism = get_mechanism(key).calibrate(query, BUDGET)
    task = Task(
        query=query,
        budgets=(BUDGET,),
        calibrations=("published",),
        factors=workload_factors(query, workload="identity"),
    )
    found = assessment(mechanism, task, effort=None)
    # The variance of the law is its parameter: exactly for Skellam, to e^-1000 for the Gaussian.
    assert found["rmse"] == pytest.approx(mechanism.noise.law.std, rel=1e-9)
    assert not found["note"]


@pytest.mark.parametrize("key", KEYS)
def test_a_release_is_the_value_and_one_draw(key):
    mechanism = get_mechanism(key).calibrate(counts(20, width=0.1), BUDGET)
    value = 0.1 * np.arange(20.0)
    drawn = mechanism.sample(3, 1)[0]
    assert np.allclose(mechanism.release(value, 3), value + drawn, rtol=0, atol=1e-12)
    assert mechanism.sample(3, 2, np.float32).dtype == np.float32


def test_what_is_refused():
    with pytest.raises(Unsupported, match="needs structure 'counts'"):
        get_mechanism("skellam").calibrate(Query(shape=(3,), l2_sensitivity=1.0), BUDGET)
    mechanism = get_mechanism("skellam").calibrate(counts(2), BUDGET)
    with pytest.raises(ValueError, match="whole multiples"):
        mechanism.release(np.array([0.5, 1.0]), np.random.default_rng())


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.array([2097152.25, 0.0], np.float32), "whole multiples"),
        (np.array([2.0**51 + 0.5, 0.0]), "whole multiples"),
        # Two whole numbers that float64 does not tell apart must not differ in their answers.
        (np.array([2.0**54, 0.0]), "at most 2\\^52 times"),
        (np.array([2**60, 0]), "at most 2\\^53 in size"),
    ],
)
@pytest.mark.parametrize("key", KEYS)
def test_whole_numbers_are_checked_exactly(key, value, words):
    mechanism = get_mechanism(key).calibrate(counts(2), BUDGET)
    with pytest.raises(ValueError, match=words):
        mechanism.release(value, np.random.default_rng())
    assert np.isfinite(mechanism.release(np.array([2.0**40, 1.0]), 0)).all()


def test_sums_of_a_unit_that_is_not_exact_are_whole_multiples():
    assert whole_multiples(np.cumsum(np.full(9, 0.1)), 0.1).tolist() == list(range(1, 10))
    with pytest.raises(ValueError, match="whole multiples"):
        whole_multiples(np.array([0.1 + 1e-9]), 0.1)


@pytest.mark.parametrize(
    ("calibration", "epsilon"),
    [*itertools.product(["published"], [290.0, 400.0, 700.0]), ("exact", 190.0)],
)
def test_moments_of_noise_that_is_hardly_ever_there(calibration, epsilon):
    """A loss that is 0 or 1 has E L^k = p: the kurtosis is 1 / p, and p = M E X^2."""
    mechanism = get_mechanism("discrete-gaussian").calibrate(
        counts(4), Budget(epsilon=epsilon, delta=1e-5), calibration
    )
    weights = {x: math.exp(-(x**2) / (2 * mechanism.noise.law.std**2)) for x in range(-3, 4)}
    p = 4 * sum(x**2 * weight for x, weight in weights.items()) / sum(weights.values())
    loss = mechanism.loss()
    assert loss.mean == pytest.approx(p, rel=1e-9)
    assert loss.raw_kurtosis == pytest.approx(1 / p, rel=1e-9)
    assert loss.raw_skewness == pytest.approx(p**-0.5, rel=1e-9)
    assert loss.central_kurtosis == pytest.approx(1 / p, rel=1e-9)
    if epsilon == 400:
        assert p == pytest.approx(9.36e-124, rel=1e-3)


@pytest.mark.parametrize("epsilon", [42.0, 50.0, 100.0])
@pytest.mark.parametrize("key", ["skellam", "discrete-gaussian"])
def test_noise_that_is_nearly_always_zero_meets_its_budget(key, epsilon):
    """Then p(0) - e^epsilon p(1) is delta, and the variance is 2 p(1): 2 (1 - delta) e^-epsilon."""
    budget = Budget(epsilon=epsilon, delta=1e-5)
    exact = get_mechanism(key).calibrate(counts(1), budget, "exact")
    assert exact.expected_loss() == pytest.approx(2 * (1 - 1e-5) * math.exp(-epsilon), rel=1e-9)


@pytest.mark.parametrize(
    ("calibration", "epsilon"), [("published", 930.0), ("published", 1e7), ("exact", 740.0)]
)
def test_noise_without_moments_is_unsupported(calibration, epsilon):
    budget = Budget(epsilon=epsilon, delta=1e-5)
    with pytest.raises(Unsupported, match="zero but for a probability below 1e-300"):
        get_mechanism("discrete-gaussian").calibrate(counts(4), budget, calibration)


@pytest.mark.parametrize(
    ("key", "most", "delta"),
    [
        *itertools.product(["discrete-gaussian"], [3], [1e-12, 1e-30, 1e-100]),
        *itertools.product(["skellam"], [64], [1e-12, 1e-100]),
    ],
)
def test_several_counts_at_any_delta(key, most, delta):
    """Noise of this size is a Gaussian to many digits, and so is its privacy."""
    budget = Budget(epsilon=1.0, delta=delta)
    exact = get_mechanism(key).calibrate(counts(most, most), budget, "exact")
    gaussian = get_mechanism("gaussian-analytic").calibrate(counts(most, most), budget)
    assert exact.noise.law.std == pytest.approx(gaussian.noise.sigma, rel=3e-3)
    bounds = exact.profile().delta(1.0)
    assert bounds.upper == pytest.approx(delta, rel=1e-6)
    assert bounds.lower > 0.97 * delta


def test_three_counts_of_skellam_noise_by_enumeration_and_in_little_work(monkeypatch):
    """Searches end, and their tables are short: they once grew until there was no memory."""
    law, evaluated = SkellamProfile.log_masses, []

    def counted(self, numbers):
        evaluated.append(len(numbers))
        assert sum(evaluated) < 10**5
        return law(self, numbers)

    monkeypatch.setattr(SkellamProfile, "log_masses", counted)
    stds = []
    for epsilon, delta in ((1.0, 2e-12), (1.0, 1e-12), (0.1, 1e-6)):
        evaluated.clear()
        budget = Budget(epsilon=epsilon, delta=delta)
        exact = get_mechanism("skellam").calibrate(counts(3, 3), budget, "exact")
        stds.append(exact.noise.law.std)
        variance = stds[-1] ** 2
        # Up to 9 standard deviations are the masses whose products are of the size of delta.
        numbers = np.arange(-int(9 * stds[-1]) - 1, int(9 * stds[-1]) + 1)
        p = special.ive(np.abs(numbers), variance)
        losses = np.log(p[1:] / p[:-1])
        # delta is the sum of P(L > e - l) - e^(e - l) Q(L > e - l) over two losses l.
        sum_p, sum_q = (np.r_[0.0, np.cumsum(p[part])] for part in (slice(1, None), slice(-1)))
        left = epsilon - np.add.outer(losses, losses)
        # The losses fall with x.
        above = np.searchsorted(-losses, -left)
        gain = np.maximum(sum_p[above] - np.exp(left) * sum_q[above], 0.0)
        found = float(np.sum(np.outer(p[1:], p[1:]) * gain))
        bounds = exact.profile().delta(epsilon)
        assert bounds.lower <= found <= bounds.upper <= delta * (1 + 1e-6)
    # Less delta takes more noise, and a little only.
    assert stds[0] < stds[1] < 1.02 * stds[0]


def test_what_the_table_does_not_hold_is_told_before_a_search():
    budget = Budget(epsilon=1.0, delta=1e-250)
    with pytest.raises(Unsupported, match=r"below .* this profile cannot be resolved"):
        get_mechanism("discrete-gaussian").calibrate(counts(3, 3), budget, "exact")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "epsilon", "options", "reason"),
    [
        ("discrete-gaussian", 1e-6, {}, "for at most 100,000"),
        ("skellam", 1e-4, {}, "set sampler to table"),
        ("skellam", 1e-8, {"sampler": "table"}, None),
    ],
)
def test_noise_that_takes_too_long_is_unsupported(key, epsilon, options, reason):
    budget = Budget(epsilon=epsilon, delta=1e-5)
    if reason is None:
        # delta alone allows what needs no more noise, however small epsilon is.
        mechanism = get_mechanism(key).calibrate(counts(3), budget, **options)
        assert math.isfinite(mechanism.profile().delta(0.0).value)
        return
    with pytest.raises(Unsupported, match=reason):
        get_mechanism(key).calibrate(counts(3), budget, **options)


def test_many_counts_are_calibrated_at_a_small_delta():
    # Rounding makes the profile jump over the target where the search would end.
    query = Query(
        shape=(13053,), l2_sensitivity=499.406, linf_sensitivity=8.1325, structure="counts"
    )
    budget = Budget(epsilon=2.1075, delta=1.758e-10)
    mechanism = get_mechanism("skellam").calibrate(query, budget, "exact", sampler="table")
    reached = mechanism.profile().delta(budget.epsilon).upper / budget.delta
    assert 0.99 < reached <= 1
