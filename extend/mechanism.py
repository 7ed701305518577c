"""Template of a mechanism: copy this file to `mechanisms/catalogue/<name>.py` and edit it.

Nothing else has to be edited. The mechanism runs in every study whose set of mechanisms starts from
"all" (config/README.md), and is in every table and figure of these studies and in `python -m
mechanisms list | describe | calibrate | verify`.

Replace this text with what the mechanism is, and its source.
"""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.query.option import Option, is_number
from mechanisms.query.query import Budget, Query


def _is_order(value) -> bool:
    return value is None or (is_number(value) and value > 1)


class MyMechanism(AdditiveMechanism):
    """Gaussian noise calibrated through one order of Renyi DP (Mironov 2017).

    sigma^2 = alpha s^2 / (2 (epsilon - log(1/delta) / (alpha - 1))).
    """

    key = "my-mechanism"  # in configs, tables and file names; lower-case letters, digits, - and _
    title = "My mechanism"  # in figures
    paper = "Mironov 2017"  # the key of a paper in paper_figures/, or a reference
    theorem = "Proposition 3 and Corollary 3"  # the statement that claims the guarantee
    guarantee = "approximate"  # the claim: "pure", "approximate", "local" or "none"
    look = ("#3366AA", "o", 1000)  # colour, marker and place in legends; chosen if you leave it out
    # Leave this out if there are no options. A config sets options through `variants`.
    options = {
        "order": Option(None, "a number > 1, or null for the best", _is_order, "order of Renyi DP")
    }

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, order: float | None = None):
        # Raise `Unsupported`, with a reason, for a query that the theorem does not cover; see
        # `matrix_shape` and `require_gram` in mechanisms/query/requirements.py. The caller has
        # already refused delta = 0, because the guarantee is "approximate".
        log = math.log(1 / budget.delta)
        if order is None:
            order = 1 + (log + math.sqrt(log**2 + log * budget.epsilon)) / budget.epsilon
        left = budget.epsilon - log / (order - 1)
        if left <= 0:
            least = 1 + log / budget.epsilon
            raise ValueError(f"option order must exceed {least:.6g} at this budget, got {order:g}")
        sigma = query.l2_sensitivity * math.sqrt(order / (2 * left))
        # A distribution of mechanisms/noise/; a new one starts from extend/noise.py. Drawing,
        # moments, the privacy profile and the exact calibration all follow from it.
        return IndependentGaussian(shape=query.shape, sigma=sigma)

    @classmethod
    def limit(cls, query: Query, budget: Budget) -> str | None:
        """Leave this method out if the theorem holds for every budget."""
        return "the theorem is stated for delta < 1/2" if budget.delta >= 0.5 else None


# If the mechanism does not add noise to the answer, subclass `Mechanism` of
# mechanisms/base/mechanism.py. `build(cls, query, budget, calibration, settings)` makes the
# instance, `profile(self)` gives the true privacy if it is known, and `_release(self, value, rng)`
# answers. Everybody else calls `release`, which checks the value and the answer of `_release`.
