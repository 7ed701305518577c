"""Checks of mechanisms whose noise is of extreme size, lies on a grid, recurs or has no moments.

Correct mechanisms pass; a mechanism fails if its noise and its profile contradict each other.
Recurring numbers and exact answers are mistakes for every structure and value. The noise of a
histogram may lie on the grid of records, and sums with a nonzero value are rounded. Neither may
hide a mistake or look like one.
"""

import dataclasses
import math
from pathlib import Path

import numpy as np
import planted_mistakes as planted
import pytest
from scipy.special import ndtr

from mechanisms import AdditiveMechanism, Budget, Inconsistent, Query, get_mechanism
from mechanisms.audit.audit import audit_release
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.check.draws import claimed_of_numbers
from mechanisms.noise.distribution import Noise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import Bounds, PrivacyProfile

pytestmark = pytest.mark.usefixtures("steady_clock")
SCALAR = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
AT_ONE, PURE = planted.BUDGET, Budget(epsilon=1.0)


@pytest.mark.parametrize(
    ("key", "size", "budget"),
    [
        ("laplace", 1e6, Budget(epsilon=1e-13)),
        # Twice this epsilon is more than a budget may have.
        ("laplace", 1.0, Budget(epsilon=1e15)),
        ("gaussian", 1e12, Budget(epsilon=1e-7, delta=1e-10)),
        ("gaussian", 1e12, Budget(epsilon=1e-15, delta=1e-10)),
        ("r1smg", 1.0, Budget(epsilon=1.0, delta=1e-300)),
    ],
)
def test_large_and_small_noise_is_no_mistake(key, size, budget):
    query = Query(shape=(4, 4), l2_sensitivity=size, l1_sensitivity=size)
    assert require_consistent(get_mechanism(key).calibrate(query, budget), seed=0).releases


@dataclasses.dataclass(frozen=True, kw_only=True)
class GeometricGrid(Noise):
    """Two-sided geometric multiples of `grid`, P(k) proportional to e^(-grid |k| / scale)."""

    shape: tuple[int, ...]
    scale: float
    grid: float = 1 / 64

    def sample(self, rng, trials, dtype=np.float64):
        rate = -math.expm1(-self.grid / self.scale)
        first, second = rng.geometric(rate, (2, trials, *self.shape))
        return (self.grid * (first - second)).astype(dtype)

    def loss(self):
        ratio = math.exp(-self.grid / self.scale)
        k = np.arange(1, 1 << 17)
        masses = 2 * (1 - ratio) / (1 + ratio) * ratio**k
        raw = tuple(float(masses @ (self.grid * k) ** (2 * power)) for power in (1, 2, 3, 4))
        return LossMoments.of_sum(raw, math.prod(self.shape))

    def parameters(self):
        return {"scale": self.scale}


class GridLaplace(AdditiveMechanism):
    """The value is rounded to a grid first; a larger sensitivity allows for it."""

    key, title, paper, theorem, guarantee = "grid-laplace", "Grid Laplace", "test", "none", "pure"
    only_adds_noise = False

    @classmethod
    def noise_for(cls, query, budget):
        moved = query.l1_sensitivity + query.size * GeometricGrid.grid
        return GeometricGrid(shape=query.shape, scale=moved / budget.epsilon)

    def prepared(self, value):
        return (np.rint(value / self.noise.grid) * self.noise.grid).astype(value.dtype)

    def profile(self):
        return PureProfile(largest=self.budget.epsilon)


class GridWithoutRounding(GridLaplace):
    """The value is not rounded, and its offset from the grid gives it away."""

    only_adds_noise = True

    def prepared(self, value):
        return value


@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["quick", "thorough"])
def test_noise_on_a_grid_is_a_mistake_unless_the_value_is_rounded_to_it(effort):
    query = Query(shape=(4, 5), l2_sensitivity=1.0, l1_sensitivity=1.0)
    assert require_consistent(GridLaplace.calibrate(query, PURE), seed=0, effort=effort).releases
    with pytest.raises(Inconsistent, match="numbers that occurred more than once"):
        require_consistent(GridWithoutRounding.calibrate(query, PURE), seed=0, effort=effort)


class TwiceTheTrueMu(planted.Gaussian):
    def profile(self):
        return GaussianProfile(mu=2 * super().profile().mu)


