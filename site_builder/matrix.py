"""Every mechanism in a row: is it private, what does it waste, how far is it from the limit?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from site_builder.error_over_size import noise_by_size
from site_builder.run_folder import RunFolder

# Of the verdicts at the settings of the papers the first that there is.
_WORST = ("refuted", "undecided", "loose", "holds")
# From this size on the limit is tight, and found in a second.
LARGE = 10_000


@dataclass(frozen=True)
class Line:
    """A mechanism.

    Args:
        key: Of the mechanism.
        verdict: The worst on its published noise at the settings of the papers; "" without any.
        at: How many settings have that verdict, of how many.
        true_delta, claimed: Where it is refuted and the true delta is largest; NaN elsewhere.
        waste: The least and the largest variance over need; NaN where not known.
        over_limit: Root mean square noise over the limit, by calibration, see `over_limit`.
    """

    key: str
    verdict: str
    at: tuple[int, int]
    true_delta: float
    claimed: float
    waste: tuple[float, float]
    over_limit: dict[str, float]


@dataclass(frozen=True)
class Matrix:
    """The lines, and the size and budget that `over_limit` is for; size None without any."""

    lines: dict[str, Line]
    size: int | None
    budget: Budget | None
    limit: float


def matrix(run: RunFolder, settings: pd.DataFrame, mechanisms: Iterable[str]) -> Matrix:
    """The lines of these mechanisms, by key, with the verdicts of `SiteData.settings`."""
    noise = noise_by_size(run)
    size = budget = None
    least, ratios = math.nan, {}
    if noise is not None:
        size = max((each for each in noise["size"].unique() if each <= LARGE), default=None)
        at = noise[noise["size"] == size]
        budget = Budget(epsilon=float(at["epsilon"].iloc[0]), delta=float(at["delta"].iloc[0]))
        query = Query(shape=(int(size),), l2_sensitivity=1.0)
        least = limit(query, budget, fast=size >= LARGE).rmse or math.nan
        for row in at.itertuples():
            ratios.setdefault(row.mechanism, {})[row.calibration] = row.noise / least
    lines = {key: _line(key, settings, ratios.get(key, {})) for key in mechanisms}
    return Matrix(lines, size, budget, least)


def _line(key: str, settings: pd.DataFrame, over_limit: dict[str, float]) -> Line:
    own = settings[settings["mechanism"] == key]
    counts = Counter(own["verdict"])
    verdict = next((each for each in _WORST if counts[each]), "")
    false = own[own["verdict"] == "refuted"].sort_values("true_delta", ascending=False)
    worst = false.iloc[0] if len(false) else {"true_delta": math.nan, "claimed": math.nan}
    return Line(
        key=key,
        verdict=verdict,
        at=(counts[verdict], len(own)),
        true_delta=worst["true_delta"],
        claimed=worst["claimed"],
        waste=(own["wasted_variance"].min(), own["wasted_variance"].max()),
        over_limit=over_limit,
    )
