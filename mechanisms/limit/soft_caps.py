"""The caps of soft tests: where a gap, or the norm of shifted noise, is below a number.

Distances are divided by the length s of the shift. Noise r u has the norm r, and the gap
k = 1 + r - |r u - e|. Shifted noise r u + e has the norm t = |r u + e|, and the gap 1 + t - r. By
the symmetry of u both are caps {1 + u_1 <= h}.
"""

import numpy as np
import scipy

from mechanisms.limit.caps import cap


def gap_heights(r, gaps, shifted: bool):
    """h and 2 - h of the caps of gaps at most `gaps`; neither is a difference of rounded numbers.

    dh/dr = -k (1 - k / 2) / r^2 for noise, and the opposite for shifted noise.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if shifted:
            return gaps * (2 * (r - 1) + gaps) / (2 * r), (2 - gaps) * (2 * r + gaps) / (2 * r)
        return gaps * (2 + 2 * r - gaps) / (2 * r), (2 - gaps) * (2 * r - gaps) / (2 * r)


def norm_heights(r, norms):
    """h and 2 - h of the caps of shifted noise whose norm is at most `norms`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lower = (norms - np.abs(r - 1)) * (norms + np.abs(r - 1)) / (2 * r)
        return lower, (r + 1 - norms) * (r + 1 + norms) / (2 * r)


def probabilities(heights, dimension: int):
    """C(h), the probability of the cap."""
    lower, upper = heights
    small = cap(np.minimum(lower, upper), dimension)
    return np.where(lower <= upper, small, 1 - small)


def first_moments(heights, dimension: int):
    """The mean of u_1 on the cap, -(h (2 - h))^((M - 1) / 2) / (M - 1) / B."""
    lower, upper = heights
    inside = (lower > 0) & (upper > 0)
    spread = np.where(inside, lower * upper, 1.0)
    constant = scipy.special.betaln((dimension - 1) / 2, 0.5)
    mean = np.exp((dimension - 1) / 2 * np.log(spread) - constant) / (dimension - 1)
    return np.where(inside, -mean, 0.0)


def density(heights, dimension: int):
    """dC/dh, and nan outside of (0, 2)."""
    lower, upper = heights
    inside = (lower > 0) & (upper > 0)
    spread = np.where(inside, lower * upper, np.nan)
    constant = scipy.special.betaln((dimension - 1) / 2, 0.5)
    return np.exp((dimension - 3) / 2 * np.log(spread) - constant)


def excess(r, heights, probability, moment):
    """J = E max(t^2 - |r u + e|^2, 0) = 2 r E max(h - 1 - u_1, 0), t the norm at the edge.

    It is the integral of the probability over t^2. For one t its derivative by r is
    -E (2 r + 2 u_1) on the cap.
    """
    return 2 * r * np.where(heights[0] > 0, (heights[0] - 1) * probability - moment, 0.0)
