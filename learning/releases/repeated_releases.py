"""Repeated uses of a mechanism on one person's data, and what they spend together."""

import math

from learning.releases.joint_calibration import rescaled
from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
)


def rescaled_for_all(published: Mechanism, budget: Budget, releases: int) -> Mechanism:
    """The mechanism of every release, rescaled so that all together have the budget's true delta.

    Args:
        published: Each release has the whole budget, as in tldp2025.
        releases: Number of releases of one person's data, at least 1.

    Raises:
        Unsupported: There is no exact calibration, because the mechanism adds no noise, its profile
            is not exactly known, or no scale reaches the budget.
    """
    profile = published.profile()
    together = None if profile is None else profile.compose(releases)
    return rescaled([published], together, budget)[0]


def spent_by_releases(mechanism: Mechanism, releases: int) -> dict[str, float]:
    """The size of one release's noise, and the true delta and epsilon of all releases together.

    Keyed by name; a number that is unknown or not finite is absent.
    """
    found = {}
    if isinstance(mechanism, AdditiveMechanism):
        size = mechanism.query.size
        found["noise_deviation"] = math.sqrt(mechanism.expected_loss() / size)
    profile = mechanism.profile()
    if profile is None:
        return found
    total = profile.compose(releases)
    delta, epsilon = total.delta(mechanism.budget.epsilon), total.epsilon(mechanism.budget.delta)
    if profile.slack is None:
        found["true_delta_lower"] = delta.lower
    found["true_delta_upper"] = delta.upper
    if math.isfinite(epsilon.upper):
        found["true_epsilon_upper"] = epsilon.upper
    return found
