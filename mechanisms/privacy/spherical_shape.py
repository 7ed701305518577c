"""The member of the spherical generalised gamma family with the least expected loss E R^2."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from mechanisms.privacy.profile import check_count, check_positive, check_target
from mechanisms.privacy.spherical import SphericalProfile, radius_moment, solve_scale

# Search box for (a / M, p), and where the search starts: the l2 mechanism, the Gaussian, and a
# point between them where density is singular at the origin, which is what medium M prefers.
_BOX = ((0.05, 1.0), (0.5, 8.0))
_START = ((1.0, 1.0), (1.0, 2.0), (0.8, 1.5))
TOLERANCE = 1e-4


def optimal_shape(
    epsilon: float, delta: float, *, dimension: int, sensitivity: float
) -> SphericalProfile:
    """The (a, p) with the least E R^2 among spherical noise with delta(epsilon) = delta exactly.

    epsilon: > 0. delta: in (0, 1). dimension: M >= 2. sensitivity: s > 0. Searched over
    a / M in [0.05, 1] and p in [0.5, 8] by the Nelder-Mead method, without randomness, until
    log E R^2 varies by less than 1e-4 over the simplex. Its first corners include the l2 mechanism
    (M, 1) and the Gaussian (M, 2) and it returns the best point that it met, so the result is
    never worse than either. Along the valley between them E R^2 is flat, so that a and p are
    determined less sharply than E R^2.
    """
    check_target(epsilon, delta)
    check_count("dimension", dimension, minimum=2)
    check_positive("sensitivity", sensitivity)
    if delta == 0:
        raise ValueError("delta must be > 0: pure privacy allows a = M and p <= 1 only")

    def calibrated(point: np.ndarray) -> SphericalProfile:
        shape, power = float(dimension * point[0]), float(point[1])
        kind = {"dimension": dimension, "shape": shape, "power": power, "sensitivity": sensitivity}
        return SphericalProfile(**kind, scale=solve_scale(epsilon, delta, **kind))

    def log_loss(point: np.ndarray) -> float:
        profile = calibrated(point)
        kind = {"shape": profile.shape, "power": profile.power, "scale": profile.scale}
        return float(np.log(radius_moment(2, **kind)))

    found = optimize.minimize(
        log_loss,
        _START[0],
        method="Nelder-Mead",
        bounds=_BOX,
        options={"initial_simplex": _START, "xatol": 1e-2, "fatol": TOLERANCE, "maxfev": 200},
    )
    if not found.success:
        raise ArithmeticError(f"no optimal shape for epsilon {epsilon}, delta {delta}: {found}")
    return calibrated(found.x)
