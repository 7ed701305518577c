"""gengauss2025: whether a change in one element is the worst that generalised Gaussian noise hides.

Every element has noise of density proportional to exp(-|x / scale|^power), and the published code
takes scale = sqrt(2) multiplier times the clipping norm. Its accountant compares the noise of one
element with the same noise moved by that norm.
"""

import math
from typing import Annotated

import numpy as np
import scipy
from pydantic import Field

from claims.comparisons import universal
from claims.judges import Count, Delta, Positive, judge
from claims.verdicts import Finding
from mechanisms.query.words import rounded_down

Power = Annotated[float, Field(ge=1)]


@judge
def one_dimension_for_all(
    *, delta: Delta, multipliers: list[Positive], powers: list[Power], size: Count
) -> Finding:
    """Whether noise on `size` elements keeps the (epsilon, delta) of one, at l2 norm 1."""
    parts = []
    for power in powers:
        found = []
        for multiplier in multipliers:
            shift = 1 / (math.sqrt(2) * multiplier)
            epsilon = epsilon_of_one(delta, power, shift)
            found.append(delta_of_many(epsilon, power, shift / math.sqrt(size), size))
        # A lower bound on delta that is below the claimed one decides nothing.
        cases = [False if value > delta else None for value in found]
        least, most = (rounded_down(end, 2) for end in (min(found), max(found)))
        shown = f"delta at least {least} to {most} on {size:,} elements"
        parts.append(universal(f"power {power:g}", cases, shown))
    return Finding(
        parts=parts,
        detail=(
            f"At the epsilon where one element has delta {delta:g}; noise multipliers "
            f"{', '.join(f'{each:g}' for each in multipliers)}. The change has l2 norm 1, and is "
            "the same in every element; the event is that so many elements lie beyond half of it. "
            "Both of its probabilities are binomial."
        ),
        calibration="published",
    )


def survival(x: np.ndarray | float, power: float) -> np.ndarray | float:
    """P(X >= x) for a density proportional to exp(-|x|^power)."""
    tail = scipy.special.gammaincc(1 / power, np.abs(x) ** power) / 2
    return np.where(np.asarray(x) >= 0, tail, 1 - tail)


def epsilon_of_one(delta: float, power: float, shift: float) -> float:
    """The epsilon of one element that moves by `shift`, in units of the scale.

    The loss |x|^power - |x - shift|^power does not fall, so that delta is attained by x >= z, with
    epsilon the loss at z. Laplace noise has 1 - delta = exp((epsilon - shift) / 2).
    """
    if power == 1:
        return max(shift + 2 * math.log1p(-delta), 0.0)

    def loss(z: float) -> float:
        return abs(z) ** power - abs(z - shift) ** power

    def excess(z: float) -> float:
        far = survival(z, power)
        return float(survival(z - shift, power) - math.exp(loss(z)) * far) - delta

    # At the middle epsilon is 0.
    high = shift / 2
    if excess(high) <= 0:
        return 0.0
    while excess(high) > 0:
        high += 1
    return loss(scipy.optimize.brentq(excess, shift / 2, high, xtol=1e-14, rtol=1e-14))


def delta_of_many(epsilon: float, power: float, shift: float, size: int) -> float:
    """A lower bound on delta for `size` elements that all move by `shift`.

    By the events that at least k elements lie above shift / 2, at the best k.
    """
    least = np.arange(size + 1)
    near, far = (survival(side * shift / 2, power) for side in (-1, 1))
    binomial = scipy.stats.binom
    under_one, under_other = (binomial.sf(least - 1, size, each) for each in (near, far))
    return float(np.max(under_one - math.exp(epsilon) * under_other))
