"""K-norm noise: a uniform point of a convex body, times a radius that is gamma distributed."""

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import mpmath
import numpy as np

from mechanisms.noise.distribution import Noise, checked_dtype
from mechanisms.noise.loss_moments import LossMoments, raw_of_cumulants
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import PureProfile

# Digits of the moments about zero: their cumulants cancel like the fourth power of the size.
_DIGITS = 60


@dataclass(frozen=True, kw_only=True, eq=False)
class KNorm(Noise):
    """Noise R u, u uniform in a body K of R^M and R / scale ~ Gamma(M + 1).

    Its density is proportional to exp(-||x||_K / scale) (Hardt and Talwar 2010), where ||x||_K is
    the least r with x in r K: for changes within `width` K the largest loss is width / scale.

    Args:
        shape: Axes of the answer; M is their product.
        scale: Positive.
        width: The changes of the query lie in `width` times K, and one of them is on its edge.
    """

    shape: tuple[int, ...]
    scale: float
    width: float

    @abstractmethod
    def points(self, rng: np.random.Generator, trials: int, dtype: np.dtype) -> np.ndarray:
        """Uniform points of K, (trials, M)."""

    @abstractmethod
    def raw_of_body(self) -> tuple[mpmath.mpf, ...]:
        """E ||u||^(2 k) for k = 1..4."""

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        radius = self.scale * rng.standard_gamma(self.size + 1.0, trials)
        draws = self.points(rng, trials, dtype)
        draws *= radius[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        return self._loss

    @cached_property
    def _loss(self) -> LossMoments:
        with mpmath.workdps(_DIGITS):
            logs = []
            for k, raw in enumerate(self.raw_of_body(), 1):
                rising = mpmath.rf(self.size + 1, 2 * k)
                logs.append(mpmath.log(raw * rising) + 2 * k * mpmath.log(mpmath.mpf(self.scale)))
            return LossMoments.of_radius(tuple(logs))

    def _scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        return {"scale": self.scale}

    def profile(self, query):
        """What the pure guarantee alone implies: an upper bound, exact in the largest loss.

        A change of the first element by the width has this loss wherever the norm moves with that
        element: where it is the largest one.
        """
        largest = self.width / self.scale
        return BoundedProfile(above=PureProfile(largest=largest), attained_loss=largest)

    def slack(self, query):
        return "the profile of K-norm noise is what its pure guarantee implies, an upper bound"


class CubeNorm(KNorm):
    """K = [-1, 1]^M: changes of which every element may move by the width, in either direction."""

    def points(self, rng, trials, dtype):
        points = rng.random((trials, self.size), dtype)
        points *= 2
        points -= 1
        return points

    def raw_of_body(self):
        return raw_of_cube(self.size)

    def workload_variance(self, factors):
        trace = math.prod(factor.trace() for factor in factors)
        return trace * self.loss().mean / self.size


class CountNorm(KNorm):
    """K = conv([0, 1]^M, [-1, 0]^M): any number of elements move by up to the width, one way.

    ||x||_K = max x^+ + max x^-. Of the body, the part with j positive elements has volume
    C(M, j) j! (M - j)! / M! = 1, whatever j is: j is uniform on 0..M, the largest positive element
    t is Beta(j, M - j + 1), and all others are uniform below t and above t - 1.
    """

    def points(self, rng, trials, dtype):
        size = self.size
        positive = rng.integers(0, size + 1, trials)
        # Beta(0, .) is 0.
        top = np.where(positive > 0, rng.beta(np.maximum(positive, 1), size - positive + 1), 0.0)
        points = rng.random((trials, size), dtype)
        # The first j places are positive, the first of them the largest; then all are permuted.
        places = np.arange(size)
        sides = places < positive[:, None]
        points *= np.where(sides, top[:, None], top[:, None] - 1).astype(dtype)
        points[:, 0] = np.where(positive > 0, top, points[:, 0])
        return rng.permuted(points, axis=1)

    def raw_of_body(self):
        # ||u||^2 = t^2 A + (1 - t)^2 B, A = 1 and j - 1 squares of uniform numbers, B = M - j more.
        # Exact whole numbers, an array over j; where j is 0, `up` is 0 but for a = 0.
        size = self.size
        j = np.arange(size + 1).astype(object)
        above, below = _with_one(_raw_of_squares(j - 1)), (1, *_raw_of_squares(size - j))
        up = [math.prod(j + i for i in range(2 * a)) for a in range(5)]
        down = [math.prod(size - j + 1 + i for i in range(2 * b)) for b in range(5)]
        totals = [
            sum(
                np.sum(math.comb(k, a) * up[a] * down[k - a] * above[a] * below[k - a])
                for a in range(k + 1)
            )
            for k in range(1, 5)
        ]
        return tuple(
            mpmath.mpf(int(total))
            / (_UNIT**k * (size + 1) * math.prod(range(size + 1, size + 1 + 2 * k)))
            for k, total in enumerate(totals, 1)
        )

    def workload_variance(self, factors):
        """From one variance and one covariance, which all elements and pairs share."""
        size = self.size
        variance = self.loss().mean / size
        # E (1^T u)^2: of j positive elements with sum t (1 + (j - 1) / 2) on average, and so on.
        sums = self.scale**2 * (size + 1) * (size + 2) * _mean_square_of_sum(size)
        common = (sums - size * variance) / (size * (size - 1)) if size > 1 else 0.0
        trace = math.prod(factor.trace() for factor in factors)
        total = math.prod(float(factor.gram().sum()) for factor in factors)
        return (variance - common) * trace + common * total


def _mean_square_of_sum(size: int) -> float:
    """E (1^T u)^2 for u uniform in the body of `CountNorm`."""
    j = np.arange(size + 1.0)
    rest = size - j
    beta = (size + 1) * (size + 2)
    # Second moments of t, t (1 - t) and 1 - t, t ~ Beta(j, M - j + 1).
    tt, cross, ss = j * (j + 1) / beta, j * (rest + 1) / beta, (rest + 1) * (rest + 2) / beta
    inner = np.where(j > 0, (1 + (j - 1) / 2) ** 2 + (j - 1) / 12, 0.0)
    mean = np.where(j > 0, 1 + (j - 1) / 2, 0.0)
    outer = (rest / 2) ** 2 + rest / 12
    return float(np.mean(tt * inner - 2 * cross * mean * rest / 2 + ss * outer))


def _raw_of_squares(count):
    """_UNIT^k E S^k, k = 1..4, for a sum S of `count` squares of numbers uniform on [0, 1].

    count: A whole number, or an array of them as objects; exact.
    """
    return raw_of_cumulants(*(count * each for each in _CUMULANTS))


def raw_of_cube(size: int) -> tuple[mpmath.mpf, ...]:
    """E ||u||^(2 k), k = 1..4, for u uniform in [-1, 1]^M, at the precision of mpmath."""
    return tuple(mpmath.mpf(each) / _UNIT**k for k, each in enumerate(_raw_of_squares(size), 1))


def _cumulants_of_one() -> tuple[Fraction, ...]:
    """Cumulants 1 to 4 of the square of a uniform number, whose k-th moment is 1 / (2 k + 1)."""
    m1, m2, m3, m4 = (Fraction(1, 2 * k + 1) for k in range(1, 5))
    return (
        m1,
        m2 - m1**2,
        m3 - 3 * m2 * m1 + 2 * m1**3,
        m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4,
    )


# A unit in which these cumulants, and hence all moments, are whole numbers.
_UNIT = math.lcm(*(each.denominator for each in _cumulants_of_one()))
_CUMULANTS = tuple(int(each * _UNIT**k) for k, each in enumerate(_cumulants_of_one(), 1))


def _with_one(raw):
    """_UNIT^k E (1 + S)^k, k = 0..4, from _UNIT^k E S^k, k = 1..4."""
    moments = (1, *raw)
    return [
        sum(math.comb(k, i) * _UNIT ** (k - i) * moments[i] for i in range(k + 1)) for k in range(5)
    ]
