"""The exact calibration: what it needs of a mechanism, and whether it met the budget.

The base class of mechanisms, `mechanisms.base.mechanism`, uses this module.
"""

from mechanisms.privacy.numerics import ULP
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Inconsistent, Unsupported

# Relative slack within which an exact calibration meets its budget.
_MET = 1e-6
# Relative distance of two scales with only a few doubles between them: delta may cross the budget's
# there.
_NEXT = 64 * ULP


def exact_profile(mechanism) -> PrivacyProfile:
    """The profile that an exact calibration needs.

    Raises:
        Unsupported: There is none, or it is only an upper bound.
    """
    profile = mechanism.profile()
    if profile is None:
        raise Unsupported("has no exact profile, hence no exact calibration")
    # Pure privacy asks for the largest loss alone, which may be known where the rest is not.
    pure = mechanism.budget.delta == 0 and profile.attains_largest_loss
    if profile.slack and not pure:
        raise Unsupported(f"has no exact calibration: {profile.slack}")
    return profile


def exact_factor(published) -> float:
    """The factor that brings the true delta of a published noise to the budget's.

    Raises:
        Unsupported: There is no profile, the profile is only an upper bound, or no factor exists.
    """
    profile = exact_profile(published)
    try:
        return profile.scale_factor(published.budget.epsilon, published.budget.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact calibration: {reason}") from reason


def check_exact(mechanism) -> None:
    """Raise unless the mechanism's own profile meets the budget, as the exact calibration says.

    The profile meets the budget within rounding of delta or of epsilon, or lies below it by less
    than its bounds leave open. It may lie further below where there is nothing to rescale (no
    parameters) or where delta falls too steeply.
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
