"""The noise alone, r1smg2024 Appendix B and Section 6: Figure 9, moments and tails of L, verdicts.

Figure 9 and the claim about it read the same rows of noise_only. The claims about moments and tails
are judged in closed form, at sizes that a run may not have.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from experiments.noise_only import family_query
from mechanisms import Budget
from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.judged_rows import calibrated, listed, rounded_down, rounded_up
from paper_figures.ledger import CannotJudge, Claim, judge
from paper_figures.power_law import power
from paper_figures.results import Results
from paper_figures.rules import number, statement
from paper_figures.selections import ok_rows, size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from paper_figures.verdicts import Finding, Outcome, Sizes
from papers.r1smg2024 import GROWTH_DELTA, GROWTH_EPSILONS, setting

FAMILY = "fixed-sensitivity"
# The mechanisms of Figure 9.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic")
# The shape of the distribution of L does not depend on the scale of the noise: any budget will do.
BUDGET = Budget(epsilon=1e-5, delta=1e-7)


def expected_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Expected losses E L of the mechanisms of Figure 9, by rising `size` M."""
    found = ok_rows(rows, "noise_only", "expected_loss", FAMILY)
    found = found[found["mechanism"].isin(COMPARED)]
    return found.assign(size=found["shape"].map(size_of)).sort_values("size")


@drawing("r1smg2024_fig9", kind="figures", needs=["noise_only/fixed-sensitivity"])
def figure_9(results: Results) -> Drawn:
    """Expected loss over M, one panel per epsilon, both calibrations."""
    rows = expected_losses(results.rows)
    if rows.empty:
        raise DrawingError(f"Figure 9 needs one of {', '.join(COMPARED)} in noise_only")
    epsilons = sorted(rows["epsilon"].unique(), reverse=True)
    figure, axes = plt.subplots(1, len(epsilons), figsize=(PAGE, 2.6), sharey=True, squeeze=False)
    for axis, epsilon in zip(axes[0], epsilons, strict=True):
        panel = rows[rows["epsilon"] == epsilon]
        for mechanism, calibration in itertools.product(
            in_order(panel["mechanism"]), CALIBRATION_LINES
        ):
            of_mechanism = panel[panel["mechanism"] == mechanism]
            line = of_mechanism[of_mechanism["calibration"] == calibration]
            if line.empty:
                continue
            style = look(mechanism)
            axis.loglog(
                line["size"],
                line["value"],
                color=style.colour,
                marker=style.marker,
                linestyle=CALIBRATION_LINES[calibration],
                markerfacecolor="white" if calibration == "exact" else style.colour,
                label=f"{style.title}, {CALIBRATION_TITLES[calibration]}",
            )
        limit = "paper, limit of R1SMG: 2 / epsilon"
        axis.axhline(2 / epsilon, color="black", linestyle=":", label=limit)
        axis.set(xlabel="number of elements M", title=f"epsilon = {epsilon:g}")
    axes[0, 0].set_ylabel("E L, squared units of the answer")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    caption = (
        "r1smg2024 Figure 9: expected accuracy loss E L = E||noise||^2 in closed form over the "
        f"number of elements M, l2 sensitivity 1, delta {rows['delta'].iloc[0]:g}. Solid: as "
        "published; dashed: rescaled until the true delta at epsilon is the budget's. Dotted: the "
        "limit 2/epsilon that the paper gives for R1SMG."
    )
    note = (
        "At equal true privacy the classic and the analytic Gaussian are the same noise, which is "
        "that of the analytic Gaussian as published: these three curves lie on one another. There "
        "are no data, and so no random answer; without privacy L is zero, which a logarithmic axis "
        "cannot show."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "size", "value"]
    return Drawn(caption, rows[columns], figure, note)


