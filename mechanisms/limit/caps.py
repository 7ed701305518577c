"""Caps of the unit sphere: probabilities that a coordinate of a uniform point is near -1."""

import numpy as np
import scipy


def cap_error(dimension: int) -> float:
    """Return the relative error allowed for `cap`, if its height is wrong by a few ulp.

    An error of one ulp in the height changes the probability by up to M / 2 ulp, M = dimension.
    Against mpmath the error is below a tenth of this up to M = 1e6, see
    tests/mechanisms/limit/test_caps.py. On the circle the probability changes like the root of the
    distance to a pole, and the root of a few ulp is 3e-8.
    """
    return (1e-7 if dimension == 2 else 1e-9) + 2e-14 * dimension


def cap(height, dimension: int):
    """Return Pr(u_1 < height - 1) for u uniform on the unit sphere of R^M, M = dimension >= 2.

    u_1^2 has the Beta law with parameters 1/2 and (M - 1) / 2. Within a standard deviation,
    1 / sqrt(M), of the equator, the probability is 1/2 minus that of the band up to the equator.
    Farther away it is computed as a tail, without cancellation. Heights below 0 and above 2 count
    as 0 and 2.
    """
    height = np.clip(height, 0.0, 2.0)
    below = 1 - height
    ends = 0.5, (dimension - 1) / 2
    near = np.asarray(below * below * dimension < 1)
    lower = np.empty(near.shape)
    scipy.special.betainc(*ends, below * below, out=lower, where=near)
    scipy.special.betainc(*ends[::-1], height * (2 - height), out=lower, where=~near)
    lower = np.where(near, 0.5 - 0.5 * lower, 0.5 * lower)
    return np.where(below >= 0, lower, 1 - lower)


def cap_density(height, dimension: int):
    """Return the derivative of `cap` by the height; 0 outside (0, 2), where it is not needed."""
    inside = (height > 0) & (height < 2)
    spread = np.where(inside, height * (2 - height), 1.0)
    constant = scipy.special.betaln((dimension - 1) / 2, 0.5)
    return np.where(inside, np.exp((dimension - 3) / 2 * np.log(spread) - constant), 0.0)


def cap_height(probability, dimension: int):
    """Return the height of the cap with this probability, which is in [0, 1/2]."""
    spread = scipy.special.betaincinv((dimension - 1) / 2, 0.5, 2 * probability)
    return spread / (1 + np.sqrt(1 - spread))
