"""The exact calibration: what it needs from a mechanism, and whether it met the budget."""

from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Inconsistent, Unsupported

# Relative slack within which an exact calibration meets its budget.
_MET = 1e-6
# Relative distance of two scales with about a hundred doubles between them, across which delta may
# jump over the budget's.
_NEXT = 64 * ULP


def exact_profile(mechanism) -> PrivacyProfile:
    """Return the profile that an exact calibration needs.

    Raises:
        Unsupported: There is no profile, or only a bound that does not suffice for the budget.
    """
    profile = mechanism.profile()
    if profile is None:
        raise Unsupported("has no exact profile, hence no exact calibration")
    # Pure privacy needs the largest loss alone, which may be known even if the rest is not.
    pure = mechanism.budget.delta == 0 and profile.attains_largest_loss
    if profile.slack and not pure:
        raise Unsupported(f"has no exact calibration: {profile.slack}")
    return profile


def exact_factor(published) -> float:
    """Return the factor on the published noise that makes its true delta the budget's.

    Raises:
        Unsupported: As in `exact_profile`, or no factor is found.
    """
    profile = exact_profile(published)
    try:
        return profile.scale_factor(published.budget.epsilon, published.budget.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact calibration: {reason}") from reason


def check_exact(mechanism) -> None:
    """Raise Inconsistent unless the profile of an exactly calibrated mechanism meets the budget.

    The profile must meet the budget within rounding of delta or of epsilon, or lie below it by at
    most the width of its bounds. It may lie further below if there is nothing to rescale (no
    parameters), or if delta falls too steeply.
    """
    epsilon, delta = mechanism.budget.epsilon, mechanism.budget.delta
    profile = exact_profile(mechanism)
    if delta > 0 and profile.keeps(epsilon, delta):
        return
    reached = getattr(profile.delta(epsilon), profile.calibrated_curve)
    if delta > 0 and abs(reached - delta) <= _MET * delta:
        return
    needed = getattr(profile.epsilon(delta), profile.calibrated_curve)
    fixed = not mechanism.parameters()
    if abs(needed - epsilon) <= _MET * epsilon or (fixed and needed <= epsilon):
        return
    if reached < delta and not fixed:
        less_noise = profile.scaled(1 - _NEXT).delta(epsilon)
        if getattr(less_noise, profile.calibrated_curve) > delta:
            return
    raise Inconsistent(
        f"the exact calibration must have delta {delta:g} at epsilon {epsilon:g}, got "
        f"{reached:.6g} by its own profile"
    )
