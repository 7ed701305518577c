"""The exponential mechanism of McSherry and Talwar, with the distance to the answer as quality."""

from __future__ import annotations

import numpy as np

from mechanisms.contract.mechanism import Mechanism
from mechanisms.contract.query import Unsupported
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.profiles.profile import PrivacyProfile
from mechanisms.profiles.pure_profile import PureProfile


class Exponential(Mechanism):
    """Density proportional to exp(-epsilon ||Y - V||_F / (2 s)) on the box element_range^M.

    V is the value and s = l2_sensitivity, which bounds how much the quality -||Y - V||_F changes
    between neighbours, by the triangle inequality: pure epsilon-DP. mvg2018 compares with it for
    the identity query, after Blum, Ligett and Roth (2013); the mechanism that Chaudhuri, Sarwate
    and Sinha (2012) derive from it for the first principal component is `ppca` with k = 1.

    Half of epsilon pays for the normaliser, which depends on V because of the walls. Without walls
    it does not, and the same density is the l2 mechanism at twice the scale that it needs: `l2` at
    half the budget. That is why a query without element_range is unsupported. How much of the
    normaliser's share is really lost depends on V; the profile is the one of any epsilon-DP
    release, an upper bound, and there is no exact calibration.

    Draws are exact up to rounding and the table described at `BoxedExponential`, without a Markov chain.
    """

    key = "exponential"
    title = "Exponential"
    paper = "McSherry and Talwar 2007"
    theorem = "Theorem 6, with minus the Frobenius distance as quality"
    guarantee = "pure"

    @classmethod
    def _calibrated(cls, query, budget, calibration, settings):
        if query.element_range is None:
            raise Unsupported("needs element_range; without one it is `l2` at half the budget")
        mechanism = cls(query=query, budget=budget, calibration=calibration, settings=settings)
        if calibration == "exact":
            raise Unsupported(f"has no exact calibration: {mechanism.slack()}")
        return mechanism

    def release(self, value, rng):
        value = self.checked_value(value)
        return self.releases(value, rng, 1)[0].astype(value.dtype, copy=False)

    def releases(self, value: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Independent private answers to one value, float64 (trials, *query.shape).

        Raises:
            ValueError: Also where an element lies outside element_range.
        """
        value = self.checked_value(value)
        low, high = self.query.element_range
        # The ends as this precision has them: rounding must not put a value outside.
        outside = (value < value.dtype.type(low)) | (value > value.dtype.type(high))
        if outside.any():
            bad = tuple(int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f"the value holds {value[bad]} at index {bad}, outside of element_range "
                f"[{low:g}, {high:g}]: clip it, or state the range of every possible answer"
            )
        flat = np.clip(value.astype(float).ravel(), low, high)
        rate = 1 / self.parameters()["b"]
        draws = BoxedExponential(flat - low, high - flat, rate).draw(flat, rng, trials)
        return draws.reshape(trials, *self.query.shape)

    def parameters(self):
        """b = 2 s / epsilon, the scale of the distance ||Y - V||_F."""
        return {"b": 2 * self.query.l2_sensitivity / self.budget.epsilon}

    def profile(self) -> PrivacyProfile:
        """That of randomised response: no epsilon-DP release is worse."""
        return PureProfile(largest=self.budget.epsilon)

    def slack(self):
        return "the normaliser depends on the data, and only the claim itself bounds its share"
