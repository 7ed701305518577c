"""Checks of mechanisms whose noise is of extreme size, lies on a grid, or has no moments.

Correct mechanisms pass; a mechanism fails if its noise and its profile contradict each other.
"""

import dataclasses
import math

import numpy as np
import pytest

from mechanisms import AdditiveMechanism, Budget, Inconsistent, Query, get_mechanism
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.noise.distribution import Noise
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import Bounds, PrivacyProfile

pytestmark = pytest.mark.usefixtures("steady_clock")
SCALAR = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
AT_ONE, PURE = Budget(epsilon=1.0, delta=1e-5), Budget(epsilon=1.0)


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


class Gaussian(AdditiveMechanism):
    key, title, paper, theorem, guarantee = "right", "Gaussian", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentGaussian(shape=query.shape, sigma=4.0)


class TwiceTheTrueMu(Gaussian):
    def profile(self):
        return GaussianProfile(mu=2 * super().profile().mu)


class HalfTheScale(Gaussian):
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
    query = Query(shape=(8, 8), l2_sensitivity=1.0, l1_sensitivity=8.0)
    assert require_consistent(Gaussian.calibrate(query, AT_ONE), seed=0).releases
    mechanism = mistake.calibrate(query, AT_ONE)
    assert mistake is TwiceTheTrueMu or mechanism.noise.profile(query).slack
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
