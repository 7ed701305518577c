"""The table of mechanisms: whether each is private, what it wastes, how far the limit is."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from mechanisms.verification.standing import SETTINGS, standing_by
from mechanisms.verification.verification import REFUTED, UNDECIDED
from site_builder.error_over_size import noise_by_size
from site_builder.run_folder import RunFolder

# The largest size to show. From this size on, the fast bound on the limit is tight.
LARGE = 10_000


@dataclass(frozen=True)
class Line:
    """A row of the table: one mechanism.

    Args:
        key: The key of the mechanism.
        private: Whether its published claim is true at the papers' settings in the range of its
            theorem: "no" if it is false at one, else "unknown" if one is undecided, else "yes"; ""
            without any setting.
        at: At how many of these settings that was found, such as "at 10 of 11".
        told: The same text as the end of a sentence.
        true_delta, claimed: The largest true delta at a setting with a false claim, or its lower
            bound where only bounds are known, and the claimed delta there; NaN without a positive
            one.
        waste: The least and the largest `wasted_variance` over all settings of the papers, those
            outside the theorem's range included; NaN if unknown.
        over_limit: The root mean square noise of an element over the limit, by calibration.
    """

    key: str
    private: str
    at: str
    told: str
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
            has no such noise.
        limit: The limit there: the least root mean square error of an element; NaN if unknown.
    """

    lines: dict[str, Line]
    size: int | None
    budget: Budget | None
    limit: float


def matrix(run: RunFolder, settings: pd.DataFrame, mechanisms: Iterable[str]) -> Matrix:
    """Make the table of these mechanisms.

    Args:
        settings: The verdicts of `SiteData.settings`.
    """
    noise = noise_by_size(run)
    sizes = [] if noise is None else [each for each in noise["size"].unique() if each <= LARGE]
    size, budget = max(sizes, default=None), None
    least, ratios = math.nan, {}
    if size is not None:
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
    covered = own[own["outside"] == ""]
    private, at, told = _standing(covered["verdict"])
    false = covered[covered["verdict"] == REFUTED]
    # Where bounds are known, the lower one refutes the claim.
    deltas = false[["true_delta", "true_delta_lower"]].min(axis=1)
    deltas = deltas[deltas > 0]
    worst = deltas.idxmax() if len(deltas) else None
    return Line(
        key=key,
        private=private,
        at=at,
        told=told,
        true_delta=math.nan if worst is None else deltas[worst],
        claimed=math.nan if worst is None else own.loc[worst, "claimed"],
        waste=(own["wasted_variance"].min(), own["wasted_variance"].max()),
        over_limit=over_limit,
    )


def _standing(verdicts: pd.Series) -> tuple[str, str, str]:
    """Return `private`, `at` and `told` of `Line`."""
    if verdicts.empty:
        return "", "", ""
    standing = standing_by(verdicts)
    private = {REFUTED: "no", UNDECIDED: "unknown"}.get(standing.verdict, "yes")
    found = standing.judged if private == "yes" else standing.settings
    at = f"at {found} of {standing.judged}"
    return private, at, f"{at} {SETTINGS}"
