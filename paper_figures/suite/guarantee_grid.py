"""Draw where R1SMG's claim holds, and the variance of published noise over the Gaussian's.

`suite_validity` and `suite_claimed` read the rows of the study guarantee on its data set "grid".
"""

import math

import numpy as np
import pandas as pd

from claims.judged_rows import at_least, listed, ok_rows, required, select
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.words import rounded_up
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import size_of
from paper_figures.style import PAGE, legend_order, look, mechanism_title
from paper_figures.suite.headline import FALSE_COLOUR, QUERY, published_deltas, select_one_epsilon
from runs.results import Results

# `suite_claimed` draws the size of the grid that is nearest to this one.
SIZE = 1024
FALSE, TRUE, OPEN, NONE = "false", "true", "open", "none"


@drawing("suite_validity", kind="figures", needs=["guarantee/grid"])
def validity(results: Results) -> Drawn:
    """Draw R1SMG's true delta over its claimed one, by M and epsilon."""
    from matplotlib.colors import TwoSlopeNorm

    rows = ok_rows(results.rows, "guarantee", "true_delta", "grid")
    rows = required(
        select(rows, mechanism="r1smg", calibration="published"),
        DrawingError("the results hold no true delta of r1smg as published"),
    )
    rows = rows.assign(
        size=rows["shape"].map(size_of),
        # A true delta of zero has no logarithm. The claim is true at 1e-300 as well.
        ratio=np.log10(rows["value"].clip(lower=1e-300) / rows["delta"]),
    )
    table = rows.pivot_table(index="epsilon", columns="size", values="ratio")
    figure, ax = plt.subplots(figsize=(PAGE * 0.62, 3.0))
    limit = max(1.0, float(np.nanmax(table.to_numpy())))
    image = ax.imshow(
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
        ax.text(column, row, text, ha="center", va="center", fontsize=6, color=colour)
    # Draw the limit of the theorem's range, epsilon < 1/M, as a staircase between the cells.
    inside = table.index.to_numpy()[:, None] * table.columns.to_numpy() < 1
    ax.step(
        np.arange(len(table.columns) + 1) - 0.5,
        np.append(inside.sum(axis=0), inside[:, -1].sum()) - 0.5,
        where="post",
        color="black",
        linewidth=1.2,
    )
    ax.set_xticks(range(len(table.columns)), table.columns, rotation=45)
    ax.set_yticks(range(len(table.index)), [f"{e:g}" for e in table.index])
    ax.grid(False)
    ax.set(xlabel="number of elements M", ylabel="claimed epsilon")
    figure.colorbar(image, ax=ax, extend="min", label="log10(true delta / claimed delta)")
    return Drawn(
        caption=(
            "Where the claim of R1SMG holds: log10 of the true over the claimed delta, at claimed "
            f"delta {rows['delta'].iloc[0]:g}, by the exact profile, l2 sensitivity 1. The claim "
            "is true where the number is zero or less. Below the black line epsilon < 1/M, the "
            "range for which r1smg2024 states its theorem."
        ),
        data=rows[["size", "epsilon", "delta", "value", "ratio"]],
        figure=figure,
    )


@drawing("suite_claimed", kind="figures", needs=["guarantee/grid"])
def claimed(results: Results) -> Drawn:
    """Draw each mechanism's variance over the Gaussian's, as published and rescaled."""
    grid, budget = select_one_epsilon(results.rows)
    epsilon, delta = budget.epsilon, budget.delta
    sizes = required(
        ok_rows(grid, "guarantee", "expected_loss")["size"].unique(),
        DrawingError("the results hold no noise of a mechanism that is drawn"),
    )
    size = int(min(sizes, key=lambda each: abs(math.log(each / SIZE))))
    table = _claims_at(select(grid, size=size), size, epsilon, delta)
    figure, ax = plt.subplots(figsize=(PAGE, 0.24 * len(table) + 1.1))
    ax.axvline(1, color="black", linewidth=0.8)
    for height, row in enumerate(table.itertuples()):
        style = look(row.mechanism)
        filled = {} if row.claim != NONE else {"markerfacecolor": "#D8D8D8"}
        ax.plot([row.published, row.equal], [height, height], color=style.colour, linewidth=1)
        point = {"marker": style.marker, "color": style.colour, "linestyle": "none"}
        # The hollow marker is smaller, so that the edge of a filled one below it stays visible.
        ax.plot(row.published, height, **point | filled, markersize=7)
        ax.plot(row.equal, height, **point, markerfacecolor="white", markersize=4.5)
        colour = FALSE_COLOUR if row.claim == FALSE else "black"
        stated = "no claim here" if row.claim == NONE else f"delta {row.claimed:g} claimed"
        words = f"{stated}, {_format_true_delta(row)} true"
        ax.text(
            1.02, height, words, transform=ax.get_yaxis_transform(), va="center", fontsize=6,
            color=colour,
        )  # fmt: skip
    ax.set_yticks(range(len(table)), [mechanism_title(name) for name in table["mechanism"]])
    ax.set(xscale="log", xlabel="variance over that of the analytic Gaussian")
    wide = [mechanism_title(name) for name in table[table["equal"].isna()]["mechanism"]]
    note = ""
    if 0 < len(wide) < len(table):
        note = f" Without an open marker, as no rescaled noise is known: {listed(wide)}."
    table = table.assign(size=size, epsilon=epsilon, delta=delta)
    return Drawn(
        caption=(
            "Published noise compared with the analytic Gaussian. Shown: variance over the "
            f"analytic Gaussian's at ({epsilon:g}, {delta:g}), {size:,} elements, l2 sensitivity "
            "1, without data. Filled: as published (grey: outside its theorem, which claims "
            "nothing here); left of the line the noise is smaller. Open: rescaled until the true "
            "delta is the claimed one. Right: claimed and true delta as published, orange where "
            "the claim is false."
        ),
        data=table,
        figure=figure,
        note=QUERY + note,
    )


def _format_true_delta(row) -> str:
    """Format a true delta or an upper bound on it; a delta that underflows float64 is not zero."""
    if row.true == 0 and row.claimed > 0:
        return "under 1e-300"
    if row.lower < 0.9 * row.true:
        return f"at most {rounded_up(row.upper, 2)}"
    return at_least(row.true) if row.true > 0.99 else f"{row.true:.2g}"


def _claim(true: pd.Series) -> str:
    if true["lower"] > true["allowed"]:
        return FALSE
    return TRUE if true["upper"] <= true["allowed"] else OPEN


def _claims_at(rows: pd.DataFrame, size: int, epsilon: float, delta: float) -> pd.DataFrame:
    """Return the claims and variances in a row per mechanism, by descending published variance."""
    gaussian = size / float(mu_for(epsilon, delta)) ** 2
    loss = ok_rows(rows, "guarantee", "expected_loss")
    deltas = published_deltas(rows).drop_duplicates("mechanism").set_index("mechanism")
    records = []
    for mechanism in legend_order(loss["mechanism"]):
        losses = select(loss, mechanism=mechanism)
        noise = losses.drop_duplicates("calibration").set_index("calibration")["value"]
        if "published" not in noise or mechanism not in deltas.index:
            continue
        true = deltas.loc[mechanism]
        outside = (losses["message"] != "").any()
        records.append(
            {
                "mechanism": mechanism,
                "claimed": true["claimed"],
                "true": true["value"],
                "lower": true["lower"],
                "upper": true["upper"],
                "claim": NONE if outside else _claim(true),
                "published": noise["published"] / gaussian,
                "equal": noise.get("exact", math.nan) / gaussian,
            }
        )
    required(records, DrawingError("the results hold no true delta of a mechanism that adds noise"))
    return pd.DataFrame(records).sort_values(
        "published", ascending=False, ignore_index=True, kind="stable"
    )
