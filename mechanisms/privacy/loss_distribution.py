"""A profile as a privacy-loss distribution of dp-accounting, which composes it with others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.privacy.profile import check_positive

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    from mechanisms.privacy.profile import PrivacyProfile

# delta beyond which the loss is cut off: infinite in a pessimistic, absent in an optimistic one.
CUT = 1e-15
# Points of the grid on either side of zero: 16 MiB of masses.
_LARGEST_GRID = 1 << 20
# Losses at which a profile is evaluated: some take a millisecond each.
_NODES = 2048


def loss_distribution(
    profile: PrivacyProfile, *, pessimistic: bool, interval: float
) -> PrivacyLossDistribution:
    """The discretised loss of the pair of `profile`, see `PrivacyProfile.to_dp_accounting`."""
    # dp_accounting takes a second to load.
    from dp_accounting.pld import pld_pmf, privacy_loss_distribution

    check_positive("interval", interval)
    if not profile.symmetric and not pessimistic:
        raise ValueError(
            f"{type(profile).__name__} has two directions of different loss and no optimistic "
            "distribution that covers both; ask for the pessimistic one"
        )
    size = _grid_size(profile, interval)
    nodes = _nodes(size)
    epsilon = interval * nodes
    delta = profile.delta(epsilon)
    if pessimistic:
        upper = np.where(epsilon >= profile.largest_loss, 0.0, delta.upper)
        # delta(-epsilon) of the worse direction.
        mirrored = 1 - np.exp(-epsilon) * (1 - upper)
        masses = pld_pmf.create_pmf_pessimistic_connect_dots(
            interval,
            np.r_[-nodes[:0:-1], nodes],
            np.minimum.accumulate(np.r_[mirrored[:0:-1], upper]),
        )
        return privacy_loss_distribution.PrivacyLossDistribution(masses)
    places, masses = _merged_cells(epsilon, delta.value, profile.survival(epsilon), interval)
    return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
        dict(zip(places.tolist(), masses.tolist(), strict=True)),
        0.0,
        interval,
        pessimistic_estimate=False,
    )


def _merged_cells(
    epsilon: np.ndarray, delta: np.ndarray, survival: np.ndarray, interval: float
) -> tuple[np.ndarray, np.ndarray]:
    """A better pair: outputs whose losses lie between two nodes become one, with a loss that is
    rounded down. Multiples of the interval, and their masses under P."""
    # Q(L > epsilon), and by symmetry P(L < -epsilon).
    other = np.exp(-epsilon) * np.maximum(survival - delta, 0.0)
    mass_p = np.maximum(-np.diff(survival, append=0.0), 0.0)
    mass_q = np.maximum(-np.diff(other, append=0.0), 0.0)
    seen = (mass_p > 0) & (mass_q > 0)
    mass_p, mass_q, lower = mass_p[seen], mass_q[seen], epsilon[seen]
    losses = np.maximum(np.log(mass_p / mass_q), lower)
    # The remaining mass has loss zero.
    zero = max(1 - survival[0] - other[0], 0.0)
    places = np.floor(np.r_[-losses, 0.0, losses] / interval).astype(int)
    masses = np.r_[mass_q, zero, mass_p]
    first = places.min()
    summed = np.bincount(places - first, masses)
    return first + np.flatnonzero(summed), summed[summed > 0]


def _nodes(size: int) -> np.ndarray:
    """Where the profile is evaluated, from 0 to `size`: half of them even, half geometric."""
    even = np.linspace(0, size, _NODES // 2)
    return np.unique(np.round(np.r_[even, np.geomspace(1, size, _NODES // 2)]).astype(int))


def _grid_size(profile: PrivacyProfile, interval: float) -> int:
    """Intervals from zero up to the loss that is cut off."""
    largest = profile.largest_loss
    top = float(profile.epsilon(CUT).upper)
    # A largest loss that close may be an atom, which has to lie within the grid.
    top = float(largest) if top > 0.999 * largest else top
    if not math.isfinite(top):
        raise ValueError(f"the loss is infinite with a probability above {CUT:g}")
    size = max(1, math.ceil(top / interval))
    if size > _LARGEST_GRID:
        raise ValueError(
            f"the loss reaches {top:.4g}: interval must be at least {top / _LARGEST_GRID:.2g}, got "
            f"{interval:g}"
        )
    return size
