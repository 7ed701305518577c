"""No noise at all: the distribution of the non-private control."""

from dataclasses import dataclass

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments


@dataclass(frozen=True, kw_only=True)
class NoNoise(Noise):
    """Zero with certainty."""

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
