"""The table of mechanisms: whether each is private, what it wastes, and how far the limit is."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from mechanisms.verification.standing import Standing
from mechanisms.verification.verification import REFUTED, UNDECIDED

# The largest number of elements to show. From this one on, the fast bound on the limit is tight.
LARGE = 10_000


@dataclass(frozen=True)
class Line:
    """A row of the table: one mechanism.

    Args:
        private: Whether the published claim is true at the papers' settings in the range of the
            theorem: "no" if it is false at one of them, else "unknown" if it is undecided at one,
            else "yes"; "" if there are no such settings.
        at: The number of the settings that show it, such as "at 10 of 11".
        true_delta, claimed: The largest true delta at the settings with a false claim, and the
            claimed delta there. If only bounds on a true delta are known, the lower bound counts.
            Both are NaN if no true delta is above 0.
        waste: The least and the largest `wasted_variance` over all settings of the papers, within
            the theorem's range or not; NaN if unknown.
        over_limit: The root mean square noise of an element over the limit, by calibration.
    """

    private: str
    at: str
    true_delta: float
    claimed: float
    waste: tuple[float, float]
    over_limit: dict[str, float]


@dataclass(frozen=True)
class Matrix:
    """The table.

    Args:
        lines: The rows by mechanism.
        size, budget: The number of elements and the budget of `Line.over_limit`; None if the run
            has no noise of at most LARGE elements.
        limit: The limit for them: the least root mean square error of an element; NaN if unknown.
    """

    lines: dict[str, Line]
    size: int | None
    budget: Budget | None
    limit: float


def matrix(
    noise: pd.DataFrame,
    settings: pd.DataFrame,
    standings: Mapping[str, Standing],
    mechanisms: Iterable[str],
) -> Matrix:
    """Make the table.

    Args:
        noise, settings, standings: The properties of `SiteData` of these names.
        mechanisms: The keys of the mechanisms.
    """
    size = max((each for each in noise["size"].unique() if each <= LARGE), default=None)
    budget, least, ratios = None, math.nan, {}
    if size is not None:
        at = noise[noise["size"] == size]
        budget = Budget(epsilon=float(at["epsilon"].iloc[0]), delta=float(at["delta"].iloc[0]))
        query = Query(shape=(int(size),), l2_sensitivity=1.0)
        least = limit(query, budget, fast=size >= LARGE).rmse or math.nan
        for row in at.itertuples():
            ratios.setdefault(row.mechanism, {})[row.calibration] = row.noise / least
    lines = {
        key: _line(settings[settings["mechanism"] == key], standings.get(key), ratios.get(key, {}))
        for key in mechanisms
    }
    return Matrix(lines, size, budget, least)


def _line(own: pd.DataFrame, standing: Standing | None, over_limit: dict[str, float]) -> Line:
    private, at = "", ""
    if standing is not None:
        private = {REFUTED: "no", UNDECIDED: "unknown"}.get(standing.verdict, "yes")
        found = standing.judged if private == "yes" else standing.settings
        at = f"at {found} of {standing.judged}"
    false = own[(own["outside"] == "") & (own["verdict"] == REFUTED)]
    # If only bounds on a true delta are known, the lower one refutes the claim.
    deltas = false[["true_delta", "true_delta_lower"]].min(axis=1)
    worst = deltas[deltas > 0].nlargest(1)
    return Line(
        private=private,
        at=at,
        true_delta=worst.max(),
        claimed=false["claimed"][worst.index].max(),
        waste=(own["wasted_variance"].min(), own["wasted_variance"].max()),
        over_limit=over_limit,
    )
