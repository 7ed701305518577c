"""The noise alone, r1smg2024 Section 6: Figure 9, expected loss over M, and the verdict on it.

Both read the same rows of noise_only. The moments and tails of the loss are in moments_and_tails.
"""

import itertools

import numpy as np
import pandas as pd

from claims.comparisons import number, statement
from claims.judged_rows import listed, ok_rows, required
from claims.judges import CannotJudge, judge
from claims.verdicts import Finding, Sizes
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.power_law import power
from paper_figures.r1smg2024.numbers import GROWTH_DELTA, GROWTH_EPSILONS
from paper_figures.selections import size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from runs.results import Results

FAMILY = "fixed-sensitivity"
# The mechanisms of Figure 9.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic")
# The same noise as the analytic Gaussian's as published.
SAME = (("gaussian", "exact"), ("gaussian-analytic", "exact"))


def expected_losses(rows: pd.DataFrame) -> pd.DataFrame:
    """Expected losses E L of the mechanisms of Figure 9, by rising `size` M."""
    found = ok_rows(rows, "noise_only", "expected_loss", FAMILY)
    found = found[found["mechanism"].isin(COMPARED)]
    return found.assign(size=found["shape"].map(size_of)).sort_values("size", kind="stable")


@drawing("r1smg2024_fig9", kind="figures", needs=["noise_only/fixed-sensitivity"])
def figure_9(results: Results) -> Drawn:
    """Expected loss over M, one panel per epsilon, both calibrations."""
    rows = required(
        expected_losses(results.rows),
        DrawingError(f"Figure 9 needs one of {', '.join(COMPARED)} in noise_only"),
    )
    epsilons = sorted(rows["epsilon"].unique(), reverse=True)
    figure, axes = plt.subplots(2, len(epsilons), figsize=(PAGE, 4.2), sharex=True, squeeze=False)
    for column, epsilon in zip(axes.T, epsilons, strict=True):
        panel = rows[rows["epsilon"] == epsilon]
        for mechanism, calibration in itertools.product(
            in_order(panel["mechanism"]), CALIBRATION_LINES
        ):
            of_mechanism = panel[panel["mechanism"] == mechanism]
            line = of_mechanism[of_mechanism["calibration"] == calibration]
            alone = (mechanism, calibration) == ("r1smg", "published")
            if not line.empty and (mechanism, calibration) not in SAME:
                for axis in column if alone else column[:1]:
                    _curve_of(axis, line, mechanism, calibration)
        column[0].set_yscale("log")
        limit = "paper, limit of R1SMG: 2 / epsilon"
        column[1].axhline(2 / epsilon, color="black", linestyle=":", label=limit)
        column[0].set_title(f"epsilon = {epsilon:g}")
        column[1].set(xscale="log", xlabel="number of elements M")
        column[1].set_ylim(bottom=0)
    for axis, words in zip(axes[:, 0], ("E L", "E L of R1SMG, as published"), strict=True):
        axis.set_ylabel(words)
    entries = entries_of(axes[:, 0])
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=2)
    caption = (
        "r1smg2024 Figure 9: expected accuracy loss E L = E||noise||^2 in closed form over the "
        f"number of elements M, l2 sensitivity 1, delta {rows['delta'].iloc[0]:g}. Solid: as "
        "published; dashed: rescaled until the true delta at epsilon is the budget's. Below: R1SMG "
        "as published on a linear axis, with the limit 2/epsilon that the paper gives."
    )
    note = (
        "At equal true privacy the classic and the analytic Gaussian are the same noise, which is "
        "that of the analytic Gaussian as published: these three curves coincide. There are no "
        "data, and so no random answer; without privacy L is zero, which a logarithmic axis cannot "
        "show."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "size", "value"]
    return Drawn(caption, rows[columns], figure, note)


def _curve_of(axis: plt.Axes, line: pd.DataFrame, mechanism: str, calibration: str) -> None:
    kind = look(mechanism).at(calibration)
    if mechanism == "gaussian-analytic":
        kind["label"] += ", and both Gaussians at equal true privacy"
    axis.plot(line["size"], line["value"], **kind)


@judge(studies=("noise_only",))
def loss_growth(
    results: Results, *, sizes: tuple[int, int], linear: list[str], tolerance: float
) -> Finding:
    """Figure 9: linear growth of the Gaussians' loss, and R1SMG's fall to 2/epsilon."""
    rows = expected_losses(results.rows)
    rows = rows[np.isclose(rows["delta"], GROWTH_DELTA, rtol=1e-9, atol=0)]
    limits, falls = [], True
    slopes = {key: [] for key in linear}
    for epsilon in GROWTH_EPSILONS:
        for key in linear:
            curve = _curve(rows, key, epsilon, "published", sizes)
            slopes[key].append(power(curve.iloc[[0, -1]].to_list(), sizes))
        curve = _curve(rows, "r1smg", epsilon, "published", sizes)
        falls &= bool(np.all(np.diff(curve) < 0))
        limits.append(curve.iloc[-1] * epsilon / 2)
    return Finding(
        parts=[
            *(
                number(f"{mechanism_title(key)}'s power of M", max(found), 1.0, tolerance)
                for key, found in slopes.items()
            ),
            statement("R1SMG's loss falls with M", falls),
            number("R1SMG's limit over 2/epsilon", max(limits), 1.0, tolerance),
        ],
        detail=(
            f"Closed-form E L, l2 sensitivity 1, delta {GROWTH_DELTA:g}, epsilon "
            f"{listed(f'{e:g}' for e in GROWTH_EPSILONS)}, {len(curve)} sizes M from "
            f"{sizes[0]} to {sizes[1]}.{_exact_growth(rows, sizes)}"
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
            f"The claim is about M from {sizes[0]} to {sizes[1]}; this run has other sizes of "
            f"{mechanism} at epsilon {epsilon:g}, delta {GROWTH_DELTA:g}"
        )
    return curve