class HalfTheScale(planted.Gaussian):
    """The mechanism's profile is too good; the profile of its noise is known only up to bounds."""

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentLaplace(shape=query.shape, scale=query.l1_sensitivity / 2)

    def profile(self):
        return PureProfile(largest=1.0)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (TwiceTheTrueMu, "states delta.* of at least .* that of the noise has at most"),
        (HalfTheScale, "states delta.* of at most .* that of the noise has at least"),
    ],
)
def test_a_profile_beside_that_of_its_noise_is_a_mistake(mistake, words):
    assert require_consistent(planted.Gaussian.calibrate(planted.QUERY, AT_ONE), seed=0).releases
    mechanism = mistake.calibrate(planted.QUERY, AT_ONE)
    assert mistake is TwiceTheTrueMu or mechanism.noise.profile(planted.QUERY).slack
    with pytest.raises(Inconsistent, match=words):
        require_consistent(mechanism, seed=0)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CauchyProfile(PrivacyProfile):
    """Cauchy noise of scale 1 shifted by `shift`; delta is exact at epsilon 0 and 1 elsewhere."""

    shift: float

    def sample_losses(self, rng, n, *, reverse=False):
        draws = rng.standard_cauchy(n)
        return np.log1p((draws - self.shift) ** 2) - np.log1p(draws**2)

    def _log_delta(self, epsilon):
        exact = 2 / math.pi * math.atan(self.shift / 2)
        upper = np.log(np.where(epsilon == 0, exact, 1.0))
        return Bounds(np.where(epsilon == 0, upper, -np.inf), upper, upper)

    def _scaled(self, factor):
        return CauchyProfile(shift=self.shift / factor)


@dataclasses.dataclass(frozen=True, kw_only=True)
class CauchyNoise(Noise):
    """Cauchy noise that states a scale; its squared norm has no mean."""

    shape: tuple[int, ...]
    scale: float
    drawn: float

    def sample(self, rng, trials, dtype=np.float64):
        return (self.drawn * rng.standard_cauchy((trials, *self.shape))).astype(dtype)

    def loss(self):
        return LossMoments((math.inf,) * 4)

    def _scaled(self, factor):
        return dataclasses.replace(self, scale=factor * self.scale, drawn=factor * self.drawn)

    def parameters(self):
        return {"scale": self.scale}

    def profile(self, query):
        return CauchyProfile(shift=query.l2_sensitivity / self.scale)


class Cauchy(AdditiveMechanism):
    key, title, paper, theorem, guarantee = "cauchy", "Cauchy", "test", "none", "approximate"
    share = 1.0

    @classmethod
    def noise_for(cls, query, budget):
        return CauchyNoise(shape=query.shape, scale=2.0, drawn=2.0 * cls.share)


class HalfOfCauchy(Cauchy):
    share = 0.5


def test_noise_without_moments_is_compared_at_its_own_scale():
    assert require_consistent(Cauchy.calibrate(SCALAR, AT_ONE), seed=0).releases
    with pytest.raises(Inconsistent, match="show a change of one element"):
        require_consistent(HalfOfCauchy.calibrate(SCALAR, AT_ONE), seed=0)


# Numbers that recur. Zero is outside the range of the far queries.


FAR = {
    "values": Query(shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=1.0, element_range=(1.0, 5.0)),
    "own values": Query(
        shape=(8, 8),
        l2_sensitivity=32.0,
        l1_sensitivity=256.0,
        element_range=(1.0, 5.0),
        adjacency="local",
    ),
    "records": Query(
        shape=(8, 8),
        l2_sensitivity=2.0,
        element_range=(1.0, 5.0),
        adjacency="replace",
        structure="records",
        record_bound=20.0,
    ),
    "far values": Query(
        shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=1.0, element_range=(1000.0, 1010.0)
    ),
}


WIDE = Query(shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=1.0, element_range=(0.0, 1e7))
QUERIES = {"histogram": planted.HISTOGRAM, "wide range": WIDE} | FAR


TABLE = np.random.default_rng(0).standard_normal(1 << 16)


@planted.releasing
def snaps_to_the_value(self, value, rng):
    """An answer near the true one is replaced by the true one."""
    noise = self.sample(rng, 1, value.dtype)[0]
    return value + np.where(np.abs(noise) < 0.01 * self.noise.sigma, 0, noise)


@planted.changed
def one_of_many_without_noise(draws, sigma, rng):
    """One random element of a hundred gets no noise."""
    draws[rng.random(draws.shape) < 0.01] = 0
    return draws


class Cycle(planted.Gaussian):
    """Noise from a table of 2^16 numbers."""

    only_adds_noise = True

    def sample(self, rng, trials, dtype=np.float64):
        places = rng.integers(1 << 16, size=(trials, *self.query.shape))
        return (self.noise.sigma * TABLE[places]).astype(dtype)


class RoundedTo(planted.Gaussian):
    """No mistake: the noise lies on a grid that a change by one record does not leave."""

    grid = 1.0
    only_adds_noise = False

    def _release(self, value, rng):
        noise = super().sample(rng, 1, value.dtype)[0]
        return value + (np.rint(noise / self.grid) * self.grid).astype(value.dtype)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["study", "verify"])
