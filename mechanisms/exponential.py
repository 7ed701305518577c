"""The exponential mechanism of McSherry and Talwar, with the distance to the answer as quality."""

from __future__ import annotations

import numpy as np

from mechanisms.contract.mechanism import Mechanism
from mechanisms.contract.query import Unsupported
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.profiles.bounded_profile import BoundedProfile
from mechanisms.profiles.profile import PrivacyProfile
from mechanisms.profiles.pure_profile import PureProfile


class Exponential(Mechanism):
    """Density proportional to exp(-epsilon ||Y - V||_F / (2 s)) on the box element_range^M.

    V is the value and s = l2_sensitivity. By the triangle inequality s bounds how much the quality
    -||Y - V||_F changes between neighbours: pure epsilon-DP. mvg2018 uses it as a baseline for the
    identity query, after Blum, Ligett and Roth (2013). The mechanism that Chaudhuri, Sarwate and
    Sinha (2012) derive from it for the first principal component is `ppca` with k = 1.

    Half of epsilon pays for the normalising constant, which depends on V because of the walls of
    the box. Without walls it does not, and the density is that of the l2 mechanism at twice the
    necessary scale, `l2` at half the budget: so a query without element_range is unsupported. How
    much of that half is really spent depends on V and on the shape: of one element between far
    walls log(2 - e^(-epsilon / 2)), so that epsilon 1 truly is 0.83. The profile is therefore an
    upper bound, that of any epsilon-DP release, and there is no exact calibration.

    Draws are exact up to rounding and the table of `BoxedExponential`; no Markov chain is needed.
    """

    key = "exponential"
    title = "Exponential"
    paper = "McSherry and Talwar 2007"
    theorem = "Theorem 6, with minus the Frobenius distance as quality"
    guarantee = "pure"

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.element_range is None:
            raise Unsupported("needs element_range; without one it equals l2 at half the budget")
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
            ValueError: As `release`, and if an element lies outside element_range.
        """
        value = self.checked_value(value)
        low, high = self.query.element_range
        # The ends in the precision of the value: rounding must not put an element outside.
        outside = (value < value.dtype.type(low)) | (value > value.dtype.type(high))
        if outside.any():
            bad = tuple(int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f"the value holds {value[bad]} at index {bad}, outside of element_range "
                f"[{low:g}, {high:g}]; clip it, or state a range that holds every answer"
            )
        flat = np.clip(value.astype(float).ravel(), low, high)
        rate = 1 / self.parameters()["b"]
        draws = BoxedExponential(flat - low, high - flat, rate).draw(flat, rng, trials)
        return draws.reshape(trials, *self.query.shape)

    def parameters(self):
        """b = 2 s / epsilon, the scale of the distance ||Y - V||_F."""
        return {"b": 2 * self.query.l2_sensitivity / self.budget.epsilon}

    def profile(self) -> PrivacyProfile:
        """The profile of randomised response from above: no epsilon-DP release is worse.

        Two answers that mirror each other in the centre of the box have the same constant: their
        distance over b is a loss that occurs.
        """
        structured = self.query.structure is not None and self.query.adjacency != "local"
        mirrored = 0.0 if structured else self.query.reach
        return BoundedProfile(
            above=PureProfile(largest=self.budget.epsilon),
            attained_loss=mirrored / self.parameters()["b"],
        )

    def slack(self):
        return "its normaliser depends on the data, and only the claim bounds what that costs"