@judge(experiments=("noise_only",))
def loss_growth(claim: Claim, results: Results) -> Finding:
    """Figure 9: linear growth of the Gaussians' loss, and R1SMG's fall to 2/epsilon.

    Arguments: sizes, the first and the last M of the figure; linear, mechanisms.
    """
    a = claim.arguments
    rows = expected_losses(results.rows)
    rows = rows[np.isclose(rows["delta"], GROWTH_DELTA, rtol=1e-9, atol=0)]
    limits, falls = [], True
    slopes = {key: [] for key in a["linear"]}
    for epsilon in GROWTH_EPSILONS:
        for key in a["linear"]:
            curve = _curve(rows, key, epsilon, "published", a["sizes"])
            slopes[key].append(power(curve.iloc[[0, -1]].to_list(), a["sizes"]))
        curve = _curve(rows, "r1smg", epsilon, "published", a["sizes"])
        falls &= bool(np.all(np.diff(curve) < 0))
        limits.append(curve.iloc[-1] * epsilon / 2)
    return Finding(
        parts=[
            *(
                number(f"{mechanism_title(key)}'s power of M", max(found), 1.0, claim.tolerance)
                for key, found in slopes.items()
            ),
            statement("R1SMG's loss falls with M", falls),
            number("R1SMG's limit over 2/epsilon", max(limits), 1.0, claim.tolerance),
        ],
        detail=(
            f"Closed-form E L, l2 sensitivity 1, delta {GROWTH_DELTA:g}, epsilon "
            f"{listed(f'{e:g}' for e in GROWTH_EPSILONS)}, {len(curve)} sizes M from "
            f"{a['sizes'][0]} to {a['sizes'][1]}.{_exact_growth(rows, a['sizes'])}"
        ),
        calibration="both",
        sizes=Sizes(epsilons=listed(f"{e:g}" for e in GROWTH_EPSILONS)),
    )


def _exact_growth(rows: pd.DataFrame, sizes: list[int]) -> str:
    """One sentence on the growth at the exact calibration, or nothing where it was not run."""
    if "exact" not in set(rows["calibration"]):
        return ""
    slopes, excess = [], []
    for epsilon in GROWTH_EPSILONS:
        ours, theirs = (
            _curve(rows, key, epsilon, "exact", sizes) for key in ("r1smg", "gaussian-analytic")
        )
        slopes.append(power(ours.iloc[[0, -1]].to_list(), sizes))
        excess.append(ours.iloc[-1] / theirs.iloc[-1])
    return (
        " At the exact calibration (noise rescaled until the true delta is the claimed one) the "
        f"Gaussians stay linear, and R1SMG's loss grows as M^{max(slopes):.3g} and is "
        f"{min(excess):.2g} to {max(excess):.2g} times theirs at the largest M."
    )


def _curve(
    rows: pd.DataFrame, mechanism: str, epsilon: float, calibration: str, sizes: list[int]
) -> pd.Series:
    """Expected losses of one curve of the figure, from the first to the last of `sizes`.

    Raises:
        CannotJudge: The run has other sizes.
    """
    chosen = (rows["mechanism"] == mechanism) & (rows["calibration"] == calibration)
    curve = rows[chosen & np.isclose(rows["epsilon"], epsilon, rtol=1e-9, atol=0)]
    curve = curve.set_index("size")["value"]
    if curve.empty or [curve.index[0], curve.index[-1]] != list(sizes):
        raise CannotJudge(
            f"A claim about M from {sizes[0]} to {sizes[1]}; this run has other sizes of "
            f"{mechanism} at epsilon {epsilon:g}, delta {GROWTH_DELTA:g}"
        )
    return curve


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
    rows = rows[rows["calibration"] == "published"]
    if rows.empty:
        raise DrawingError(f"the results hold no moments of noise_only/{FAMILY}")
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