@pytest.mark.parametrize("mistake", [snaps_to_the_value, one_of_many_without_noise, Cycle])
def test_numbers_that_recur_are_a_mistake(mistake, effort, query):
    words = "numbers that occurred more than once|element of the value itself"
    for seed in range(2):
        with pytest.raises(Inconsistent, match=words):
            require_consistent(mistake.calibrate(query, planted.BUDGET), seed=seed, effort=effort)


@pytest.mark.slow
@pytest.mark.parametrize("grid", [1.0, 0.5, 1e-3, 2.0**-12])
def test_noise_on_a_grid_of_records_is_no_mistake(grid):
    mechanism = type("Rounded", (RoundedTo,), {"grid": grid, "only_adds_noise": False})
    calibrated = mechanism.calibrate(planted.HISTOGRAM, planted.BUDGET)
    # Rounding changes the spread of the noise slightly, which is not the subject here.
    assert dataclasses.is_dataclass(calibrated)
    try:
        require_consistent(calibrated, seed=1)
    except Inconsistent as found:
        assert "numbers that occurred" not in str(found) and "itself" not in str(found)


@pytest.mark.parametrize(
    ("edges", "size"),
    [*(((low, low + 4), 1.0) for low in (1e3, 1e6, 1e9, 1e11)), ((0.0, 9e11), 1e-3)],
)
@pytest.mark.parametrize("key", ["gaussian", "laplace", "r1smg"])
def test_numbers_that_recur_as_sums_are_rounded_are_no_mistake(key, edges, size):
    far = Query(shape=(8, 8), l2_sensitivity=size, l1_sensitivity=size, element_range=edges)
    mechanism = get_mechanism(key).calibrate(far, planted.BUDGET)
    for effort in (QUICK, THOROUGH):
        assert require_consistent(mechanism, seed=0, effort=effort).releases


@pytest.mark.parametrize("mu", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("share", [1e-15, 1e-6, 0.1, 1.0, 3.0])
def test_the_allowed_probability_of_near_numbers_exceeds_that_of_the_most_likely(mu, share):
    """Tested near the mean of Gaussian noise; a change is mu standard deviations."""
    claimed = claimed_of_numbers(GaussianProfile(mu=mu), share)
    assert claimed >= 2 * ndtr(share * mu / 2) - 1
    assert claimed_of_numbers(GaussianProfile(mu=mu), 0.0) <= claimed


def test_the_allowed_probability_of_near_numbers_is_small():
    """The noise of a pure claim has a density of at most e^epsilon over the change."""
    assert claimed_of_numbers(PureProfile(largest=1.0), 1e-15) == pytest.approx(math.e * 1e-15)
    assert claimed_of_numbers(GaussianProfile(mu=1.0), 1e-15) < 1e-8


# Mistakes that the checks miss, as SHARP_EDGES.md says. Remove one here once it is found.


PAGE = " ".join((Path(__file__).resolve().parents[3] / "SHARP_EDGES.md").read_text().split())


@planted.releasing
def hides_a_bit(self, value, rng):
    """The last bit of every number says whether the value is above 0.5 there."""
    answer = value + self.sample(rng, 1, value.dtype)[0]
    bits = answer.view(f"u{answer.itemsize}")
    return (bits & ~bits.dtype.type(1) | (value > 0.5)).view(value.dtype)


@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["study", "verify"])
def test_a_hidden_bit_passes(effort):
    assert "hides a bit of the answer in the last bit of its float passed too; `audit" in PAGE
    mechanism = hides_a_bit.calibrate(planted.QUERY, planted.BUDGET)
    for seed in range(2):
        assert require_consistent(mechanism, seed=seed, effort=effort).releases


def test_an_audit_of_bits_finds_a_hidden_bit():
    """The default scores miss it, and the score of bits accuses no correct mechanism."""

    def verdict(kind, score):
        mechanism = kind.calibrate(Query(shape=(2,), l2_sensitivity=1.0), planted.BUDGET)
        pair = [np.array([4.0, end]) for end in (0.25, 0.75)]
        return audit_release(
            mechanism.release, *pair, 1.0, 1e-5, score=score, samples=2000, seed=0
        ).verdict

    assert "`audit --score bits` finds it." in PAGE
    assert verdict(hides_a_bit, "bits") == "refuted"
    assert verdict(hides_a_bit, None) == verdict(planted.Gaussian, "bits") == "undecided"


def test_a_table_of_numbers_passes_in_a_study_of_one_element():
    assert "numbers from a table of 65,536 in one element" in PAGE
    mechanism = Cycle.calibrate(
        dataclasses.replace(QUERIES["histogram"], shape=(1, 1)), planted.BUDGET
    )
    for seed in range(4):
        assert require_consistent(mechanism, seed=seed, effort=QUICK).releases
