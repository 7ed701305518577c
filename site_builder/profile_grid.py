"""The true delta of a mechanism as published, over the number of elements and epsilon.

The query is that of the study `guarantee` on its data set "grid": l2 sensitivity 1, adjacency
local, every element in [0, 1/sqrt(M)] and free to change within that range.
"""

import math
import warnings
from dataclasses import dataclass

from mechanisms import Budget, Mechanism, OutOfRangeWarning, Unsupported
from mechanisms.privacy.profile import Bounds, PrivacyProfile
from mechanisms.verification.verification import TOLERANCE, claimed_delta
from studies.guarantee import grid_query

SHAPES = ((3, 1), (2, 2), (3, 3), (4, 4), (8, 8), (32, 32), (100, 100), (1000, 1000))
EPSILONS = (0.001, 0.01, 0.1, 1.0, 10.0)
DELTA = 1e-5
# Its noise is searched for at every point, which takes seconds; its delta is the claimed one.
NOT_COMPUTED = frozenset({"spherical-gamma"})


@dataclass(frozen=True)
class GridCell:
    """The claim and the truth at one size and epsilon.

    Args:
        size: M, the number of elements.
        epsilon: Of the claim.
        delta: True delta at that epsilon, with bounds; None where the mechanism is unsupported.
        claimed: Delta that is claimed.
        in_range: Whether the theorem is stated for this budget.
        is_bound: Whether the profile is an upper bound only.
    """

    size: int
    epsilon: float
    delta: Bounds | None
    claimed: float
    in_range: bool
    is_bound: bool

    @property
    def verdict(self) -> str:
        """ "true", "false", "undecided" or "unsupported"."""
        if self.delta is None:
            return "unsupported"
        if self.delta.upper <= self.claimed * (1 + TOLERANCE):
            return "true"
        if self.is_bound or self.delta.lower <= self.claimed * (1 + TOLERANCE):
            return "undecided"
        return "false"

    @property
    def excess(self) -> float:
        """log10 of the true over the claimed delta, infinite where delta 0 is claimed."""
        if self.verdict != "false":
            return 0.0
        return math.log10(self.delta.value / self.claimed) if self.claimed else math.inf


def profile_grid(cls: type[Mechanism]) -> list[list[GridCell]]:
    """One row per epsilon, one cell per size; empty where there is nothing to compute."""
    if cls.guarantee == "none" or cls.key in NOT_COMPUTED:
        return []
    rows = [[_cell(cls, shape, epsilon) for shape in SHAPES] for epsilon in EPSILONS]
    known = any(cell.delta is not None for row in rows for cell in row)
    return rows if known else []


def _cell(cls: type[Mechanism], shape: tuple[int, ...], epsilon: float) -> GridCell:
    query, budget = grid_query(shape), Budget(epsilon=epsilon, delta=DELTA)
    delta, claimed, is_bound = None, 0.0, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutOfRangeWarning)
            mechanism = cls.calibrate(query, budget)
        profile = mechanism.profile()
        if profile is not None:
            delta = _delta(profile, epsilon)
            claimed, is_bound = claimed_delta(mechanism), mechanism.slack() is not None
    except Unsupported:
        pass
    in_range = cls.limit(query, budget) is None
    return GridCell(query.size, epsilon, delta, claimed, in_range, is_bound)


def _delta(profile: PrivacyProfile, epsilon: float) -> Bounds:
    # A loss that never exceeds epsilon has delta 0; the integral that says so takes longer.
    if profile.largest_loss <= epsilon * (1 + TOLERANCE):
        return Bounds(0.0, 0.0, 0.0)
    return profile.delta(epsilon)