@judge()
def raw_moment(claim: Claim, results: Results) -> Finding:
    """Theorems 8 and 9: a moment of L about zero, R1SMG's and the others'.

    Arguments: moment ("raw_kurtosis" or "raw_skewness"), stated, sides.
    """
    a = claim.arguments
    ours = getattr(noise_of("r1smg", a["sides"][-1]).loss(), a["moment"])
    others = [getattr(loss, a["moment"]) for side in a["sides"] for loss in _full_rank(side)]
    return Finding(
        parts=(
            number("R1SMG", ours, a["stated"], claim.tolerance),
            statement("larger than the others',", max(others) < ours, f"at most {max(others):.5g}"),
        ),
        detail=(
            "Closed forms, moments about zero as the paper defines them; classic and analytic "
            "Gaussian (one shape of L) and MVG with equal and with uneven precision, at M = "
            f"{listed(str(side**2) for side in a['sides'])}."
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


@judge()
def full_rank_moments(claim: Claim, results: Results) -> Finding:
    """Remark 2: 3 + 12/M and sqrt(8/M), by the moments the paper defines and by central ones.

    Arguments: sides (rising).
    """
    rows = []
    for side in claim.arguments["sides"]:
        loss, size = noise_of("gaussian", side).loss(), side**2
        stated = (3 + 12 / size, math.sqrt(8 / size))
        rows.append((stated, (loss.raw_kurtosis, loss.raw_skewness), _central(loss)))
    stated, raw, central = rows[-1]
    size = claim.arguments["sides"][-1] ** 2
    usual = all(
        math.isclose(c, s, rel_tol=claim.tolerance)
        for row in rows
        for c, s in zip(row[2], row[0], strict=True)
    )
    return Finding(
        parts=(
            statement(
                "moments about the mean",
                usual,
                f"{central[0]:.5g} and {central[1]:.3g} at M = {size}",
            ),
            *(
                number(f"{name} about zero, the paper's definition", r, s, claim.tolerance)
                for name, r, s in zip(("kurtosis", "skewness"), raw, stated, strict=True)
            ),
        ),
        detail=(
            "Closed forms for i.i.d. Gaussian noise at M = "
            f"{listed(str(side**2) for side in claim.arguments['sides'])}; R1SMG's moments about "
            f"the mean are {_words(noise_of('r1smg', 10))}. With MVG's uneven covariances the "
            "degrees of freedom would be fewer than M."
        ),
        calibration="published",
    )


def _central(loss: LossMoments) -> tuple[float, float]:
    return loss.central_kurtosis, loss.central_skewness


def _words(noise: Noise) -> str:
    kurtosis, skewness = _central(noise.loss())
    return f"{kurtosis:.4g} and {skewness:.4g}"


@judge()
def stability(claim: Claim, results: Results) -> Finding:
    """P(L > k E L), exactly, of R1SMG and of i.i.d. Gaussian noise.

    Arguments: sides, factors (k).
    """
    a = claim.arguments
    factors = np.array(a["factors"], dtype=float)
    rank_one = _tails("r1smg", a["sides"][0], factors)
    others = np.array([_tails("gaussian", side, factors) for side in a["sides"]])
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
        [float(noise.loss_survival(mean * times)) for times in (1, 2)]
        for noise in (rank_one_noise, classic.noise)
    )
    absolute = tuple(
        statement(
            f"{words} the classic Gaussian's mean less often:",
            ours < theirs,
            f"R1SMG {ours:.2g}, classic Gaussian {max(theirs, 1e-300):.1g}",
        )
        for words, ours, theirs in zip(("above", "above twice"), above, theirs_above, strict=True)
    )
    return Finding(
        choice="what a large loss is measured against",
        outcomes=(
            Outcome(choice="the mechanism's own mean", parts=relative),
            Outcome(choice="absolute, at the budgets of the count query", parts=absolute),
        ),
        ours="; ".join(f"{part.name} {part.found}" for part in (*relative, *absolute)),
        detail=(
            "Exact survival functions of chi-squared laws, at M = "
            f"{listed(str(side**2) for side in a['sides'])}; in absolute terms at the claimed "
            "budgets of the count query."
        ),
        calibration="published",
    )


def _tails(key: str, side: int, factors: np.ndarray) -> np.ndarray:
    noise = noise_of(key, side)
    return noise.loss_survival(factors * noise.loss().mean)
