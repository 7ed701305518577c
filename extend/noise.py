"""Template of a noise distribution: copy this file to `mechanisms/noise/<name>.py` and edit it.

A distribution has draws, moments and a privacy profile, but no budget: the mechanism that uses it
chooses the scale (extend/mechanism.py).
"""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.query import Query


@dataclass(frozen=True, kw_only=True)
class TwoScales(Noise):
    """N(0, sigma^2) on the first half of the elements, N(0, (2 sigma)^2) on the others.

    The fields are the shape of the answer and the scales. M is the number of elements.
    """

    shape: tuple[int, ...]
    sigma: float

    # The field that a factor on the noise multiplies; without this line it is `scale`.
    scale_field = "sigma"

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of every element in C order, an array of shape (M,)."""
        size = math.prod(self.shape)
        return np.where(np.arange(size) < (size + 1) // 2, self.sigma, 2 * self.sigma)

    def sample(self, rng, trials, dtype=np.float64):
        # Return an array of shape (trials, *shape) and precision `dtype`. Draw all trials at once.
        draws = rng.standard_normal((trials, *self.shape), dtype)
        return draws * self.deviations.reshape(self.shape).astype(draws.dtype)

    def loss(self):
        # Return the exact moments of L = ||n||^2, n the noise. Here L is a sum of independent
        # squares X, given by E X, E X^2, E X^3 and E X^4. `LossMoments` has further constructors.
        variances = self.deviations**2
        gaussian = ((1, 1), (2, 3), (3, 15), (4, 105))  # E Z^2k of a standard Gaussian Z
        return LossMoments.of_sum(tuple(moment * variances**k for k, moment in gaussian))

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query: Query):
        # Return the privacy profile of the worst pair of neighbouring answers. Leave this out if it
        # is unknown: verdicts then rest on sampled audits, and there is no exact calibration. Here
        # the profile lies between `above`, which no pair exceeds, and `below`, which is attained by
        # a change of one element of the first half. The sentence says why they may differ.
        above = GaussianProfile(mu=query.reach / self.sigma)
        below = GaussianProfile(mu=query.change_of_one / self.sigma)
        return enclosed(above, below, "no single element can move by all of the l2 sensitivity")
