"""Budgets of uploads that repeat round after round, as in mgm2021 Section 8.2.

The claimed budget. In the horizontal study the total (epsilon, delta) of a run is shared among all
its uses (uploaded matrices, over all rounds) by the composition theorem of Kairouz, Oh and
Viswanath. In the vertical study every use has the total, with the epsilon before sampling by the
paper's Theorem 6. That theorem is stated for pure DP; delta stays unchanged, which is conservative.
The paper applies the composition theorem to MVG, MGM and the matrix mechanism. Here all mechanisms
get the same share. The paper's Gaussian then splits its share over the elements
(gaussian-per-element), as in Table 4. Read literally, Section 8.2 gives every element the epsilon
of the figure, mn times as much in total: that Gaussian's noise would be mn times smaller, far below
IDN's.

The true spending. In the worst case all uploads of a round move to opposite corners of their boxes
together, so that Gaussian noise composes over layers and rounds exactly, by mu^2 = sum mu_i^2.
Sampling amplifies nothing: horizontal uploads depend on all records of a participant, and vertical
ones on more than their own sample. The claim is far from this truth. At the exact calibration one
factor rescales all noise until the true total, or its upper bound, equals the budget.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from learning.releases import rescaled
from mechanisms import Budget, Mechanism, Query
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun


def calibrated_uploads(
    published: Callable[[Query, Budget], Mechanism],
    queries: Sequence[Query],
    use: Budget,
    rounds: int,
    total: Budget,
    calibration: str,
) -> tuple[Mechanism, ...]:
    """Return one mechanism per upload of a round, in the order of `queries`.

    Args:
        published: Calibrates the mechanism as its source does.
        use: The claimed budget of one upload.
        rounds: Number of rounds with these uploads, at least 1.
        total: The budget of the run, which the exact calibration spends.
        calibration: "published" or "exact".

    Raises:
        Unsupported: The mechanism refuses a query or the budget, or there is no exact calibration,
            because the mechanism adds no noise, the exact total privacy loss is not known or no
            scale reaches the budget.
    """
    found = tuple(published(query, use) for query in queries)
    if calibration == "published":
        return found
    return rescaled(found, spent(found, rounds), total)


def spent(mechanisms: Sequence[Mechanism], rounds: int) -> GaussianProfile | SampledRun | None:
    """Return what a run spends: exactly for Gaussian noise, an upper bound for other noise.

    The result is None if no bound is known.
    """
    joint = joint_profile([mechanism.profile() for mechanism in mechanisms])
    if joint is None or not joint.symmetric:
        return None
    if isinstance(joint, GaussianProfile):
        return joint.compose(rounds)
    return _run_of(joint, rounds)


def worst_delta(profiles: Iterable[PrivacyProfile], epsilon: float) -> float:
    """Return the largest delta of one upload at epsilon, a lower bound on the run's delta."""
    return max(float(_run_of(profile, 1).step_delta(epsilon).lower) for profile in profiles)


def _run_of(profile: PrivacyProfile, rounds: int) -> SampledRun:
    return SampledRun(step=profile, rate=1.0, steps=rounds, adjacency="replace")


def joint_profile(profiles: Sequence[PrivacyProfile | None]) -> PrivacyProfile | None:
    """Return the privacy profile of independent releases whose worst pairs occur together.

    It is known for Gaussian noise and for releases with equal profiles, and None otherwise.
    """
    if None in profiles:
        return None
    if all(isinstance(profile, GaussianProfile) for profile in profiles):
        return GaussianProfile(mu=math.hypot(*(profile.mu for profile in profiles)))
    first = profiles[0]
    if all(profile == first for profile in profiles):
        return first.compose(len(profiles))
    return None
