"""The member of the spherical generalised gamma family with the least E||n||^2, n the noise."""

from functools import lru_cache

import numpy as np
import scipy

from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

# Search box for (a / M, p), and the points where the search starts: the l2 mechanism, the Gaussian,
# and a point between them where the density is singular at the origin, which is best for medium M.
_BOX = ((0.05, 1.0), (0.5, 8.0))
_START = ((1.0, 1.0), (1.0, 2.0), (0.8, 1.5))
_TOLERANCE = 1e-4
_SECANT_STEPS = 12


# A study asks for the same budget again and again, and each search takes a second.
@lru_cache(maxsize=64)
def least_noise(
    epsilon: float, delta: float, *, dimension: int, sensitivity: float
) -> SphericalProfile:
    """Find the spherical noise with the least E||n||^2 that has delta(epsilon) = delta exactly.

    epsilon: > 0. delta: in (0, 1). dimension: M >= 2. sensitivity: s > 0. The Nelder-Mead method
    searches a / M in [0.05, 1] and p in [0.5, 8], without randomness, until log E||n||^2 varies by
    at most 1e-4 over the simplex, and a / M and p by at most 0.02. The first corners include the l2
    mechanism (M, 1) and the Gaussian (M, 2), and the search returns the best point that it met, so
    that the result is never worse than either. Along the valley between them E||n||^2 is flat, so
    that a and p are determined less sharply. Raises ArithmeticError if the search does not
    converge, TypeError or ValueError for arguments out of range.
    """
    # The search moves through nearby shapes: each scale starts at the previous E||n||^2.
    last_log_square = [2 * np.log(sensitivity)]

    def profile_at(point: np.ndarray) -> SphericalProfile:
        unit = SphericalProfile(
            dimension=dimension,
            radial_shape=float(dimension * point[0]),
            power=float(point[1]),
            scale=1.0,
            sensitivity=sensitivity,
        )
        start = unit.scaled(float(np.exp(0.5 * (last_log_square[0] - log_square_of(unit)))))
        profile = start.scaled(_factor_nearby(start, epsilon, delta))
        last_log_square[0] = log_square_of(profile)
        return profile

    def log_square_of(profile: SphericalProfile) -> float:
        return float(np.log(profile.expected_square))

    found = scipy.optimize.minimize(
        lambda point: log_square_of(profile_at(point)),
        _START[0],
        method="Nelder-Mead",
        bounds=_BOX,
        options={"initial_simplex": _START, "xatol": 2e-2, "fatol": _TOLERANCE, "maxfev": 200},
    )
    if not found.success:
        raise ArithmeticError(f"no least noise for epsilon {epsilon}, delta {delta}: {found}")
    best = profile_at(found.x)
    return best.scaled(best.scale_factor(epsilon, delta))


def _factor_nearby(start: SphericalProfile, epsilon: float, delta: float) -> float:
    """Return `start.scale_factor`, to 1e-6 in log delta, by secant steps if it is close to 1."""
    target = np.log(delta)

    def excess(log_factor: float) -> float:
        return start.scaled(float(np.exp(log_factor))).log_delta(epsilon).value - target

    before, now = 0.0, 0.01
    value_before, value = excess(before), excess(now)
    for _ in range(_SECANT_STEPS):
        if abs(value) <= 1e-6:
            return float(np.exp(now))
        if not np.isfinite(value + value_before) or value == value_before:
            break
        step = -value * (now - before) / (value - value_before)
        before, value_before = now, value
        now += float(np.clip(step, -1.0, 1.0))
        value = excess(now)
    return start.scale_factor(epsilon, delta)
