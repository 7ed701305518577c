"""l2mechanism2025: the scales that its published code computes, against exact privacy profiles.

The code is dp_l2 of github.com/google-research/google-research, commit 4c42994; the formulas are
written again from it. The l2 sensitivity is 1. The noise has a density proportional to
exp(-||x|| / sigma).
"""

import functools
import math

import numpy as np
import scipy

from claims.comparisons import universal
from claims.judges import Count, Delta, Epsilon, judge
from claims.verdicts import Finding
from mechanisms import Query
from mechanisms.noise.spherical_noise import Spherical
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.words import rounded_up

# Of the radii in each of its two sums, and of sigma: the defaults of its experiments.
SHELLS, TOLERANCE = 1000, 1e-3


@judge
def scales_are_private(*, sizes: list[Count], epsilon: Epsilon, deltas: list[Delta]) -> Finding:
    """Whether the l2 mechanism is (epsilon, delta)-DP at the scale that the code computes."""
    cases, shown = [], []
    for delta in deltas:
        for size in sizes:
            found = profile(size, published_scale(size, epsilon, delta)).delta(epsilon)
            private = True if found.upper <= delta else None
            cases.append(False if found.lower > delta else private)
            shown.append(found.upper / delta)
    return Finding(
        parts=[universal("", cases, f"true over claimed delta at most {rounded_up(max(shown))}")],
        detail=(
            "By the exact privacy profile of the noise, at "
            f"{SHELLS} radii and a tolerance of {TOLERANCE:g}, the code's own; M = "
            f"{', '.join(map(str, sizes))}, epsilon {epsilon:g}, delta "
            f"{' and '.join(f'{delta:g}' for delta in deltas)}."
        ),
        calibration="published",
    )


@judge
def scales_are_least(
    *, sizes: list[Count], epsilon: Epsilon, deltas: list[Delta], tolerance: float
) -> Finding:
    """Whether no smaller scale of the l2 mechanism is private, but for the tolerance."""
    parts = []
    for delta in deltas:
        over = [
            published_scale(size, epsilon, delta) / least_scale(size, epsilon, delta)
            for size in sizes
        ]
        found = f"at most {rounded_up(max(over) - 1, 2)} above the least"
        cases = [ratio <= 1 + tolerance for ratio in over]
        parts.append(universal(f"delta {delta:g}", cases, found))
    return Finding(
        parts=parts,
        detail=(
            "sigma over the least one by the exact privacy profile, less 1; M = "
            f"{', '.join(map(str, sizes))}, epsilon {epsilon:g}, {SHELLS} radii."
        ),
        calibration="published",
    )


@functools.cache
def published_scale(size: int, epsilon: float, delta: float) -> float:
    """sigma of `get_l2_sigma`: a bisection that ends on the side of more noise."""
    low, high = 0.0, 1.0
    while delta_bound(size, epsilon, delta, high) > delta:
        low, high = high, 2 * high
    while high - low > TOLERANCE:
        middle = (low + high) / 2
        if delta_bound(size, epsilon, delta, middle) <= delta:
            high = middle
        else:
            low = middle
    return high


def delta_bound(size: int, epsilon: float, delta: float, sigma: float) -> float:
    """The code's upper bound on delta at epsilon: of P(L >= epsilon) - e^epsilon Q(L >= epsilon).

    Both probabilities are sums over shells of radii, of which a spherical cap has such losses: for
    P the shells lie around the answer and their caps are too large, for Q around the neighbour's
    and too small.
    """
    tau = epsilon * sigma
    if tau >= 1:
        return 0.0
    if size == 1:
        return float(LaplaceProfile(l1_sensitivity=1.0, scale=sigma).delta(epsilon).value)
    # All but a hundredth of delta lies below the last radius.
    last = sigma * scipy.special.gammainccinv(size, 0.01 * delta)
    bounds = []
    for side in (1.0, -1.0):
        radii = np.linspace((1 - side * tau) / 2, last, SHELLS)
        inside = scipy.special.gammainc(size, radii / sigma)
        shells = np.diff(inside, append=1.0)
        caps = _caps(size, 1 - tau + side * (1 - tau**2) / (2 * radii))
        bounds.append(float(caps @ shells) + (inside[0] if side > 0 else 0.0))
    return bounds[0] - math.exp(epsilon) * bounds[1]


def _caps(size: int, heights: np.ndarray) -> np.ndarray:
    """The share of a sphere in `size` dimensions in a cap of these heights, in units of radii."""
    cosine = 1 - np.clip(heights, 0.0, 2.0)
    half = scipy.special.betainc((size - 1) / 2, 0.5, 1 - cosine**2) / 2
    return np.where(cosine >= 0, half, 1 - half)


def least_scale(size: int, epsilon: float, delta: float) -> float:
    """The smallest private sigma of the l2 mechanism, by its exact profile."""
    return profile(size, 1.0).scale_factor(epsilon, delta)


def profile(size: int, sigma: float) -> PrivacyProfile:
    """Of the l2 mechanism; one element has Laplace noise."""
    if size == 1:
        return LaplaceProfile(l1_sensitivity=1.0, scale=sigma)
    noise = Spherical(shape=(size,), radial_shape=float(size), power=1.0, scale=sigma)
    return noise.profile(Query(shape=(size,), l2_sensitivity=1.0))
