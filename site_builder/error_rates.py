"""What a mechanism's epsilon means to an attacker: the errors of the best test, and of the claim's.

The mechanism is that of the example on its page. Its trade-off curve is drawn as the polygon of the
lines that single values of delta(epsilon) give: it lies on or below the curve and touches it
between any two corners, so that what is said of an attacker is an upper bound.
"""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import Mechanism
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.trade_off import advantage, claimed_true_positive_rate
from mechanisms.query.words import rounded_up
from mechanisms.verification.verification import claimed_delta

FALSE_POSITIVE_RATE = 1e-3
# Type I errors that are drawn, closer to one another near 0, where the curve is steep.
TYPE_ONE = np.append(np.linspace(0.0, 1.0, 41) ** 2, FALSE_POSITIVE_RATE)
TYPE_ONE.sort()
# Lines of the polygon on either side of epsilon 0, and where they end: at a delta that adds little
# to any rate, or at a slope that is all but vertical.
LINES, LEAST_DELTA, LARGEST = 24, 1e-6, 12.0


@dataclass(frozen=True)
class ErrorRates:
    """Type I against type II errors, and upper bounds in words.

    Args:
        true, allowed: The curves as the points of an SVG polyline in the unit square, the type I
            error to the right and the type II error downwards from 1.
        epsilon, delta: What is claimed.
        advantage, rate: Upper bounds of what an attacker reaches: true less false positive rate,
            and the true positive rate at FALSE_POSITIVE_RATE.
        claimed_advantage, claimed_rate: What the claim allows.
    """

    true: str
    allowed: str
    epsilon: float
    delta: float
    advantage: str
    rate: str
    claimed_advantage: str
    claimed_rate: str


def error_rates(mechanism: Mechanism | None) -> ErrorRates | None:
    """None where there is no mechanism, no claim or no profile."""
    if mechanism is None or mechanism.guarantee == "none":
        return None
    profile = mechanism.profile()
    if profile is None:
        return None
    epsilon, delta = mechanism.budget.epsilon, claimed_delta(mechanism)
    reached = 1.0 - type_two_errors(profile)
    allowed = claimed_true_positive_rate(epsilon, delta, TYPE_ONE)
    shown = int(np.searchsorted(TYPE_ONE, FALSE_POSITIVE_RATE))
    return ErrorRates(
        true=_points(reached),
        allowed=_points(allowed),
        epsilon=epsilon,
        delta=delta,
        advantage=rounded_up(advantage(profile).upper),
        rate=rounded_up(reached[shown]),
        claimed_advantage=rounded_up((math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)),
        claimed_rate=rounded_up(allowed[shown]),
    )


def type_two_errors(profile: PrivacyProfile) -> np.ndarray:
    """Least type II errors at TYPE_ONE, from below."""
    largest = 0.375
    while largest < LARGEST and profile.delta(largest).value > LEAST_DELTA:
        largest *= 2
    epsilons = min(largest, profile.largest_loss) * np.linspace(0.0, 1.0, LINES) ** 2
    delta = np.asarray(profile.delta(epsilons).upper)
    growth = np.exp(epsilons)
    # The line of epsilon, and that of -epsilon, where delta is 1 - (1 - delta) / growth.
    lines = np.concatenate(
        [
            1 - delta[:, None] - growth[:, None] * TYPE_ONE,
            (1 - delta[:, None] - TYPE_ONE) / growth[:, None],
        ]
    )
    return np.clip(lines.max(axis=0), 0.0, 1.0)


def _points(rates: np.ndarray) -> str:
    # The type II error is 1 - rate: at the top of the square, where y is 0, it is 1.
    return " ".join(f"{x:.4g},{y:.4g}" for x, y in zip(TYPE_ONE, rates, strict=True))
