"""Moments and tails of the loss L, r1smg2024 Theorems 8 and 9 and Remark 2: table and verdicts.

The table reads noise_only. The claims are judged in closed form, at sizes that a run may not have.
"""

import math
from dataclasses import replace
from operator import attrgetter
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, listed, ok_rows, required
from claims.judges import Positive, judge
from claims.verdicts import Finding, Part
from mechanisms import Budget
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.r1smg2024.noise_only import FAMILY
from paper_figures.r1smg2024.numbers import setting
from paper_figures.selections import size_of
from paper_figures.style import in_order
from runs.results import Results
from studies.noise_only import family_query

# The shape of the distribution of L does not depend on the scale of the noise: any budget will do.
BUDGET = Budget(epsilon=1e-5, delta=1e-7)


@drawing("r1smg2024_stability", kind="tables", needs=["noise_only/fixed-sensitivity"])
def stability_table(results: Results) -> Drawn:
    """Theorems 8 and 9 and what they are read to mean: kurtosis, skewness and tails of L."""
    titles = {
        ("raw_kurtosis", None): "E[L^4]/E[L^2]^2",
        ("raw_skewness", None): "E[L^3]/E[L^2]^1.5",
        ("central_kurtosis", None): "kurtosis (central)",
        ("central_skewness", None): "skewness (central)",
        ("tail_exact", 2): "P(L > 2 E L)",
        ("tail_exact", 5): "P(L > 5 E L)",
        ("tail_sampled", 5): "P(L > 5 E L), sampled",
        ("sampled_trials", None): "draws",
    }
    rows = pd.concat(
        _at_factor(ok_rows(results.rows, "noise_only", metric, FAMILY), factor).assign(title=title)
        for (metric, factor), title in titles.items()
    )
    rows = required(
        rows[rows["calibration"] == "published"],
        DrawingError(f"the results hold no moments of noise_only/{FAMILY}"),
    )
    # The shape of the distribution of L does not depend on the scale: one epsilon is enough.
    rows = rows[rows["epsilon"] == rows["epsilon"].max()]
    table = rows.pivot_table(index=["mechanism", "shape"], columns="title", values="value")
    table = table.reset_index().assign(M=lambda t: t["shape"].map(size_of))
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["M", "order"])
    present = [title for title in titles.values() if title in table]
    caption = (
        "r1smg2024 Theorems 8 and 9 and Remark 2: moments of L = ||noise||^2 about zero, which the "
        "paper calls kurtosis and skewness, moments about the mean, and the probability of a large "
        "loss, in closed form, with one sampled tail beside them. No data; noise as published."
    )
    note = "Rescaling the noise changes none of these numbers."
    return Drawn(caption, table[["mechanism", "M", *present]], note=note)


def _at_factor(rows: pd.DataFrame, factor: float | None) -> pd.DataFrame:
    return rows if factor is None else rows[rows["factor"] == factor]


def noise_of(key: str, side: int, **options) -> Noise:
    """Noise of a mechanism for a side x side query of l2 sensitivity 1."""
    return calibrated(key, family_query(FAMILY, (side, side)), BUDGET, **options).noise


@judge
def raw_moment(
    *,
    moment: Literal["raw_kurtosis", "raw_skewness"],
    stated: float,
    sides: list[int],
    tolerance: float,
) -> Finding:
    """Theorems 8 and 9: a moment of L about zero, R1SMG's and the others'."""
    ours = getattr(noise_of("r1smg", sides[-1]).loss(), moment)
    others = [getattr(loss, moment) for side in sides for loss in _full_rank(side)]
    return Finding(
        parts=(
            number("R1SMG", ours, stated, tolerance),
            statement("larger than the others',", max(others) < ours, f"at most {max(others):.5g}"),
        ),
        detail=(
            "Closed forms, moments about zero as the paper defines them; classic and analytic "
            "Gaussian (one shape of L) and MVG with equal and with uneven precision, at M = "
            f"{listed(str(side**2) for side in sides)}."
        ),
        calibration="published",
    )


def _full_rank(side: int) -> list[LossMoments]:
    """Moments of L of i.i.d. noise, and of MVG with equal and with uneven precision."""
    uneven = 1.0 / np.arange(1, side + 1) ** 2
    return [
        noise_of("gaussian", side).loss(),
        noise_of("mvg", side).loss(),
        noise_of("mvg", side, precision=uneven / uneven.sum()).loss(),
    ]


