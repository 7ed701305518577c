"""Noise without data, r1smg2024 Section 6: expected loss over M (Figure 9), and the loss's shape.

Figure 9, its verdict and the table of Theorems 8 and 9 read the study noise_only. The claims about
moments and tails (Theorems 8 and 9, Remark 2) are judged in closed form, at sizes that a run may
lack.
"""

import itertools
import math
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, listed, listed_numbers, ok_rows, required, select
from claims.judges import CannotJudge, Positive, judge
from claims.verdicts import Finding, Sizes
from mechanisms import Budget
from mechanisms.noise.distribution import Noise
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.power_law import power
from paper_figures.selections import size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    PAGE,
    add_own_mechanisms,
    legend_order,
    look,
    mechanism_title,
)
from papers.r1smg2024 import GROWTH_DELTA, GROWTH_EPSILONS, setting
from runs.result_table import OK
from runs.results import Results
from studies.noise_only import family_query

FAMILY = "fixed-sensitivity"
# The mechanisms of Figure 9.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic")
# Mechanisms and calibrations whose noise is the published analytic Gaussian's: one curve shows it.
COINCIDING = (("gaussian", "exact"), ("gaussian-analytic", "exact"))


def expected_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the expected losses E L of Figure 9's mechanisms, by ascending M (column `size`)."""
    found = ok_rows(rows, "noise_only", "expected_loss", FAMILY)
    found = found[
        found["mechanism"].isin(add_own_mechanisms(COMPARED, found["mechanism"].unique()))
    ]
    return found.assign(size=found["shape"].map(size_of)).sort_values("size", kind="stable")


@drawing("r1smg2024_fig9", kind="figures", needs=["noise_only/fixed-sensitivity"])
def figure_9(results: Results) -> Drawn:
    """Draw the expected loss over M at both calibrations, a column per epsilon."""
    rows = required(
        expected_losses(results.rows),
        DrawingError(f"Figure 9 needs one of {', '.join(COMPARED)} in noise_only"),
    )
    epsilons = sorted(rows["epsilon"].unique(), reverse=True)
    figure, axes = plt.subplots(2, len(epsilons), figsize=(PAGE, 4.2), sharex=True, squeeze=False)
    for column, epsilon in zip(axes.T, epsilons, strict=True):
        panel = select(rows, epsilon=epsilon)
        for mechanism, calibration in itertools.product(
            legend_order(panel["mechanism"]), CALIBRATION_LINES
        ):
            line = select(panel, mechanism=mechanism, calibration=calibration)
            kind = look(mechanism).at(calibration)
            if mechanism == "gaussian-analytic":
                kind["label"] += ", and both Gaussians at equal true privacy"
            alone = (mechanism, calibration) == ("r1smg", "published")
            if not line.empty and (mechanism, calibration) not in COINCIDING:
                for axis in column if alone else column[:1]:
                    axis.plot(line["size"], line["value"], **kind)
        column[1].axhline(
            2 / epsilon,
            color="black",
            linestyle=":",
            label="paper, limit of R1SMG: 2 / epsilon",
        )
        column[0].set(yscale="log", title=f"epsilon = {epsilon:g}")
        column[1].set(xscale="log", xlabel="number of elements M", ylim=(0, None))
    axes[0, 0].set_ylabel("E L")
    axes[1, 0].set_ylabel("E L of R1SMG, as published")
    entries = entries_of(axes[:, 0])
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=2)
    return Drawn(
        caption=(
            "r1smg2024 Figure 9: expected accuracy loss E L = E||noise||^2 in closed form over the "
            f"number of elements M, l2 sensitivity 1, delta {rows['delta'].iloc[0]:g}. Solid: as "
            "published; dashed: rescaled until the true delta at epsilon is the budget's. Below: "
            "R1SMG as published on a linear axis, with the limit 2/epsilon that the paper gives."
        ),
        data=rows[["mechanism", "calibration", "epsilon", "delta", "size", "value"]],
        figure=figure,
        note=(
            "At equal true privacy the classic and the analytic Gaussian are the same noise, which "
            "is that of the analytic Gaussian as published: these three curves coincide. There are "
            "no data, and so no random answer; without privacy L is zero, which a logarithmic axis "
            "cannot show."
        ),
    )


