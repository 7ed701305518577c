"""The claim of a calibrated mechanism, and whether its own profile refutes it."""

import math

from mechanisms.privacy.profile import Bounds
from mechanisms.query.words import rounded_down

# Relative slack within which a true delta or epsilon counts as the claimed one.
TOLERANCE = 1e-6


def claimed_delta(mechanism) -> float:
    """Return the delta of the mechanism's claim.

    As published, pure and local guarantees claim delta 0, whatever the budget's delta. At the exact
    calibration the claim is the budget.
    """
    if mechanism.calibration == "exact" or mechanism.guarantee == "approximate":
        return mechanism.budget.delta
    return 0.0


def refutes(true_delta: Bounds, true_epsilon: Bounds, epsilon: float, delta: float) -> bool:
    """Whether the true delta at epsilon and the true epsilon at delta refute (epsilon, delta).

    Both must exceed the claim by more than rounding. At a claimed delta of 0 the true epsilon alone
    counts, because a true delta above 0 may underflow.
    """
    epsilon, delta = epsilon * (1 + TOLERANCE), delta * (1 + TOLERANCE)
    return true_epsilon.lower > epsilon and (delta == 0 or true_delta.lower > delta)


def refutation(mechanism) -> str | None:
    """Return why the claim of published noise is false for its query and budget, or None.

    The result is None if the profile does not refute the claim, if there is no profile or no claim,
    and at the exact calibration, which the profile itself sets.
    """
    profile = mechanism.profile()
    if mechanism.calibration == "exact" or mechanism.guarantee == "none" or profile is None:
        return None
    epsilon, delta = mechanism.budget.epsilon, claimed_delta(mechanism)
    true_delta = profile.delta(epsilon)
    # Nearly all claims end here, without the search for epsilon at a delta.
    if delta > 0 and true_delta.lower <= delta * (1 + TOLERANCE):
        return None
    true_epsilon = profile.epsilon(delta)
    if not refutes(true_delta, true_epsilon, epsilon, delta):
        return None
    least = f"at least {rounded_down(true_epsilon.lower, 4)}"
    return (
        f"its noise is not ({epsilon:g}, {delta:g})-private for this query: the true delta is at "
        f"least {rounded_down(true_delta.lower, 4)} at that epsilon, the true epsilon "
        f"{'infinite' if math.isinf(true_epsilon.lower) else least} at that delta; "
        'calibration="exact" rescales the noise to the budget, or says why it cannot, and '
        "`compare` ranks what keeps it"
    )
