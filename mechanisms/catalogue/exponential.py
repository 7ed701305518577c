"""The exponential mechanism of McSherry and Talwar; the quality is minus the distance."""

import math

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.noise.boxed_exponential import BoxedExponential
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Unsupported

SLACK = "its normaliser depends on the data, which costs a part of epsilon that varies"


class OneElementProfile(BoundedProfile):
    """The profile of one element, whose largest loss is known."""

    def _scaled(self, factor: float) -> BoundedProfile:
        """Raise ValueError: the normaliser depends on the width of the box, and not only on b."""
        raise ValueError("its largest loss is not proportional to 1 / b, because of the walls")

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Raise ValueError, as `scaled` does."""
        return self.scaled(1.0)


class Exponential(Mechanism):
    """A release Y of density ~ exp(-epsilon ||Y - V||_F / (2 s)) on the box element_range^M.

    V is the value and s = l2_sensitivity. By the triangle inequality the quality -||Y - V||_F
    changes by at most s between neighbours, which gives pure epsilon-DP. mvg2018 uses this
    mechanism as a baseline for the identity query, after Blum, Ligett and Roth (2013). The
    mechanism that Chaudhuri, Sarwate and Sinha (2012) derive from it for the first principal
    component is `ppca` with k = 1.

    Half of epsilon pays for the normalising constant, which depends on V because of the walls of
    the box. Without walls the constant would not depend on V, and the mechanism would be `l2` at
    half the budget, so a query without element_range is unsupported. How much of that half is
    really spent depends on V and on the shape. For one element it is known
    (`_largest_loss_of_one`): in a wide range a claimed epsilon of 1 is truly 0.83. For more
    elements only the claim bounds it. The profile is an upper bound, the profile of randomised
    response with the largest known loss, and there is no exact calibration.

    Draws are exact up to rounding and the table of `BoxedExponential`; no Markov chain is needed.
    """

    key = "exponential"
    title = "Exponential"
    paper = "McSherry and Talwar 2007"
    theorem = "Theorem 6, with minus the Frobenius distance as quality"
    guarantee = "pure"
    look = ("#EE3377", "1", 16)

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.element_range is None:
            raise Unsupported("needs element_range; without one it equals l2 at half the budget")
        if calibration == "exact":
            raise Unsupported(f"has no exact calibration: {SLACK}")
        return super().build(query, budget, calibration, settings)

    def _release(self, value, rng):
        return self._releases(value, rng, 1)[0]

    def _releases(self, value, rng, trials):
        low, high = self.query.element_range
        # Rounding may have put an element just outside.
        flat = np.clip(value.astype(float).ravel(), low, high)
        rate = 1 / self.parameters()["b"]
        draws = BoxedExponential(flat - low, high - flat, rate).draw(flat, rng, trials)
        return draws.reshape(trials, *self.query.shape).astype(value.dtype, copy=False)

    def parameters(self):
        """Return b = 2 s / epsilon, the scale of the distance ||Y - V||_F."""
        return {"b": 2 * self.query.l2_sensitivity / self.budget.epsilon}

    def profile(self) -> PrivacyProfile:
        """Return the profile of randomised response, an upper bound for this largest loss.

        Two answers that mirror each other in the centre of the box have the same normalising
        constant, so the loss between them reaches their distance over b.
        """
        query = self.query
        structured = query.structure is not None and query.adjacency != "local"
        if query.size == 1 and not structured and query.frobenius_bound is None:
            largest = self._largest_loss_of_one()
            return OneElementProfile(
                above=PureProfile(largest=largest), attained_loss=largest, slack=SLACK
            )
        low, high = query.element_range
        corner = math.sqrt(query.size) * max(abs(low), abs(high))
        # A frobenius_bound that cuts off corners of the box may exclude such mirror images.
        cut = query.frobenius_bound is not None and query.frobenius_bound < corner * (1 - 1e-9)
        mirrored = 0.0 if structured or cut else query.reach
        return BoundedProfile(
            above=PureProfile(largest=self.budget.epsilon),
            attained_loss=mirrored / self.parameters()["b"],
            slack=SLACK,
        )

    def _largest_loss_of_one(self) -> float:
        """Return c s + log(Z(s) / Z(0)) for one element, with c = 1 / b.

        s is at most the width w of the range. Z(v) = 2 - e^(-c v) - e^(-c (w - v)) is c times the
        normalising constant of a value at distance v from the lower wall. The loss between values v
        and v + d is largest at the output v, where it is c d + log(Z(v + d) / Z(v)). It grows with
        d, because |Z'| <= c Z, and falls with v, because log Z is concave. So the worst pair is a
        wall and the value at distance s from it.
        """
        low, high = self.query.element_range
        c, width = 1 / self.parameters()["b"], high - low
        moved = min(self.query.reach, width)
        inside = -math.expm1(-c * moved) - math.expm1(-c * (width - moved))
        return c * moved + math.log(inside / -math.expm1(-c * width))
