"""Independent Gaussian noise of one standard deviation on every element."""

import math
from dataclasses import dataclass

import numpy as np
import scipy

from mechanisms.noise.distribution import GRAM_SLACK, Noise, attained_reach, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.gaussian_profile import gaussian_between


@dataclass(frozen=True, kw_only=True)
class IndependentGaussian(Noise):
    """Independent N(0, sigma^2) on every element of an answer of any shape."""

    shape: tuple[int, ...]
    sigma: float

    independent = True
    scale_field = "sigma"

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_normal((trials, *self.shape), checked_dtype(dtype))
        draws *= draws.dtype.type(self.sigma)
        return draws

    def loss(self):
        size, variance = self.size, self.sigma**2
        return LossMoments(
            tuple(2 ** (k - 1) * math.factorial(k - 1) * size * variance**k for k in (1, 2, 3, 4))
        )

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query):
        attained = attained_reach(query) / self.sigma
        return gaussian_between(attained, query.reach / self.sigma, GRAM_SLACK)

    def squared_norm_survival(self, threshold):
        return scipy.special.chdtrc(self.size, np.asarray(threshold) / self.sigma**2)
