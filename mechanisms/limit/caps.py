"""Caps of the unit sphere: the probability that a coordinate of a uniform point is near -1."""

import numpy as np
import scipy


def cap_error(dimension: int) -> float:
    """The relative error allowed for `cap`, including the rounding of its height by a few ulp.

    A height that is wrong by one ulp changes the probability by up to M / 2 ulp. Against mpmath the
    error is below a tenth of this up to M = 1e6, see tests/mechanisms/limit/test_caps.py. On the
    circle the probability changes like the root of the distance to the poles, and the root of a
    few ulp is 3e-8.
    """
    return (1e-7 if dimension == 2 else 1e-9) + 2e-14 * dimension


def cap(height, dimension: int):
    """Pr(u_1 < height - 1), u uniform on the unit sphere of R^dimension, dimension >= 2.

    u_1^2 has the Beta law with parameters 1/2 and (M - 1) / 2. Within 1 / sqrt(M), a standard
    deviation, of the equator the probability is computed as 1/2 less that of the band between;
    farther away as a tail, without cancellation. Heights below 0 and above 2 count as 0 and 2.
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
    """The derivative of `cap`; 0 outside (0, 2), where no derivative is needed."""
    inside = (height > 0) & (height < 2)
    spread = np.where(inside, height * (2 - height), 1.0)
    constant = scipy.special.betaln((dimension - 1) / 2, 0.5)
    return np.where(inside, np.exp((dimension - 3) / 2 * np.log(spread) - constant), 0.0)


def cap_height(probability, dimension: int):
    """The height of the cap with this probability; the probability is in [0, 1/2]."""
    spread = scipy.special.betaincinv((dimension - 1) / 2, 0.5, 2 * probability)
    return spread / (1 + np.sqrt(1 - spread))
