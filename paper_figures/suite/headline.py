"""Draw over the number of elements M which claims are true, and how large the noise is.

`suite_headline` and `suite_cost` read the rows of the study guarantee on its data set "grid".
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable

import numpy as np
import pandas as pd

from claims.judged_rows import LEVELS, listed, ok_rows, required, select
from mechanisms import Budget, Query
from mechanisms.limit.limit import limit
from paper_figures import pyplot as plt
from paper_figures.curves import Curve, draw_curves, label_ends, merge_curves
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import legend_below
from paper_figures.selections import guarantee_of, size_of
from paper_figures.style import CALIBRATION_LINES, PAGE, legend_order, mechanism_title
from runs.result_table import OK
from runs.results import Results

# True deltas below this, far below the claimed delta, are not drawn. Mechanisms that stay below it
# at every size are named.
FLOOR = 1e-10
# Controls, and mechanisms for workloads, data or learning. On the identity query, the curves of
# these mechanisms coincide with other curves or have no meaning beside them.
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
FALSE_COLOUR = "#D55E00"
# The families of mechanisms, which have a panel each in suite_cost.
GAUSSIAN, SPHERICAL = "Approximate DP", "Spherical, R1SMG"
FAMILIES = {"pure": "Pure DP", "local": "Local DP"}
SPHERICAL_KEYS = ("r1smg", "product-noise", "spherical-gamma")
NOISE = "root mean square noise per element"
IMPOSSIBLE = (
    "Grey: impossible for any private mechanism if answers take all values and may change anywhere "
    "within l2 norm 1."
)


@drawing("suite_headline", kind="figures", needs=["guarantee/grid"])
def headline(results: Results) -> Drawn:
    """Draw the true delta over M at one claimed budget, and the noise at equal true privacy."""
    grid, budget = select_one_epsilon(results.rows)
    epsilon, delta = budget.epsilon, budget.delta
    true, noise = published_deltas(grid), _noise(grid)
    beyond = _outside_theorem(true)
    wide = true["upper"] > np.maximum(1.01 * true["lower"], FLOOR)
    shown = merge_curves(true[~wide & (true["value"] >= FLOOR)], "size", "value")
    costs = merge_curves(select(noise, calibration="exact"), "size", "noise")
    if not shown and not costs:
        raise DrawingError(
            f"the results hold no true delta above {FLOOR:g} and no noise at equal true privacy"
        )
    # The layout engine runs last: it makes room for labels, which need the height of the axes.
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 3.2), layout="none")
    figure.subplots_adjust(bottom=0.14, top=0.95)
    largest = true.groupby("mechanism")["upper"].max()
    below = ", ".join(map(mechanism_title, legend_order(largest[largest < FLOOR].index)))
    _draw_truth(left, shown, delta, below, beyond)
    left.set_ylabel(f"true delta at epsilon {epsilon:g}")
    left.set_title("Is the claim true?", fontweight="bold")
    draw_curves(right, costs, linestyle="--", markerfacecolor="none")
    # Leave room for the labels below the lowest curves.
    low = min((curve.y.min() for curve in costs), default=1.0) / 20
    right.set(xscale="log", yscale="log", ylim=(low, None), ylabel=f"{NOISE}\n(l2 sensitivity 1)")
    right.set_title("What equal true privacy costs", fontweight="bold")
    _draw_limit(right, grid, budget)
    height = figure.get_figheight() * left.get_position().height
    for ax, curves in ((left, shown), (right, costs)):
        ax.set_xlabel("number of elements M")
        label_ends(ax, curves, height)
    figure.set_layout_engine("constrained")
    pure = [name for name in true[~wide]["mechanism"] if guarantee_of(name) in FAMILIES]
    panels = {"true delta": shown, "noise at equal true privacy": costs}
    data = pd.concat(
        curve.table("size", "value").assign(panel=panel, epsilon=epsilon, delta=delta)
        for panel, curves in panels.items()
        for curve in curves
    )
    return Drawn(
        caption=(
            f"Privacy and cost of noise for ({epsilon:g}, {delta:g}), without data. Left: true "
            f"delta at epsilon {epsilon:g} of the noise as published; a claim is true at or below "
            "the line. Hollow: no claim, outside the theorem. Right: noise rescaled until its true "
            f"delta is {delta:g}. {IMPOSSIBLE} Curves within 1% are drawn once."
        ),
        data=data.assign(limit=_limits(data["size"], budget)),
        figure=figure,
        note=(
            f"{QUERY}{_sentence(BEYOND, beyond)}"
            f"{_sentence('Delta 0 is claimed by', pure)}"
            f"{_sentence(WIDE, true[wide]['mechanism'])} suite_cost has the noise as published."
        ),
    )


BEYOND = "The theorem requires a smaller epsilon for"
WIDE = "Not drawn on the left where the bounds on the true delta are wide:"
FALSE_AT_SOME = "As published the claim is false at some M for"
QUERY = (
    "Adjacency local, l2 sensitivity 1: every element lies in [0, 1/sqrt(M)] and may change within "
    "that range, so that the query meets the assumptions of every mechanism."
)

_MANY = 1000
# The columns for the true delta and its bounds, by metric.
_DELTAS = {"true_delta": "value", "true_delta_lower": "lower", "true_delta_upper": "upper"}


def _limits(sizes: Iterable[int], budget: Budget) -> list[float]:
    """Return lower bounds on the root mean square error of an element; nan if none is known."""
    queries = (Query(shape=(int(size),), l2_sensitivity=1.0) for size in sizes)
    # For many elements the fast test is accurate within 2%, less than the width of a line.
    found = [limit(query, budget, fast=query.size >= _MANY) for query in queries]
    return [each.rmse or math.nan for each in found]


def _draw_limit(ax: plt.Axes, grid: pd.DataFrame, budget: Budget) -> None:
    """Shade the region below the limit of any mechanism; set the range of the y axis first."""
    low, high = ax.get_ylim()
    sizes = sorted(grid["size"].unique())
    ax.fill_between(sizes, low, _limits(sizes, budget), color="#D8D8D8", linewidth=0, zorder=0)
    ax.set_ylim(low, high)
    middle = ax.get_yaxis_transform()
    ax.text(0.5, low * 1.6, "impossible", ha="center", color="#444444", transform=middle)


def select_one_epsilon(rows: pd.DataFrame) -> tuple[pd.DataFrame, Budget]:
    """Return the rows of the grid at the epsilon nearest to 1, with their size M, and the budget.

    Raises:
        DrawingError: The results hold no profile of a mechanism that is drawn.
    """
    grid = select(rows, dataset="grid")
    grid = grid[~grid["mechanism"].isin(NOT_DRAWN)]
    epsilons = required(
        ok_rows(grid, "guarantee", "true_delta")["epsilon"].unique(),
        DrawingError("the results hold no privacy profile of a mechanism that is drawn"),
    )
    epsilon = min(epsilons, key=lambda value: abs(math.log(value)))
    grid = select(grid, epsilon=epsilon)
    budget = Budget(epsilon=float(epsilon), delta=float(grid["delta"].iloc[0]))
    return grid.assign(size=grid["shape"].map(size_of)), budget


def _noise(grid: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of expected losses with the column `noise`, sqrt(E||noise||^2 / M)."""
    loss = ok_rows(grid, "guarantee", "expected_loss")
    return loss.assign(noise=np.sqrt(loss["value"] / loss["size"]))


