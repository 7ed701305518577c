"""Template of a mechanism that adds no noise: copy it to `mechanisms/catalogue/<name>.py`.

Nothing else has to be edited. extend/mechanism.py is the template of a mechanism that adds noise.

    python -m mechanisms verify my-bits --shape 4 --element-range 0,1 --adjacency local --epsilon 1
    python -m mechanisms audit my-bits --shape 4 --element-range 0,1 --adjacency local --epsilon 1

Replace this text with what the mechanism is, and its source.
"""

import math

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import PureProfile
from mechanisms.query.query import Unsupported


class MyBits(Mechanism):
    """Randomised response, which keeps each of M bits with odds of e^(epsilon / M) to 1.

    Values between 0 and 1 are first rounded at random to bits. A category is a vector of bits, one
    of which is 1.
    """

    key = "my-bits"
    title = "My randomised response"
    paper = "Warner 1965"
    theorem = "epsilon / M for each of M bits"
    guarantee = "local"  # pure privacy between any two values of one person

    @classmethod
    def build(cls, query, budget, calibration, settings):
        # Refuse what the theorem does not cover; the mechanism is the subject of the reason.
        if query.element_range != (0.0, 1.0) or query.adjacency != "local":
            raise Unsupported("needs bits: element_range (0, 1) under local adjacency")
        # The exact calibration rescales noise. Here all of epsilon is spent, and delta is not used.
        if calibration == "exact" and budget.delta > 0:
            raise Unsupported("has no exact calibration at delta > 0: it spends all of epsilon")
        return super().build(query, budget, calibration, settings)

    @property
    def _of_one_bit(self) -> float:
        return self.budget.epsilon / self.query.size

    def _release(self, value, rng):
        # Return one answer of the value's shape and precision. Draw only from `rng`.
        bits = rng.random(value.shape) < value
        kept = rng.random(value.shape) < 1 / (1 + math.exp(-self._of_one_bit))
        return np.where(kept, bits, ~bits).astype(value.dtype)

    def _releases(self, value, rng, trials):
        # Leave this out if many answers at once are no faster. Audits draw thousands.
        return self._release(np.broadcast_to(value, (trials, *value.shape)), rng)

    def profile(self):
        # Leave this out if the privacy profile is unknown: `verify` then gives no verdict, and
        # `audit` tests the claim by releases. All M bits may differ, so the losses of all add up.
        above = PureProfile(largest=self._of_one_bit, times=self.query.size)
        # `above` is an upper bound, and `slack` says why the true profile may be lower.
        return BoundedProfile(
            above=above,
            attained_loss=self.budget.epsilon,
            slack="only the largest loss is known, of values that differ in all bits",
        )
