"""Claimed and true privacy, and what the noise costs, over the number of elements M and epsilon.

`suite_headline` and `suite_validity` read the rows of the study guarantee on its data set "grid".
"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import TwoSlopeNorm

from experiments.guarantee import grid_query
from mechanisms import Budget, all_mechanisms
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import LEVELS, ok_rows, size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from paper_figures.verdict_rules import listed

# True deltas below this, far below any claim, are drawn here.
FLOOR = 1e-12
# Their lines lie on or beside another one in the headline, whose query is the identity.
NOT_DRAWN = (
    *LEVELS,
    "matrix-mechanism",
    "matrix-mechanism-cvxpy",
    "matrix-mechanism-l1",
    "hb",
    "exponential",
    "tldp-l-w",
    "tldp-g-w",
    "llagp",
    "dphsgd",
    "moments-accountant",
)


@drawing("suite_headline", kind="figures", needs=["guarantee/grid"])
def headline(results: Results) -> Drawn:
    """Left: true delta over M at one claimed budget. Right: expected loss on both calibrations."""
    grid = results.rows[
        (results.rows["dataset"] == "grid") & ~results.rows["mechanism"].isin(NOT_DRAWN)
    ]
    epsilon = _nearest_to_one(ok_rows(grid, "guarantee", "true_delta"))
    grid = grid[grid["epsilon"] == epsilon]
    grid = grid.assign(size=grid["shape"].map(size_of)).sort_values("size", kind="stable")
    true = ok_rows(grid, "guarantee", "true_delta")
    true = true[true["calibration"] == "published"]
    loss = ok_rows(grid, "guarantee", "expected_loss")
    delta = grid["delta"].iloc[0]
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 3.6))
    for mechanism in in_order(grid["mechanism"]):
        style = look(mechanism)
        kind = {"color": style.colour, "marker": style.marker, "label": style.title}
        line = true[true["mechanism"] == mechanism]
        if len(line):
            left.loglog(line["size"], line["value"].clip(lower=FLOOR), **kind)
        for calibration, linestyle in CALIBRATION_LINES.items():
            line = loss[(loss["mechanism"] == mechanism) & (loss["calibration"] == calibration)]
            white = {"markerfacecolor": "white"} if calibration == "exact" else {}
            right.loglog(line["size"], line["value"], linestyle=linestyle, **(kind | white))
    left.axhline(delta, color="black", linewidth=0.8)
    left.text(left.get_xlim()[1], delta, "claimed", ha="right", va="bottom", fontsize=7)
    left.axhspan(delta, 1.5, color="#D55E00", alpha=0.07, linewidth=0)
    left.set(ylabel=f"true delta at epsilon = {epsilon:g}", ylim=(FLOOR / 2, 1.5))
    left.set_title("Is the claim true?")
    right.set(ylabel="E L = E||noise||$^2$")
    right.set_title("What the noise costs")
    for axis in (left, right):
        axis.set_xlabel("number of elements M")
    handles, labels = left.get_legend_handles_labels()
    for calibration, linestyle in CALIBRATION_LINES.items():
        handles.append(plt.Line2D([], [], color="black", linestyle=linestyle))
        labels.append(CALIBRATION_TITLES[calibration])
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    caption = (
        f"Privacy and cost at the claim ({epsilon:g}, {delta:g}), l2 sensitivity 1, over the "
        "number of elements M; exact profiles of the worst pair, no data. Left: true delta at "
        f"epsilon {epsilon:g}, as published. A claim is true at or below the line. Right: expected "
        "squared norm of the noise, as published (solid) and rescaled until the true delta is the "
        "claimed one (dashed)."
    )
    note = (
        "Adjacency local: every element lies in [0, 1/sqrt(M)] and may change within that range, "
        f"so that the query meets the assumptions of every mechanism.{_beyond(true)}"
        f"{_at_the_floor(true)} IMGM and the analytic Gaussian coincide; at the exact calibration "
        "all i.i.d. Gaussian noise does."
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "size", "metric", "value"]
    return Drawn(caption, pd.concat([true, loss])[columns], figure, note)


def _nearest_to_one(rows: pd.DataFrame) -> float:
    """The epsilon of the rows nearest to 1, in orders of magnitude."""
    if rows.empty:
        raise DrawingError("the results hold no exact profile of a mechanism that is drawn")
    return min(rows["epsilon"].unique(), key=lambda epsilon: abs(math.log(epsilon)))


def _beyond(rows: pd.DataFrame) -> str:
    """A sentence on the mechanisms whose theorem is stated for smaller epsilon, or nothing."""
    known, beyond = all_mechanisms(), set()
    for row in rows.drop_duplicates(["mechanism", "shape"]).itertuples():
        shape = tuple(int(axis) for axis in row.shape.split("x"))
        query = grid_query(shape)
        budget = Budget(epsilon=row.epsilon, delta=row.delta)
        if row.mechanism in known and known[row.mechanism].limit(query, budget) is not None:
            beyond.add(row.mechanism)
    if not beyond:
        return ""
    names = listed(map(mechanism_title, in_order(beyond)))
    return f" {names}: the theorem requires a smaller epsilon."


def _at_the_floor(rows: pd.DataFrame) -> str:
    """A sentence on the mechanisms whose true delta is nowhere above the floor, or nothing."""
    largest = rows.groupby("mechanism")["value"].max()
    below = in_order(largest[largest <= FLOOR].index)
    if not below:
        return ""
    names = listed(map(mechanism_title, below))
    return f" True deltas below {FLOOR:g} are drawn at {FLOOR:g}: those of {names}, at every size."


@drawing("suite_validity", kind="figures", needs=["guarantee/grid"])
def validity(results: Results) -> Drawn:
    """True over claimed delta of R1SMG over M and epsilon."""
    rows = ok_rows(results.rows, "guarantee", "true_delta", "grid")
    rows = rows[(rows["mechanism"] == "r1smg") & (rows["calibration"] == "published")]
    if rows.empty:
        raise DrawingError("the results hold no true delta of r1smg as published")
    rows = rows.assign(size=rows["shape"].map(size_of))
    # A true delta of zero has no logarithm; it is far inside the valid region.
    rows = rows.assign(ratio=np.log10(rows["value"].clip(lower=1e-300) / rows["delta"]))
    table = rows.pivot_table(index="epsilon", columns="size", values="ratio")
    figure, axis = plt.subplots(figsize=(PAGE * 0.62, 3.0))
    limit = max(1.0, float(np.nanmax(table.to_numpy())))
    image = axis.imshow(
        table.to_numpy(),
        origin="lower",
        aspect="auto",
        cmap="PuOr_r",
        norm=TwoSlopeNorm(0, -limit, limit),
    )
    for (row, column), ratio in np.ndenumerate(table.to_numpy()):
        if np.isnan(ratio):
            continue
        text = f"{ratio:.1f}" if ratio > -99 else "<-99"
        colour = "white" if abs(ratio) > 0.6 * limit else "black"
        axis.text(column, row, text, ha="center", va="center", fontsize=6, color=colour)
    # The theorem's own limit, epsilon < 1/M, as a staircase between the cells.
    inside = table.index.to_numpy()[:, None] * table.columns.to_numpy() < 1
    axis.step(
        np.arange(len(table.columns) + 1) - 0.5,
        np.append(inside.sum(axis=0), inside[:, -1].sum()) - 0.5,
        where="post",
        color="black",
        linewidth=1.2,
    )
    axis.set_xticks(range(len(table.columns)), table.columns, rotation=45)
    axis.set_yticks(range(len(table.index)), [f"{e:g}" for e in table.index])
    axis.grid(False)
    axis.set(xlabel="number of elements M", ylabel="claimed epsilon")
    figure.colorbar(image, ax=axis, extend="min", label="log10(true delta / claimed delta)")
    caption = (
        "Where the claim of R1SMG holds: log10 of the true over the claimed delta, at claimed "
        f"delta {rows['delta'].iloc[0]:g}, by the exact profile, l2 sensitivity 1. The claim is "
        "true where the number is zero or less. Below the black line epsilon < 1/M, the range for "
        "which r1smg2024 states its theorem."
    )
    return Drawn(caption, rows[["size", "epsilon", "delta", "value", "ratio"]], figure)