def published_deltas(grid: pd.DataFrame) -> pd.DataFrame:
    """Return the true deltas of mechanisms as published, in a row per mechanism and size.

    Columns: `value`, with bounds `lower` and `upper`; `claimed`; and `allowed`, above which a true
    delta refutes the claim. It allows for rounding in the calibration and in a true delta of zero.
    """
    published = select(grid, calibration="published", status=OK)
    known = published[published["metric"].isin(_DELTAS)]
    keys = ["mechanism", "shape", "size", "epsilon", "delta", "message"]
    wide = known.pivot(index=keys, columns="metric", values="value")
    wide = wide.rename(columns=_DELTAS).reset_index()
    claimed = wide["delta"].mask(wide["mechanism"].map(guarantee_of).isin(FAMILIES), 0.0)
    return wide.assign(claimed=claimed, allowed=claimed * (1 + 1e-6) + 1e-300)


def _sentence(words: str, mechanisms: Iterable[str]) -> str:
    """Return a sentence that ends with the titles of the mechanisms, or "" if there are none."""
    titles = [mechanism_title(name) for name in legend_order(mechanisms)]
    return f" {words} {listed(titles)}." if titles else ""


def _draw_truth(
    ax: plt.Axes, curves: list[Curve], delta: float, below: str, beyond: list[str]
) -> None:
    """Draw the true deltas and the regions where a claim is true and where it is false.

    Args:
        below: The titles of the mechanisms to name in the strip below the floor.
        beyond: The mechanisms whose theorems do not cover the budget; they get hollow markers.
    """
    low = FLOOR / 10 ** (3 if below else 0)
    ax.set(xscale="log", yscale="log", ylim=(low, 3.0))
    ax.axhspan(delta, 3.0, color=FALSE_COLOUR, alpha=0.1, linewidth=0)
    ax.axhline(delta, color="black", linewidth=0.8)
    outside = [curve for curve in curves if curve.representative in beyond]
    draw_curves(ax, [curve for curve in curves if curve not in outside])
    draw_curves(ax, outside, markerfacecolor="white", linestyle=":")
    middle = ax.get_yaxis_transform()
    ax.text(0.6, delta * 300, "claim false", color=FALSE_COLOUR, ha="center", transform=middle)
    ax.text(0.98, delta * 1.6, f"claimed: {delta:g}", fontsize=6.5, ha="right", transform=middle)
    ax.text(0.6, delta / 60, "claim true", ha="center", transform=middle)
    if below:
        ax.axhspan(low, FLOOR, color="#EEEEEE", linewidth=0)
        words = textwrap.fill(f"below {FLOOR:g}: {below}", 34, break_on_hyphens=False)
        ax.text(
            0.5, math.sqrt(low * FLOOR), words, fontsize=5.5, ha="center", va="center",
            transform=middle,
        )  # fmt: skip
    ax.set_yticks([10.0**power for power in range(0, round(math.log10(FLOOR)) - 1, -2)])
    ax.minorticks_off()


