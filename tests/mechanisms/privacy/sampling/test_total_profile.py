"""The total of different releases against integrals, closed forms and dp_accounting."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from dp_accounting import GaussianDpEvent, LaplaceDpEvent, PoissonSampledDpEvent
from dp_accounting.pld import PLDAccountant

from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.chi_square_profile import RaisedVarianceProfile
from mechanisms.privacy.composition import at_negative, likely_sums
from mechanisms.privacy.finite_profile import CapProfile, PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import IndependentLaplaceProfile, LaplaceProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.sampling.total_profile import TotalProfile, total

TARGETS = np.array([1e-1, 1e-5, 1e-10, 1e-15])


def run(step, times=1, rate=1.0, adjacency="add-remove") -> SampledRun:
    return SampledRun(step=step, rate=rate, steps=times, adjacency=adjacency)


def laplace(tau: float) -> LaplaceProfile:
    return LaplaceProfile(l1_sensitivity=tau, scale=1.0)


def gaussian_delta(mu: float, epsilon: np.ndarray) -> np.ndarray:
    """Of any real epsilon."""
    size = np.abs(epsilon)
    delta = GaussianProfile(mu=mu).delta(size).value
    return np.where(epsilon < 0, at_negative(size, delta), delta)


def with_laplace(tau: float, mu: float, epsilon: float) -> float:
    """delta of Laplace noise and Gaussian noise: the Gaussian one, averaged over Laplace losses."""
    ends = gaussian_delta(mu, epsilon + np.array([-tau, tau])) / 2 @ [1.0, math.exp(-tau)]
    nodes, weights = np.polynomial.legendre.leggauss(200)
    losses = tau * nodes
    density = np.exp((losses - tau) / 2) / 4
    return float(ends + tau * weights @ (density * gaussian_delta(mu, epsilon - losses)))


def with_sampled(rate: float, sampled: float, mu: float, epsilon: float) -> float:
    """delta of Gaussian noise on a sample and on all records: the worse one of two directions."""
    x = np.linspace(-15.0, 20.0, 20_001)
    ratio = 1 - rate + rate * np.exp(sampled * x - sampled**2 / 2)
    density = np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)
    removed = density * ratio * gaussian_delta(mu, epsilon - np.log(ratio))
    added = density * gaussian_delta(mu, epsilon + np.log(ratio))
    return float(max(removed.sum(), added.sum()) * (x[1] - x[0]))


def holds(bounds, truth: float, width: float) -> None:
    assert bounds.lower <= truth <= bounds.upper
    assert bounds.upper - bounds.lower <= width * truth


def test_gaussian_noise_adds_mu_squared():
    assert total(
        [run(GaussianProfile(mu=0.6), 4), run(GaussianProfile(mu=0.5))]
    ) == GaussianProfile(mu=math.sqrt(4 * 0.36 + 0.25))


def test_bounds_hold_hundreds_of_different_releases():
    """From delta 1e-1 to 1e-15, within 0.01% of epsilon."""
    mus = np.random.default_rng(1).lognormal(sigma=0.7, size=200)
    truth = GaussianProfile(mu=0.7)
    mus *= truth.mu / np.linalg.norm(mus)
    found = TotalProfile(parts=tuple(run(GaussianProfile(mu=float(mu))) for mu in mus))
    bounds, epsilons = found.epsilon(TARGETS), truth.epsilon(TARGETS).value
    assert (bounds.lower <= epsilons).all() and (epsilons <= bounds.upper).all()
    assert (bounds.upper - bounds.lower < 1e-4 * epsilons).all()


def test_different_releases_on_rare_samples_are_bounded_by_the_sum_of_their_deltas():
    """No grid holds losses that are as rare."""
    runs = [run(GaussianProfile(mu=1 + i / 10), rate=1e-10) for i in range(10)]
    found = total(runs)
    for epsilon in (1e-5, 1e-2):
        each = np.array([epsilon / 10])
        deltas = [one.rate * float(one.step.delta(one.removed(each)[0]).value[0]) for one in runs]
        upper = found.log_delta(epsilon).upper
        assert upper == pytest.approx(math.log(sum(deltas)), abs=0.2)


def test_bounds_hold_gaussian_noise_that_is_not_merged():
    """From delta 1e-1 to 1e-15, within 0.3% of delta and 0.1% of epsilon."""
    runs = (run(GaussianProfile(mu=0.3), 5), run(GaussianProfile(mu=1.0)))
    found, truth = TotalProfile(parts=runs), GaussianProfile(mu=math.sqrt(1.45))
    epsilons = truth.epsilon(TARGETS).value
    for epsilon, delta in zip(epsilons, TARGETS, strict=True):
        holds(found.delta(epsilon), delta, 3e-3)
        assert found.delta(epsilon).value == pytest.approx(delta, rel=2e-4)
    bounds = found.epsilon(TARGETS)
    assert (bounds.lower <= epsilons).all() and (epsilons <= bounds.upper).all()
    assert (bounds.upper - bounds.lower <= 1e-3 * epsilons).all()


def test_bounds_hold_laplace_and_gaussian_noise():
    found = total([run(laplace(0.8)), run(GaussianProfile(mu=0.5))])
    for epsilon in (0.1, 1.0, 2.0, 3.0, 4.5):
        holds(found.delta(epsilon), with_laplace(0.8, 0.5, epsilon), 3e-3)


@pytest.mark.parametrize("mu", [1e-3, 1.0, 30.0, 100.0, 300.0, 1e4, 1e6])
def test_bounds_hold_gaussian_noise_and_an_answer(mu):
    """Randomised response at 1: two Gaussian curves in turn, with 60 digits.

    The losses of the noise are as large as 5e11.
    """

    def log_delta(epsilon: float) -> float:
        with mpmath.workdps(60):
            true = 1 / (1 + mpmath.exp(-1))
            found = mpmath.mpf(0)
            for loss, mass in ((1, true), (-1, 1 - true)):
                at = mpmath.mpf(epsilon) - loss
                start = at / mpmath.mpf(mu)
                tails = (mpmath.ncdf(sign * mpmath.mpf(mu) / 2 - start) for sign in (1, -1))
                found += mass * (next(tails) - mpmath.exp(at) * next(tails))
            return float(mpmath.log(found))

    answer = CapProfile(largest=1.0, mass=1 / (1 + math.exp(-1.0)))
    found = total([run(answer), run(GaussianProfile(mu=mu / math.sqrt(2)), 2)])
    for target in (1e-1, 1e-5, 1e-10, 1e-20, 1e-30):
        bounds = found.epsilon(target)
        assert log_delta(bounds.lower) >= math.log(target) >= log_delta(bounds.upper)
        assert bounds.upper - bounds.lower <= 1e-3 * bounds.upper


@pytest.mark.parametrize(("delta", "levels"), [(1e-6, {0}), (1e-30, {0, 1})])
def test_an_epsilon_computes_the_levels_that_resolve_its_delta(delta, levels):
    found = total([run(laplace(0.05), times=1000), run(GaussianProfile(mu=1.0), rate=0.01)])
    assert found.epsilon(delta).value > 0
    assert {level for _, level, *_ in found._known} == levels


@pytest.mark.parametrize("widths", [(40, 50, 60, 70, 80), (1, 2, 30, 900, 1000), (5, 5000)])
def test_sums_of_narrow_and_wide_parts_are_convolutions(widths):
    """Where all sums are likely the masses are those of numpy.convolve."""
    rng = np.random.default_rng(0)
    parts, expected = [], np.ones(1)
    for times, width in enumerate(widths, 1):
        masses = rng.random(width + 1) + 1
        masses /= masses.sum()
        parts.append((np.arange(width + 1) - width // 3, masses, times))
        for _ in range(times):
            expected = np.convolve(expected, masses)
    (low, high), masses = likely_sums(parts)
    first = low + sum(width // 3 * times for times, width in enumerate(widths, 1))
    assert expected[: max(first, 0)].sum() + expected[first + high - low + 1 :].sum() < 1e-15
    assert masses() == pytest.approx(expected[first : first + high - low + 1], abs=1e-15)


def test_many_pure_releases_keep_narrow_bounds_at_tiny_delta():
    bounds = total([run(laplace(0.01), 3000), run(GaussianProfile(mu=0.5))]).epsilon(1e-15)
    assert bounds.upper < 1.0002 * bounds.lower


def test_bounds_hold_sampled_and_full_releases():
    found = total([run(GaussianProfile(mu=1.5), rate=0.1), run(GaussianProfile(mu=0.4))])
    for epsilon in (0.05, 1.0, 3.0, 5.5, 9.0):
        holds(found.delta(epsilon), with_sampled(0.1, 1.5, 0.4, epsilon), 6e-3)


@pytest.mark.parametrize(
    ("rate", "epsilon", "log_delta"),
    [(1e-8, 1e-9, -19.4598531), (1e-8, 8.0, -361.823958), (1e-12, 0.1, -344.500696)],
)
def test_a_release_on_a_rare_sample(rate, epsilon, log_delta):
    """The larger one of both directions in closed form, with 80 digits."""
    found = total([run(GaussianProfile(mu=1.0), rate=rate)]).log_delta(epsilon)
    assert found.lower == pytest.approx(log_delta, rel=1e-7)
    assert found.upper == pytest.approx(log_delta, rel=1e-7)


def test_the_lower_bound_holds_near_the_largest_loss():
    """Answers of three kinds, enumerated: a loss that rounds up moves delta by far more there."""
    kinds = [
        (3.995194101029979e-08, 0.003946808960016407, 2),
        (1.7158432931635557e-07, 0.02613644781498011, 2),
        (0.7695225684436032, 0.0017932048527140162, 1),
    ]
    epsilon = 0.769521393274475
    found = total([run(CapProfile(largest=e, mass=mass), times) for e, mass, times in kinds])
    with mpmath.workdps(60):
        laws = []
        for size, mass, times in kinds:
            loss, told = mpmath.mpf(size), mpmath.mpf(mass)
            against = told * mpmath.exp(-loss)
            laws += times * [((loss, told), (-loss, against), (mpmath.mpf(0), 1 - told - against))]
        delta = mpmath.mpf(0)
        for each in itertools.product(*laws):
            loss, masses = mpmath.fsum(loss for loss, _ in each), (mass for _, mass in each)
            if loss > epsilon:
                delta -= mpmath.fprod(masses) * mpmath.expm1(epsilon - loss)
        bounds = found.log_delta(epsilon)
        assert bounds.lower <= mpmath.log(delta) <= bounds.upper


@pytest.mark.parametrize("mu", [100.0, 1000.0, 1e5])
def test_bounds_hold_large_losses_on_samples(mu):
    """Two samples of a half: delta is a fourth of that of both, where one alone has none left."""
    found = total([run(GaussianProfile(mu=mu), 2, rate=0.5)])
    for target in (1e-5, 1e-20):
        bounds = found.epsilon(target)
        # Both have the losses of all records, less 2 ln 2.
        truth = GaussianProfile(mu=math.sqrt(2) * mu).epsilon(4 * target).value - 2 * math.log(2)
        assert bounds.lower <= truth <= bounds.upper
        assert bounds.upper - bounds.lower <= 1e-3 * truth


def test_dp_accounting_agrees():
    """Its pessimistic bound on a run of DP-SGD, a histogram and a mean is not below ours."""
    found = total(
        [
            run(GaussianProfile(mu=1 / 1.1), 500, 0.01),
            run(laplace(0.1), 3),
            run(GaussianProfile(mu=0.2)),
        ]
    )
    accountant = PLDAccountant(value_discretization_interval=1e-3)
    accountant.compose(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 500)
    accountant.compose(LaplaceDpEvent(10.0), 3).compose(GaussianDpEvent(5.0))
    for delta in (1e-3, 1e-6):
        theirs, ours = accountant.get_epsilon(delta), found.epsilon(delta)
        assert ours.lower <= theirs
        assert ours.upper == pytest.approx(theirs, rel=1e-2)


def test_a_product_is_composed_by_its_factors():
    many = IndependentLaplaceProfile(components=3, width=0.2, scale=1.0, rest=0.1)
    runs = [run(many, 2), run(GaussianProfile(mu=0.3))]
    parts = [run(laplace(0.2), 6), run(laplace(0.1), 2), run(GaussianProfile(mu=0.3))]
    assert set(total(runs).parts) == set(total(parts).parts)


def test_pure_guarantees_are_worst_as_randomised_response():
    runs = [run(PureProfile(largest=0.3), 4), run(PureProfile(largest=0.3, times=2))]
    found = total([*runs, run(GaussianProfile(mu=1e-6))])
    worst = PureProfile(largest=0.3, times=6)
    for epsilon in (0.0, 0.5, 1.5):
        assert worst.delta(epsilon).value <= found.delta(epsilon).upper
        assert found.delta(epsilon).upper == pytest.approx(worst.delta(epsilon).value, rel=3e-3)
    assert total([run(laplace(0.3)), run(PureProfile(largest=0.5))]).epsilon(0.0) == (0.3, 0.8, 0.8)


def test_what_is_known_of_one_release_bounds_the_total_from_below():
    unknown = BoundedProfile(above=GaussianProfile(mu=1.0))
    assert total([run(unknown), run(GaussianProfile(mu=0.5))]) == BoundedProfile(
        above=GaussianProfile(mu=math.sqrt(1.25)), below=GaussianProfile(mu=0.5)
    )
    asymmetric = total([run(RaisedVarianceProfile(rows=2, ratio=0.5)), run(laplace(0.1))])
    alone = RaisedVarianceProfile(rows=2, ratio=0.5).delta(0.5)
    assert (
        alone.lower
        <= asymmetric.delta(0.5).lower
        <= asymmetric.delta(0.5).upper
        < 1.2 * alone.value
    )


@pytest.mark.parametrize("rate", [1.0, 0.3, 1e-6, 1e-9, 1e-30])
@pytest.mark.parametrize(
    "losses",
    # The last two are near -ln(rate), which magnifies the half ulp of a decimal's float.
    [
        (0.1, 1 / 3),
        (1e-7, 2.3, 1e5),
        (5.1, 0.7, 0.1),
        (20.11421508670834, 0.1),
        (12.44574741223503, 0.1),
    ],
)
def test_the_whole_pure_loss_is_within_bounds_to_the_last_digit(rate, losses):
    """Of losses and bounds as decimals, as they are written."""
    steps = (3, 7, 11)
    found = total([run(laplace(e), n, rate) for e, n in zip(losses, steps, strict=False)])
    with mpmath.workdps(50):
        sampled = (rate * mpmath.expm1(mpmath.mpf(repr(e))) for e in losses)
        each = [mpmath.log1p(loss) for loss in sampled]
        truth = sum(n * loss for n, loss in zip(steps, each, strict=False))
        lower, _, upper = (mpmath.mpf(repr(float(each))) for each in found.epsilon(0.0))
        # mpmath rounds to 50 digits.
        rounding = truth * mpmath.mpf("1e-45")
        assert lower - rounding <= truth <= upper + rounding
        assert upper <= lower * (1 + mpmath.mpf("1e-13"))


def test_a_pure_bound_of_zero_has_no_sign():
    found = total([run(GaussianProfile(mu=0.5)), run(GaussianProfile(mu=0.5), rate=0.5)])
    assert math.copysign(1.0, found.epsilon(0.0).lower) == 1.0


def test_adjacencies_do_not_mix():
    with pytest.raises(ValueError, match="same adjacency"):
        total([run(laplace(1.0)), run(laplace(2.0), adjacency="replace")])


@pytest.mark.parametrize("mu", [1e100, 1e200])
def test_merged_noise_that_protects_nothing(mu):
    """The square of mu leaves floating point."""
    release = SampledRun(step=GaussianProfile(mu=mu), rate=1.0, steps=4)
    assert total([release, release]).delta(1.0).lower > 1 - 1e-12
