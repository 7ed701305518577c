"""A profile as a privacy-loss distribution of dp-accounting, which composes it with others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.privacy.composition import nodes_up_to, symmetric_cells, top_loss
from mechanisms.privacy.profile import check_positive

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from mechanisms.privacy.profile import PrivacyProfile

# Losses are cut off where delta falls to this value: a pessimistic distribution moves their mass to
# infinity, an optimistic one to the last loss.
CUT = 1e-15
# The most points of the grid on either side of zero: 16 MiB of masses.
_LARGEST_GRID = 1 << 20
# The most losses at which a profile is evaluated: some profiles take a millisecond for each.
_NODES = 2048


def loss_distribution(
    profile: PrivacyProfile, *, pessimistic: bool, interval: float
) -> PrivacyLossDistribution:
    """Return the discretised loss of the pair, see `PrivacyProfile.to_dp_accounting`."""
    # dp_accounting takes a second to load.
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    check_positive("interval", interval)
    if not profile.symmetric and not pessimistic:
        raise ValueError(
            f"{type(profile).__name__} has two directions of different loss and no optimistic "
            "distribution that covers both; ask for the pessimistic one"
        )
    if profile.slack is not None and not pessimistic:
        raise ValueError(
            f"only bounds of this {type(profile).__name__} are known ({profile.slack}), and the "
            "upper one has no optimistic distribution; ask for the pessimistic one"
        )
    nodes = nodes_up_to(_grid_size(profile, interval), _NODES)
    epsilon = interval * nodes
    delta = profile.delta(epsilon)
    if pessimistic:
        upper = np.where(epsilon >= profile.largest_loss, 0.0, delta.upper)
        # An upper bound of delta(-epsilon) in both directions.
        mirrored = 1 - np.exp(-epsilon) * (1 - upper)
        masses = pld_pmf.create_pmf_pessimistic_connect_dots(
            interval,
            np.r_[-nodes[:0:-1], nodes],
            np.minimum.accumulate(np.r_[mirrored[:0:-1], upper]),
        )
        return privacy_loss_distribution.PrivacyLossDistribution(masses)
    better = symmetric_cells(profile, nodes, delta.value, interval)
    return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(better.places.tolist(), better.masses.tolist(), strict=True)),
        0.0,
        interval,
        pessimistic_estimate=False,
    )


def _grid_size(profile: PrivacyProfile, interval: float) -> int:
    """Return the number of intervals up to the cut-off loss, or raise ValueError if too large."""
    top = top_loss(profile, CUT)
    size = max(1, math.ceil(top / interval))
    if size > _LARGEST_GRID:
        raise ValueError(
            f"the loss reaches {top:.4g}: interval must be at least {top / _LARGEST_GRID:.2g}, got "
            f"{interval:g}"
        )
    return size
