"""Controls for studies: the exact answer, and an answer that ignores the data."""

from dataclasses import dataclass

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.query import Budget, Query


@dataclass(frozen=True, kw_only=True)
class NoNoise(Noise):
    """Noise that is always zero."""

    shape: tuple[int, ...]

    def sample(self, rng, trials, dtype=np.float64):
        return np.zeros((trials, *self.shape), dtype)

    def loss(self):
        return LossMoments((0.0, 0.0, 0.0, 0.0))

    def _scaled(self, factor):
        return self

    def parameters(self):
        return {"sigma": 0.0}

    def workload_variance(self, factors):
        return 0.0


class NonPrivate(AdditiveMechanism):
    """The exact answer, whatever the budget."""

    key = "non-private"
    title = "Non-private"
    paper = "control"
    theorem = "none"
    guarantee = "none"
    look = ("#000000", "s", 0)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        return NoNoise(shape=query.shape)


class RandomAnswer(Mechanism):
    """An answer drawn without looking at the data: (0, 0)-DP.

    Each element is uniform on element_range if the query states it, else N(0, l2_sensitivity^2).
    """

    key = "random-answer"
    title = "Random answer"
    paper = "control"
    theorem = "independent of the data"
    guarantee = "pure"
    look = ("#888888", "x", 46)

    def profile(self):
        """Return the profile of delta 0 at every epsilon: all data sets give one distribution."""
        return GaussianProfile(mu=0.0)

    def _release(self, value, rng):
        if self.query.element_range is not None:
            return rng.uniform(*self.query.element_range, self.query.shape).astype(value.dtype)
        answer = rng.standard_normal(self.query.shape, value.dtype)
        return answer * value.dtype.type(self.query.l2_sensitivity)
