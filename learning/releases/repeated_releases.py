"""Repeated uses of a mechanism on one person's data, and what they spend together."""

from __future__ import annotations

import math
from collections.abc import Iterator

from learning.releases.joint_calibration import rescaled
from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
    Query,
)
from studies.base.study import Value, Variant


def calibrate_each_release(
    variant: Variant, query: Query, budget: Budget, releases: int, calibration: str, **options
) -> Mechanism:
    """The mechanism of every release.

    As published, each release gets the whole budget, as in tldp2025. At the exact calibration the
    noise is rescaled until the true delta of all releases together, at the budget's epsilon, is the
    budget's.

    Args:
        releases: Number of releases of one person's data, at least 1.
        **options: Options of the mechanism; those of the variant take precedence.

    Raises:
        Unsupported: As `Mechanism.calibrate` does; or there is no exact calibration, because the
            mechanism adds no noise, its profile is not exactly known, or no scale reaches the
            budget.
    """
    published = variant.calibrate(query, budget, "published", **(options | variant.options))
    if calibration == "published":
        return published
    profile = published.profile()
    together = None if profile is None else profile.compose(releases)
    return rescaled([published], together, budget)[0]


def spent_by_releases(mechanism: Mechanism, releases: int) -> Iterator[Value]:
    """The size of one release's noise, and the true delta and epsilon of all releases together."""
    if isinstance(mechanism, AdditiveMechanism):
        size = mechanism.query.size
        yield Value("noise_deviation", math.sqrt(mechanism.expected_loss() / size))
    profile = mechanism.profile()
    if profile is None:
        return
    total = profile.compose(releases)
    delta, epsilon = total.delta(mechanism.budget.epsilon), total.epsilon(mechanism.budget.delta)
    if mechanism.slack() is None:
        yield Value("true_delta_lower", delta.lower)
    yield Value("true_delta_upper", delta.upper)
    if math.isfinite(epsilon.upper):
        yield Value("true_epsilon_upper", epsilon.upper)