def _outside_theorem(rows: pd.DataFrame) -> list[str]:
    """Return the mechanisms whose theorem requires a smaller epsilon, in the order of legends."""
    # A row can have no other message than the warning about its theorem's range.
    return legend_order(rows.loc[rows["message"] != "", "mechanism"])


@drawing("suite_cost", kind="figures", needs=["guarantee/grid"])
def cost(results: Results) -> Drawn:
    """Draw the noise per element over M, as published and at equal true privacy, by family."""
    grid, budget = select_one_epsilon(results.rows)
    epsilon, delta = budget.epsilon, budget.delta
    noise = required(
        _noise(grid), DrawingError("the results hold no expected loss of a mechanism that is drawn")
    )
    noise = noise.assign(family=noise["mechanism"].map(_family))
    families = [
        name for name in (GAUSSIAN, *FAMILIES.values(), SPHERICAL) if name in set(noise["family"])
    ]
    figure, axes = plt.subplots(
        1, len(families), figsize=(PAGE, 4.8), sharex=True, sharey=True, squeeze=False
    )
    true = published_deltas(grid)
    drawn, beyond = [], _outside_theorem(true)
    for ax, family in zip(axes[0], families, strict=True):
        drawn += _draw_family(ax, select(noise, family=family), family, beyond)
    axes[0, 0].set_ylabel(f"{NOISE}\n(l2 sensitivity 1)")
    for ax in axes[0]:
        _draw_limit(ax, grid, budget)
    refuted = (true["lower"] > true["allowed"]) & (true["message"] == "")
    # A mechanism without a known loss has no curve.
    false = true[refuted & true["mechanism"].isin(noise["mechanism"])]["mechanism"]
    data = pd.concat(drawn).assign(epsilon=epsilon, delta=delta)
    return Drawn(
        caption=(
            f"Noise per element for ({epsilon:g}, {delta:g}), l2 sensitivity 1: as published "
            "(solid; grey markers: outside the theorem), and rescaled until the true delta is the "
            "claimed one (dashed). "
            f"{IMPOSSIBLE} Curves within 1% are drawn once."
            f"{_sentence(FALSE_AT_SOME, false)}"
        ),
        data=data.assign(limit=_limits(data["size"], budget)),
        figure=figure,
        note=QUERY + _sentence(BEYOND, beyond),
    )


def _family(mechanism: str) -> str:
    if mechanism in SPHERICAL_KEYS:
        return SPHERICAL
    return FAMILIES.get(guarantee_of(mechanism), GAUSSIAN)


def _draw_family(
    ax: plt.Axes, panel: pd.DataFrame, family: str, beyond: list[str]
) -> list[pd.DataFrame]:
    """Draw the curves of a family, and mark the mechanisms `beyond` as outside their theorems.

    Returns:
        The points of each curve.
    """
    drawn = []
    mechanisms = set(panel["mechanism"])
    for calibration, line in CALIBRATION_LINES.items():
        curves = merge_curves(select(panel, calibration=calibration), "size", "noise")
        for curve in curves:
            label = "\n= ".join(map(mechanism_title, curve.mechanisms))
            style = {"linestyle": line, "label": label}
            if calibration == "published" and curve.representative in beyond:
                style |= {"markerfacecolor": "#D8D8D8"}
            if calibration == "exact":
                rest = legend_order(mechanisms - set(curve.mechanisms))
                if len(curve.mechanisms) > max(1, 2 * len(rest)):
                    label = "all"
                    if rest:
                        label += f" but {listed(map(mechanism_title, rest))}"
                # The marker is small, so that the edge of a filled marker below it stays visible.
                hollow = {"markerfacecolor": "white", "markersize": 4}
                style |= {"label": f"{label},\nequal true privacy"} | hollow
            draw_curves(ax, [curve], **style)
            points = curve.table("size", "noise")
            drawn.append(points.assign(family=family, calibration=calibration))
    ax.set(xscale="log", yscale="log", xlabel="number of elements M", title=family)
    legend_below(ax)
    return drawn