@judge(studies=("noise_only",))
def loss_growth(
    results: Results, *, sizes: tuple[int, int], linear: list[str], tolerance: float
) -> Finding:
    """Judge Figure 9: the Gaussians' loss grows linearly, and R1SMG's falls to 2/epsilon."""
    rows = select(expected_losses(results.rows), calibration="published")
    rows = rows[np.isclose(rows["delta"], GROWTH_DELTA, rtol=1e-9, atol=0)]
    curves = {
        key: [_curve(rows, key, epsilon, sizes) for epsilon in GROWTH_EPSILONS]
        for key in (*linear, "r1smg")
    }
    slopes = {
        key: max(power(curve.iloc[[0, -1]].to_list(), sizes) for curve in curves[key])
        for key in linear
    }
    ours = curves["r1smg"]
    falls = all(np.all(np.diff(curve) < 0) for curve in ours)
    limits = [
        curve.iloc[-1] * epsilon / 2 for curve, epsilon in zip(ours, GROWTH_EPSILONS, strict=True)
    ]
    return Finding(
        parts=[
            *(
                number(f"{mechanism_title(key)}'s power of M", largest, 1.0, tolerance)
                for key, largest in slopes.items()
            ),
            statement("R1SMG's loss falls with M", falls),
            number("R1SMG's limit over 2/epsilon", max(limits), 1.0, tolerance),
        ],
        detail=(
            f"Closed-form E L, l2 sensitivity 1, delta {GROWTH_DELTA:g}, epsilon "
            f"{listed_numbers(GROWTH_EPSILONS)}, {len(ours[0])} sizes M from "
            f"{sizes[0]} to {sizes[1]}. Figure 9 has the loss at equal true privacy too, where the "
            "Gaussians stay linear."
        ),
        calibration="both",
        sizes=Sizes(epsilons=listed_numbers(GROWTH_EPSILONS)),
    )


def _curve(rows: pd.DataFrame, mechanism: str, epsilon: float, sizes: tuple[int, int]) -> pd.Series:
    """Return the expected losses of one curve by M, from the first to the last of `sizes`.

    Raises:
        CannotJudge: The curve of this run starts or ends at another M, or is empty.
    """
    rows = select(rows, mechanism=mechanism)
    at_epsilon = np.isclose(rows["epsilon"], epsilon, rtol=1e-9, atol=0)
    curve = rows[at_epsilon].set_index("size")["value"]
    if curve.empty or [curve.index[0], curve.index[-1]] != list(sizes):
        raise CannotJudge(
            f"The claim is about M from {sizes[0]} to {sizes[1]}; this run has other sizes of "
            f"{mechanism} at epsilon {epsilon:g}, delta {GROWTH_DELTA:g}"
        )
    return curve


# Any budget will do: the shape of the distribution of L does not depend on the noise's scale.
BUDGET = Budget(epsilon=1e-5, delta=1e-7)


@drawing("r1smg2024_stability", kind="tables", needs=["noise_only/fixed-sensitivity"])
def stability_table(results: Results) -> Drawn:
    """Tabulate the moments of Theorems 8 and 9, and the tails that the paper infers from them."""
    columns = {
        "E[L^4]/E[L^2]^2": {"metric": "raw_kurtosis"},
        "E[L^3]/E[L^2]^1.5": {"metric": "raw_skewness"},
        "kurtosis (central)": {"metric": "central_kurtosis"},
        "skewness (central)": {"metric": "central_skewness"},
        "P(L > 2 E L)": {"metric": "tail_exact", "factor": 2},
        "P(L > 5 E L)": {"metric": "tail_exact", "factor": 5},
        "P(L > 5 E L), sampled": {"metric": "tail_sampled", "factor": 5},
        "draws": {"metric": "sampled_trials"},
    }
    moments = select(
        results.rows, study="noise_only", dataset=FAMILY, calibration="published", status=OK
    )
    rows = required(
        pd.concat(select(moments, **at).assign(title=title) for title, at in columns.items()),
        DrawingError(f"the results hold no moments of noise_only/{FAMILY}"),
    )
    # One epsilon is enough: the shape of the distribution of L does not depend on the scale.
    rows = select(rows, epsilon=rows["epsilon"].max())
    table = rows.pivot_table(index=["mechanism", "shape"], columns="title", values="value")
    table = table.reset_index().assign(M=lambda t: t["shape"].map(size_of))
    table["order"] = table["mechanism"].map(legend_order(table["mechanism"]).index)
    table = table.sort_values(["M", "order"])
    return Drawn(
        caption=(
            "r1smg2024 Theorems 8 and 9 and Remark 2: moments of L = ||noise||^2 about zero, which "
            "the paper calls kurtosis and skewness, moments about the mean, and the probability of "
            "a large loss, in closed form, with one sampled tail beside them. No data; noise as "
            "published."
        ),
        data=table[["mechanism", "M", *(title for title in columns if title in table)]],
        note="Rescaling the noise changes none of these numbers.",
    )


def noise_of(key: str, side: int, **options) -> Noise:
    """Return a mechanism's noise at BUDGET for a side x side query of l2 sensitivity 1."""
    return calibrated(key, family_query(FAMILY, (side, side)), BUDGET, **options).noise


