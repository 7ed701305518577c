"""The meaning of a profile to an attacker: trade-off curve, advantage, rates of the best test.

An attacker sees one release and decides which of two neighbouring data sets it came from. A test
has a type I error alpha (false positives) and a type II error beta (misses); its true positive rate
is 1 - beta. The advantage is the largest difference between true and false positive rates. It
equals delta(0), the total variation: the best test names the right one of two equally likely data
sets with probability (1 + advantage) / 2. The trade-off curve is the least beta at each alpha. The
profile determines it:

    beta(alpha) = sup over all real epsilon of 1 - delta(epsilon) - e^epsilon alpha,
    with delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon))

if the pair has the same profile in both directions (Dong, Roth and Su, Gaussian Differential
Privacy, JRSS B 2022, Proposition 2.13). A profile that is not symmetric is the larger one of two
directions, and the curve is then the least beta that its guarantee allows.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.privacy.profile import Bounds, PrivacyProfile, shaped

# The exponent is more than -log alpha of any float alpha > 0. The epsilon is the largest of any
# budget: at alpha = 0 every epsilon counts.
_LARGEST_EXPONENT, _LARGEST_EPSILON = 750.0, 1e15
_GOLDEN = (math.sqrt(5) - 1) / 2
# If the loss is large, 1 - delta is 0 up to rounding at most epsilons. So the search evaluates
# _PLACES of them, and then shrinks the bracket around the best one, at most 50 wide, below 1e-9.
_PLACES, _STEPS = 64, 52


def type_two_error(profile: PrivacyProfile, type_one: ArrayLike) -> Bounds:
    """Return the least type II error at type I errors in [0, 1]; numbers or arrays.

    The lower bound is proven if the upper bound of delta is, because every epsilon gives a lower
    bound. The upper bound belongs to the best epsilon found, which is not proven to be the best.
    """
    alpha = np.asarray(type_one, dtype=float)
    flat = alpha.ravel()
    largest = min(profile.largest_loss, _LARGEST_EXPONENT)
    with np.errstate(divide="ignore"):
        # Beyond -log alpha the line is below zero.
        high = np.clip(-np.log(flat), 0.0, largest)
    low = np.full(flat.shape, -largest)
    best = _largest_line(profile, flat, low, high)
    end = np.full(flat.shape, min(profile.largest_loss, _LARGEST_EPSILON))
    places = (low, best, np.zeros_like(best), high, end)
    lines = [_line(profile, place, flat) for place in places]
    lower, value, upper = (
        np.clip(np.max([line[curve] for line in lines], axis=0), 0.0, 1.0) for curve in range(3)
    )
    return shaped(Bounds(lower, np.clip(value, lower, upper), upper), alpha.shape)


def true_positive_rate(profile: PrivacyProfile, false_positive_rate: ArrayLike) -> Bounds:
    """Return the largest true positive rate of a test at false positive rates in [0, 1].

    The upper bound is proven as in `type_two_error`.
    """
    missed = type_two_error(profile, false_positive_rate)
    return Bounds(*(1.0 - bound for bound in reversed(missed)))


def claimed_true_positive_rate(
    epsilon: float, delta: float, false_positive_rate: ArrayLike
) -> float | np.ndarray:
    """Return the largest true positive rate that (epsilon, delta)-DP allows.

    Kairouz, Oh and Viswanath 2015, Theorem 2.1. Rates in [0, 1]; a number or an array.
    """
    rate = np.asarray(false_positive_rate, dtype=float)
    steep = np.exp(np.minimum(epsilon + np.log(np.maximum(rate, 1e-300)), 1.0)) * (rate > 0) + delta
    flat = 1.0 - math.exp(-epsilon) * (1.0 - delta - rate)
    found = np.minimum(np.minimum(steep, flat), 1.0)
    return float(found) if found.ndim == 0 else found


def _largest_line(
    profile: PrivacyProfile, alpha: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return the epsilon at which `_line`, concave in e^epsilon, is highest for each alpha."""
    places = np.linspace(low, high, _PLACES)
    best = _line(profile, places, alpha)[1].argmax(axis=0)
    low, high = (
        np.take_along_axis(places, np.clip(best + step, 0, _PLACES - 1)[None], axis=0)[0]
        for step in (-1, 1)
    )
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = (_line(profile, place, alpha)[1] for place in (left, right))
    for _ in range(_STEPS):
        rises = at_left < at_right
        low, high = np.where(rises, left, low), np.where(rises, high, right)
        new = np.where(rises, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low))
        line = _line(profile, new, alpha)[1]
        left, at_left, right, at_right = (
            np.where(rises, right, new),
            np.where(rises, at_right, line),
            np.where(rises, new, left),
            np.where(rises, line, at_left),
        )
    return np.where(at_left > at_right, left, right)


def _line(
    profile: PrivacyProfile, epsilon: np.ndarray, alpha: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return lower bound, value and upper bound of 1 - delta(epsilon) - e^epsilon alpha.

    epsilon: any real number.
    """
    delta = profile.delta(np.abs(epsilon))
    with np.errstate(divide="ignore", over="ignore"):
        falling = np.exp(np.minimum(epsilon, 0.0))
        rising = np.exp(epsilon + np.log(alpha))
    return tuple(
        np.where(epsilon < 0, falling * (1.0 - alpha - curve), 1.0 - curve - rising)
        for curve in reversed(delta)
    )
