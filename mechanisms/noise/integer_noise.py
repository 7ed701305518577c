"""Independent noise in integer multiples of a unit on every element."""

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.noise.distribution import Noise, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.integer_profile import IntegerShiftProfile


@dataclass(frozen=True, kw_only=True)
class IntegerNoise(Noise):
    """`unit` times independent whole numbers of one symmetric law.

    `sample` draws from a table of rounded probabilities: for accuracy, not for a release, whose
    draws are exact (mechanisms/noise/exact_integers.py).

    Args:
        shape: Axes of the answer.
        unit: The answers are whole multiples of it, > 0.
        law: The law of the whole numbers, with its profile for a shift by one.
    """

    shape: tuple[int, ...]
    unit: float
    law: IntegerShiftProfile

    uncorrelated = True

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        numbers, masses = self.law.masses()
        ends = np.cumsum(masses)
        places = np.searchsorted(ends, rng.random((trials, *self.shape)) * ends[-1], side="right")
        return (self.unit * numbers[places]).astype(dtype)

    def loss(self):
        numbers, masses = self.law.masses()
        raw = (float(masses @ (self.unit * numbers) ** (2 * k)) for k in (1, 2, 3, 4))
        return LossMoments.of_independent(tuple(raw), self.size)

    def _scaled(self, factor):
        """The noise whose law has `factor` times the scale: whole multiples of the same unit."""
        return replace(self, law=self.law.scaled(factor))

    def parameters(self):
        return {"scale": self.unit * self.law.std, "unit": self.unit}

    def profile(self, query):
        """Exact for counts of this unit: the worst change moves as many as one record may.

        None for other queries, whose answers may lie between the whole multiples.
        """
        if query.structure != "counts" or query.linf_sensitivity != self.unit:
            return None
        return self.law.compose(query.most_counts)