@judge
def full_rank_moments(*, sides: list[int], tolerance: float) -> Finding:
    """Remark 2: 3 + 12/M and sqrt(8/M), and R1SMG's larger moments beside them.

    The remark gives a normal variable 3 and 0, which are moments about the mean; Section 6 defines
    moments about zero.
    """
    sizes = [side**2 for side in sides]
    losses = [noise_of("gaussian", side).loss() for side in sides]
    stated = [(3 + 12 / size, math.sqrt(8 / size)) for size in sizes]
    # About the mean the values are exact at every M; about zero they would have to be limits.
    readings = {
        "about the mean:": (
            attrgetter("central_kurtosis", "central_skewness"),
            range(len(sizes)),
        ),
        "as Section 6 defines it:": (
            attrgetter("raw_kurtosis", "raw_skewness"),
            [-1],
        ),
    }
    parts = [
        replace(part, name=f"{part.name}, {which}")
        for which, (moments, judged) in readings.items()
        for part in _moment_parts(
            [moments(losses[i]) for i in judged],
            [stated[i] for i in judged],
            moments(noise_of("r1smg", sides[-1]).loss()),
            tolerance,
        )
    ]
    return Finding(
        parts=parts,
        detail=(
            f"Closed forms for i.i.d. Gaussian noise at M = {listed(map(str, sizes))}; shown at "
            "the largest. With MVG's uneven covariances there would be fewer degrees of freedom."
        ),
        calibration="published",
    )


def _moment_parts(
    ours: list[tuple[float, float]],
    stated: list[tuple[float, float]],
    rank_one: tuple[float, float],
    tolerance: float,
) -> tuple[Part, ...]:
    """Kurtosis and skewness of i.i.d. noise as stated at every size, and R1SMG's larger ones."""
    parts = []
    for i, name in enumerate(("kurtosis", "skewness")):
        agree = [
            math.isclose(o[i], s[i], rel_tol=tolerance) for o, s in zip(ours, stated, strict=True)
        ]
        parts.append(universal(name, agree, f"{ours[-1][i]:.5g} (stated {stated[-1][i]:.5g})"))
    larger = all(theirs < own for both in ours for theirs, own in zip(both, rank_one, strict=True))
    found = listed(f"{value:.4g}" for value in rank_one)
    return (*parts, statement("R1SMG's larger", larger, found))


@judge
def stability(*, sides: list[int], factors: list[Positive]) -> Finding:
    """P(L > k E L), exactly, of R1SMG and of i.i.d. Gaussian noise."""
    times = np.array(factors)
    rank_one = _tails("r1smg", sides[0], times)
    others = np.array([_tails("gaussian", side, times) for side in sides])
    # The same at the paper's budgets of the count query, where R1SMG's mean is the smaller one.
    others_at, ours_at = (setting(f"r1smg2024-count-{e}") for e in ("0.5", "1e-05"))
    classic = calibrated("gaussian", others_at.query, others_at.budget)
    mean = classic.expected_loss()
    rank_one_noise = calibrated("r1smg", ours_at.query, ours_at.budget).noise
    largest = others.max(axis=0)
    relative = tuple(
        statement(
            f"P(L > {k:g} E L) smaller:",
            bool(ours < theirs),
            f"R1SMG {rounded_down(ours)}, i.i.d. Gaussian at most {rounded_up(theirs, 2)}",
        )
        for k, ours, theirs in zip(factors, rank_one, largest, strict=True)
    )
    above, theirs_above = (
        [float(noise.squared_norm_survival(mean * times)) for times in (1, 2)]
        for noise in (rank_one_noise, classic.noise)
    )
    absolute = tuple(
        statement(
            f"{words} the classic Gaussian's mean less often:",
            ours < theirs,
            f"R1SMG {ours:.2g}, classic Gaussian {_probability(theirs)}",
        )
        for words, ours, theirs in zip(("above", "above twice"), above, theirs_above, strict=True)
    )
    return Finding(
        parts=(*relative, *absolute),
        detail=(
            "Exact survival functions of chi-squared distributions, at M = "
            f"{listed(str(side**2) for side in sides)}; in absolute terms at the claimed "
            "budgets of the count query."
        ),
        calibration="published",
    )


def _probability(value: float) -> str:
    """A probability as text; one that no float holds is below the smallest normal float."""
    return f"{value:.2g}" if value > 1e-307 else "below 1e-307"


def _tails(key: str, side: int, factors: np.ndarray) -> np.ndarray:
    noise = noise_of(key, side)
    return noise.squared_norm_survival(factors * noise.loss().mean)
