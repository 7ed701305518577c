"""Where mgm2021's matrix mechanism and its Gaussian mechanism are one noise, by closed forms.

The matrix mechanism of the identity workload adds i.i.d. noise with the classic Gaussian's sigma
for the sensitivity that it is given. So it is the Gaussian mechanism wherever both have the
sensitivity, and the budget, of the same thing: of a whole answer, or of each of its elements.
"""

import math

from claims.comparisons import statement
from claims.judged_rows import calibrated
from claims.verdicts import Part
from mechanisms import Budget
from mechanisms.query.box_query import box_query

# Any budget below 1 would do: both noises follow it alike.
_BUDGET = Budget(epsilon=0.5, delta=1e-5)
_ROUNDING = 1e-9


def same_noise_on_elements(name: str, shape: str) -> Part:
    """Whether both are one noise with the sensitivity of an element, at a shape such as "2x10".

    Each of the m n elements gets (epsilon, delta) / mn, so that all together have (epsilon, delta)
    by basic composition.
    """
    axes = tuple(map(int, shape.split("x")))
    elements = math.prod(axes)
    share = Budget(epsilon=_BUDGET.epsilon / elements, delta=_BUDGET.delta / elements)
    element = calibrated("matrix-mechanism", box_query((1, 1), -1.0, 1.0), share).expected_loss()
    gaussian = calibrated("gaussian-per-element", box_query(axes, -1.0, 1.0), _BUDGET)
    return _same(name, elements * element / gaussian.expected_loss())


def same_noise_on_whole(name: str, shape: str) -> Part:
    """Whether both are one noise with the sensitivity and the budget of the whole answer."""
    query = box_query(tuple(map(int, shape.split("x"))), -1.0, 1.0)
    losses = [
        calibrated(key, query, _BUDGET).expected_loss() for key in ("matrix-mechanism", "gaussian")
    ]
    return _same(name, losses[0] / losses[1])


def _same(name: str, ratio: float) -> Part:
    found = f"the same noise: ratio of expected squares {ratio:.6g}"
    return statement(name, abs(ratio - 1) <= _ROUNDING, found)
