"""l2mechanism2025: the scales that its published code computes, against exact privacy profiles.

The code is dp_l2 of github.com/google-research/google-research, commit 4c42994; the formulas are
written again from it. The l2 sensitivity is 1. The noise has a density proportional to
exp(-||x|| / sigma), or to exp(-||x||_1 / sigma) for Laplace noise.
"""

import functools
import math

import numpy as np
import scipy

from claims.judges import Count, Delta, Epsilon, judge
from claims.rules import universal
from claims.verdicts import Finding
from mechanisms import Query
from mechanisms.noise.spherical_noise import Spherical
from mechanisms.privacy.gaussian_profile import mu_for
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


@judge
def laplace_scale_is_least(
    *, sizes: list[Count], epsilon: Epsilon, delta: Delta, tolerance: float
) -> Finding:
    """Whether no smaller scale of Laplace noise is private than sqrt(M) / (epsilon + delta).

    One element has a closed form. For more, `enough_laplace` is private: it contradicts where it is
    smaller, and decides nothing where it is not.
    """
    cases, shown = [], []
    for size in sizes:
        stated = math.sqrt(size) / (epsilon + delta)
        if size == 1:
            least = profile(1, 1.0).scale_factor(epsilon, delta)
            cases.append(stated <= (1 + tolerance) * least)
        else:
            least = enough_laplace(epsilon, delta)
            cases.append(False if stated > (1 + tolerance) * least else None)
        shown.append(f"M = {size}: stated {stated:.4g}, enough {rounded_up(least)}")
    return Finding(
        parts=[universal("", cases, "; ".join(shown))],
        detail=(
            f"Scales b for an l2 sensitivity of 1, epsilon {epsilon:g}, delta {delta:g}. For one "
            "element the least is known. For more, b is enough where Gaussian noise of standard "
            "deviation sqrt(2 / pi) b is: it hides every element worse, and squares of changes add."
        ),
        calibration="published",
    )


def enough_laplace(epsilon: float, delta: float) -> float:
    """A scale of Laplace noise that is private for any change by 1 in l2 norm of any length.

    An x-DP pair is no worse than a Gaussian one with Phi(-mu / 2) = 1 / (1 + e^x): the curve of
    errors of the first is a polygon with one corner, there, and the second is convex. mu is at most
    x sqrt(pi / 2), its tangent at 0.
    """
    return math.sqrt(math.pi / 2) / float(mu_for(epsilon, delta))


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
