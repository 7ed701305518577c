"""The exact calibration of noise over many uses: one factor for all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from mechanisms import (
    AdditiveMechanism,
    Budget,
    Mechanism,
    Unsupported,
)


class Spending(Protocol):
    """The joint spending of all uses of some noise, such as a profile or a sampled run."""

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """The factor on the noise at which delta(epsilon) is delta; ValueError if there is none."""


def rescaled(
    published: Sequence[Mechanism], spending: Spending | None, total: Budget
) -> tuple[Mechanism, ...]:
    """The mechanisms with their noise multiplied by one factor, so that all uses spend `total`.

    Args:
        published: Mechanisms at the published calibration, each used any number of times.
        spending: The joint spending of those uses; None where it is not known exactly.

    Raises:
        Unsupported: A mechanism adds no noise, the exact total privacy loss is not known, or no
            factor reaches the budget.
    """
    if not all(isinstance(each, AdditiveMechanism) for each in published):
        raise Unsupported("adds no noise, so it has no exact calibration")
    for each in published:
        profile = each.profile_of_release()
        if profile is not None and profile.slack:
            raise Unsupported(f"has no exact calibration here: {profile.slack}")
    if spending is None:
        raise Unsupported("has no exact calibration: the exact total privacy loss is not known")
    try:
        factor = spending.scale_factor(total.epsilon, total.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact calibration here: {reason}") from None
    return tuple(
        replace(each, calibration="exact", noise=each.noise.scaled(factor)) for each in published
    )
