"""Gaussian noise of one standard deviation: on every element, or symmetric on a Gram matrix."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.noise.distribution import GRAM_SLACK, Noise, attained_reach
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.gaussian_profile import gaussian_between


@dataclass(frozen=True, kw_only=True)
class _OneSigma(Noise):
    """Base class of Gaussian noise with mu = sup ||D||_2 / sigma over the allowed changes D."""

    shape: tuple[int, ...]
    sigma: float

    scale_field = "sigma"

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query):
        attained = attained_reach(query) / self.sigma
        return gaussian_between(attained, query.reach / self.sigma, GRAM_SLACK)


class IndependentGaussian(_OneSigma):
    """Independent N(0, sigma^2) on every element of an answer of any shape."""

    independent = True

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_normal((trials, *self.shape), dtype)
        draws *= draws.dtype.type(self.sigma)
        return draws

    def loss(self):
        size, variance = self.size, self.sigma**2
        return LossMoments(
            tuple(2 ** (k - 1) * math.factorial(k - 1) * size * variance**k for k in (1, 2, 3, 4))
        )

    def squared_norm_survival(self, threshold):
        return scipy.special.chdtrc(self.size, np.asarray(threshold) / self.sigma**2)


class SymmetricGaussian(_OneSigma):
    """A symmetric (d, d) matrix with independent N(0, sigma^2) on and above its diagonal.

    The upper triangle determines the answer, and its noise is i.i.d. So mu sigma is the supremum of
    ||upper(D)||_2 over the changes D. This norm is at most ||D||_F, which counts the elements off
    the diagonal twice, and equal to it if D is diagonal. A diagonal D attains sup ||D||_F: the
    record x = B e_1 is added, removed, or replaced by y = B e_2. `attained_reach` covers queries
    that exclude this D.
    """

    def sample(self, rng, trials, dtype=np.float64):
        size = self.shape[0]
        lower = np.tri(size, dtype=bool)
        draws = np.empty((trials, size, size), dtype)
        drawn = rng.standard_normal((trials, size * (size + 1) // 2), dtype)
        drawn *= drawn.dtype.type(self.sigma)
        draws[:, lower] = drawn
        draws.swapaxes(1, 2)[:, lower] = drawn
        return draws

    def loss(self):
        # L = sum_i n_ii^2 + 2 sum_{i<j} n_ij^2; a z^2 has the k-th cumulant 2^(k-1) (k-1)! a^k.
        diagonal, above = self.shape[0], self.shape[0] * (self.shape[0] - 1) // 2
        return LossMoments(
            tuple(
                2 ** (k - 1)
                * math.factorial(k - 1)
                * (diagonal + 2**k * above)
                * self.sigma ** (2 * k)
                for k in (1, 2, 3, 4)
            )
        )