@judge
def raw_moment(
    *,
    moment: Literal["raw_kurtosis", "raw_skewness"],
    stated: float,
    sides: list[int],
    tolerance: float,
) -> Finding:
    """Judge Theorems 8 and 9: R1SMG's moment of L about zero is larger than the others'."""
    ours = getattr(noise_of("r1smg", sides[-1]).loss(), moment)
    others = []
    for side in sides:
        uneven = 1.0 / np.arange(1, side + 1) ** 2
        mvg = [
            noise_of("mvg", side, **options)
            for options in ({}, {"precision": uneven / uneven.sum()})
        ]
        others += [getattr(each.loss(), moment) for each in (noise_of("gaussian", side), *mvg)]
    return Finding(
        parts=(
            number("R1SMG", ours, stated, tolerance),
            statement("larger than the others'", max(others) < ours),
        ),
        detail=(
            "Closed forms, moments about zero as the paper defines them; classic and analytic "
            "Gaussian (one shape of L) and MVG with equal and with uneven precision, at M = "
            f"{listed(str(side**2) for side in sides)}, where the others' are at most "
            f"{max(others):.5g}."
        ),
        calibration="published",
    )


@judge
def full_rank_moments(*, sides: list[int], tolerance: float) -> Finding:
    """Judge Remark 2: kurtosis 3 + 12/M and skewness sqrt(8/M), and R1SMG's larger moments.

    The remark gives a normal variable the values 3 and 0, which are moments about the mean, whereas
    Section 6 defines moments about zero. Both readings are judged.
    """
    # About the mean the formulas are exact at every M; about zero they could hold only in the
    # limit, so that reading is judged at the largest M.
    readings = {
        "about the mean:": (("central_kurtosis", "central_skewness"), sides),
        "as Section 6 defines it:": (("raw_kurtosis", "raw_skewness"), sides[-1:]),
    }
    rank_one, parts = noise_of("r1smg", sides[-1]).loss(), []
    for which, (moments, judged) in readings.items():
        losses = {side**2: noise_of("gaussian", side).loss() for side in judged}
        for moment, formula in zip(moments, _STATED_MOMENTS, strict=True):
            pairs = [(getattr(loss, moment), formula(size)) for size, loss in losses.items()]
            agree = [math.isclose(*pair, rel_tol=tolerance) for pair in pairs]
            name = f"{moment.split('_')[1]}, {which}"
            parts.append(universal(name, agree, "{:.5g} (stated {:.5g})".format(*pairs[-1])))
        ours = {moment: getattr(rank_one, moment) for moment in moments}
        larger = all(
            getattr(loss, each) < value for loss in losses.values() for each, value in ours.items()
        )
        found = listed(f"{value:.4g}" for value in ours.values())
        parts.append(statement(f"R1SMG's larger, {which}", larger, found))
    return Finding(
        parts=parts,
        detail=(
            f"Closed forms for i.i.d. Gaussian noise at M = {listed(str(s**2) for s in sides)}; "
            "shown at the largest. With MVG's uneven covariances there would be fewer degrees of "
            "freedom."
        ),
        calibration="published",
    )


# The kurtosis and the skewness that Remark 2 states for M elements.
_STATED_MOMENTS = (lambda size: 3 + 12 / size, lambda size: math.sqrt(8 / size))


@judge
def stability(*, sides: list[int], factors: list[Positive]) -> Finding:
    """Judge stability by the exact P(L > k E L) of R1SMG and of i.i.d. Gaussian noise."""
    parts = []
    for k in factors:
        noises = (noise_of("r1smg", sides[0]), *(noise_of("gaussian", side) for side in sides))
        ours, *theirs = (each.squared_norm_survival(k * each.loss().mean) for each in noises)
        found = f"R1SMG {rounded_down(ours)}, i.i.d. Gaussian at most {rounded_up(max(theirs), 2)}"
        parts.append(statement(f"P(L > {k:g} E L) smaller:", ours < max(theirs), found))
    # Absolute losses at the paper's budgets of the count query, at which R1SMG's mean is smaller.
    rank_one, classic = (
        calibrated(key, at.query, at.budget).noise
        for key, at in (
            ("r1smg", setting("r1smg2024-count-1e-05")),
            ("gaussian", setting("r1smg2024-count-0.5")),
        )
    )
    for times, words in ((1, "above"), (2, "above twice")):
        ours, theirs = (
            noise.squared_norm_survival(times * classic.loss().mean)
            for noise in (rank_one, classic)
        )
        # A probability that underflows is below the smallest normal float.
        other = f"{theirs:.2g}" if theirs > 1e-307 else "below 1e-307"
        found = f"R1SMG {ours:.2g}, classic Gaussian {other}"
        parts.append(
            statement(f"{words} the classic Gaussian's mean less often:", ours < theirs, found)
        )
    return Finding(
        parts=parts,
        detail=(
            "Exact survival functions of chi-squared distributions, at M = "
            f"{listed(str(side**2) for side in sides)}; in absolute terms at the claimed "
            "budgets of the count query."
        ),
        calibration="published",
    )
