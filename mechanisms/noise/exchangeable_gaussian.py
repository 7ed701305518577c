"""Gaussian noise of one variance and one covariance: independent noise plus noise common to all."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.noise.distribution import Noise, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.query import Query


@dataclass(frozen=True, kw_only=True)
class ExchangeableGaussian(Noise):
    """own_std z_i + common_std z_0 on element i, with independent standard normal z.

    The covariance is own_std^2 I + common_std^2 1 1^T. Its eigenvalues are own_std^2 (M - 1 times)
    and own_std^2 + M common_std^2, along the vector of ones.

    Args:
        shape: Axes of the answer; M is their product.
        own_std: Standard deviation of each element's own noise, > 0.
        common_std: Standard deviation of the noise that all elements share, >= 0.
    """

    shape: tuple[int, ...]
    own_std: float
    common_std: float

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, *self.shape), dtype)
        draws *= dtype.type(self.own_std)
        common = rng.standard_normal((trials, *(1 for _ in self.shape)), dtype)
        draws += dtype.type(self.common_std) * common
        return draws

    def loss(self):
        across, along = self.eigenvalues
        others = self.size - 1
        return LossMoments(
            tuple(
                2 ** (k - 1) * math.factorial(k - 1) * (others * across**k + along**k)
                for k in (1, 2, 3, 4)
            )
        )

    def _scaled(self, factor):
        return replace(self, own_std=self.own_std * factor, common_std=self.common_std * factor)

    def parameters(self):
        """The standard deviation of one element, and those of its two parts."""
        return {
            "sigma": math.hypot(self.own_std, self.common_std),
            "own_std": self.own_std,
            "common_std": self.common_std,
        }

    def profile(self, query):
        """Exact for counts and votes, whose changes D have few values of ||D|| and 1^T D.

        mu^2 = D^T Sigma^-1 D = ||D||^2 / across - (1^T D)^2 (1 / across - 1 / along) / M. For w
        counts that change ||D||^2 = w and 1^T D = w, in units of linf_sensitivity: the worst w is a
        whole number beside the top of this parabola, or the most that change. Votes have one value.
        None for other queries.
        """
        if query.structure not in ("counts", "votes"):
            return None
        squares, sums = _changes(query)
        across, along = self.eigenvalues
        # Without the cancellation of 1 / across - 1 / along.
        shared = self.common_std**2 / (across * along)
        return GaussianProfile(mu=float(np.sqrt(np.max(squares / across - sums**2 * shared))))

    def workload_variance(self, factors):
        own = math.prod(factor.trace() for factor in factors)
        common = math.prod(float(factor.gram().sum()) for factor in factors)
        return self.own_std**2 * own + self.common_std**2 * common

    @property
    def eigenvalues(self) -> tuple[float, float]:
        """The variances across and along the vector of ones."""
        across = self.own_std**2
        return across, across + self.size * self.common_std**2


def _changes(query: Query) -> tuple[np.ndarray, np.ndarray]:
    """||D||^2 and 1^T D of every kind of change, arrays of one length."""
    if query.structure == "votes":
        return np.array([query.l2_sensitivity**2]), np.array([query.l1_sensitivity])
    counts = np.arange(1.0, query.most_counts + 1)
    return query.linf_sensitivity**2 * counts, query.linf_sensitivity * counts
