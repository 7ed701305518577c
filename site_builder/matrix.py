"""Every mechanism in a row: is it private, what does it waste, how far is it from the limit?"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from mechanisms.verification.verification import REFUTED, UNDECIDED
from site_builder.error_over_size import noise_by_size
from site_builder.run_folder import RunFolder

# From this size on the limit is tight, and found in a second.
LARGE = 10_000


@dataclass(frozen=True)
class Line:
    """A mechanism.

    Args:
        key: Of the mechanism.
        private: Whether its published claim is true at the settings of the papers: "no" where it
            is false at one, "unknown" where one is undecided, else "yes"; "" without any.
        at: At how many settings that was found, of how many; in words, inside and outside the range
            of its theorem.
        told: The same in a sentence.
        true_delta, claimed: Where it is false and the true delta is largest, of the settings in the
            range of its theorem if it is false at one of them; NaN where it is true.
        waste: The least and the largest variance over need; NaN where not known.
        over_limit: Root mean square noise over the limit, by calibration, see `over_limit`.
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
    """The lines, and the size and budget that `over_limit` is for; size None without any."""

    lines: dict[str, Line]
    size: int | None
    budget: Budget | None
    limit: float


def matrix(run: RunFolder, settings: pd.DataFrame, mechanisms: Iterable[str]) -> Matrix:
    """The lines of these mechanisms, by key, with the verdicts of `SiteData.settings`."""
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
    false, unknown = (own[own["verdict"] == verdict] for verdict in (REFUTED, UNDECIDED))
    covered = false[false["outside"] == ""]
    # Where only bounds are known, the lower one refutes.
    deltas = (false if covered.empty else covered)[["true_delta", "true_delta_lower"]].max(axis=1)
    deltas = deltas[deltas > 0]
    worst = deltas.idxmax() if len(deltas) else None
    if len(false):
        private, found = "no", false
    elif len(unknown):
        private, found = "unknown", unknown
    else:
        private, found = "yes" if len(own) else "", own
    return Line(
        key=key,
        private=private,
        at=_at(found, own),
        told=_told(found, own),
        true_delta=math.nan if worst is None else deltas[worst],
        claimed=math.nan if worst is None else own.loc[worst, "claimed"],
        waste=(own["wasted_variance"].min(), own["wasted_variance"].max()),
        over_limit=over_limit,
    )


def _at(found: pd.DataFrame, own: pd.DataFrame) -> str:
    """At how many of a mechanism's settings something was found, for a cell of a table."""
    return "at " + _counted(found, own, "")


def _told(found: pd.DataFrame, own: pd.DataFrame) -> str:
    """The same as the end of a sentence."""
    if len(own) == 1 and own["outside"].eq("").all():
        return "at the one setting of the papers"
    return "at " + _counted(found, own, " settings of the papers")


def _counted(found: pd.DataFrame, own: pd.DataFrame, settings: str) -> str:
    if own["outside"].eq("").all():
        return f"{len(found)} of {len(own)}{settings}"
    inside, outside = (
        f"{check(found['outside']).sum()} of {check(own['outside']).sum()}"
        for check in (lambda why: why.eq(""), lambda why: why.ne(""))
    )
    return f"{inside}{settings} inside the range of its theorem, {outside} outside"
