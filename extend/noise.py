"""Template of a noise distribution: copy this file to `mechanisms/noise/<name>.py` and edit it.

A distribution knows its draws, its moments and its privacy, and nothing of budgets: the mechanism
that uses it chooses its scale (extend/mechanism.py).
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

    A frozen dataclass: the shape of the answer and the scales, one of which comes first.
    """

    shape: tuple[int, ...]
    sigma: float

    # The field that a factor on the noise multiplies; without this line it is `scale`.
    scale_field = "sigma"

    @property
    def deviations(self) -> np.ndarray:
        """The standard deviation of every element in C order, (M,)."""
        size = math.prod(self.shape)
        return np.where(np.arange(size) < (size + 1) // 2, self.sigma, 2 * self.sigma)

    def sample(self, rng, trials, dtype=np.float64):
        # (trials, *shape), all trials at once, in the precision asked for.
        draws = rng.standard_normal((trials, *self.shape), dtype)
        return draws * self.deviations.reshape(self.shape).astype(draws.dtype)

    def loss(self):
        # Exact moments of L = ||n||^2: here a sum of independent squares, each given by
        # E X, E X^2, E X^3 and E X^4 of its square X. `LossMoments` has further constructors.
        variances = self.deviations**2
        gaussian = ((1, 1), (2, 3), (3, 15), (4, 105))  # E Z^2k of a standard Gaussian Z
        return LossMoments.of_sum(tuple(moment * variances**k for k, moment in gaussian))

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query: Query):
        # The privacy of the worst pair of neighbouring answers. Leave it out where it is not known:
        # verdicts then rest on sampled audits, and there is no exact calibration. Here it lies
        # between `above`, which no pair exceeds, and `below`, of a change of one element of the
        # first half. Where they differ, a sentence says why: the profile then proves a claim but
        # cannot refute one.
        above = GaussianProfile(mu=query.reach / self.sigma)
        below = GaussianProfile(mu=query.change_of_one / self.sigma)
        return enclosed(above, below, "no single element can move by all of the l2 sensitivity")
