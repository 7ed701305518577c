"""Judge whether any additive noise beats the Gaussian as the dimension grows (spherical2026).

A proof decides the claim. Let X be (epsilon, delta)-DP noise of mean square M v for answers of M
elements that change by at most s in the l2 norm.

1. A random rotation of X has the same mean square and is at least as private, because the
   hockey-stick divergence is convex and a ball has no preferred direction. So take X = R U, where U
   is uniform on the unit sphere, and let W = R / sqrt(M).
2. Let neighbours differ by s along the first axis. The answer y has |y| within s of R, and the
   first element of X, given R, tends to N(0, W^2) in total variation. With w = |y| / sqrt(M), the
   test y_1 > epsilon w^2 / s + s / 2 is optimal for Gaussian noise of variance w^2. Because w
   differs from W by at most s / sqrt(M), the threshold moves by at most
   epsilon (2 / sqrt(M) + s / (M W)) in units of W. This vanishes in the limit, or relative to
   s / (2 W) if W is small. So delta is at least E d(W^2) - o(1) for every law of R, where d(v) is
   the delta of Gaussian noise of variance v.
3. With mu = s / sqrt(v), d'(v) = -phi(mu / 2 - epsilon / mu) mu^3 / (2 s^2), which rises with v
   if mu^4 <= 12 mu^2 + 4 epsilon^2. So d falls from d(0) = 1, and is first concave and then
   convex. If the tangent at v meets the axis v = 0 at 1 or below, it lies below d, and
   E d(W^2) >= d(v) by Jensen's inequality. So in the limit v is at least the Gaussian's variance at
   (epsilon, delta).

If the tangent meets the axis above 1, noise that is zero with some probability and Gaussian
otherwise reaches the convex hull of d, which is below d there. In that case the claim is false.
"""

import math

import scipy

from claims.comparisons import statement
from claims.judges import Delta, Epsilon, judge
from claims.verdicts import Finding
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.query.words import rounded_down


def tangent_at_no_noise(mu: float, epsilon: float) -> float:
    """Return the height at variance 0 of the tangent to d at the variance s^2 / mu^2."""
    slope = scipy.stats.norm.pdf(mu / 2 - epsilon / mu) * mu / 2
    return GaussianProfile(mu=mu).delta(epsilon).value + slope


def largest_delta(epsilon: float) -> float:
    """Return the delta up to which no additive noise beats the Gaussian in the limit.

    The tangent's height rises with mu, up to the mu at which d turns from convex to concave.

    Args:
        epsilon: Epsilon > 0.
    """
    turn = math.sqrt(6 + math.sqrt(36 + 4 * epsilon**2))

    def excess(mu: float) -> float:
        return tangent_at_no_noise(mu, epsilon) - 1

    mu = scipy.optimize.brentq(excess, 1e-6 * turn, turn)
    return GaussianProfile(mu=float(mu)).delta(epsilon).value


@judge
def no_noise_ahead(*, epsilons: list[Epsilon], delta: Delta) -> Finding:
    """Judge whether the proof above holds at every epsilon."""
    parts = []
    for epsilon in epsilons:
        reached = largest_delta(epsilon)
        found = f"holds for every delta up to {rounded_down(reached)}"
        parts.append(statement(f"epsilon {epsilon:g}", reached >= delta, found))
    return Finding(
        parts=parts,
        detail=(
            "By a lower bound on delta of any noise of a given mean square, in the limit; it is "
            "the Gaussian's where delta, as a function of the variance, equals its convex hull. "
            "The figure suite_cost has the noise of the computed mechanisms at finite sizes, and "
            "docs/the_limit.md what any mechanism can have there."
        ),
        calibration="exact",
    )
