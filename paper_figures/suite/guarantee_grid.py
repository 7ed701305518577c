"""The figure of where R1SMG's claim holds, over the number of elements M and epsilon.

`suite_validity` reads the rows of the study guarantee on its data set "grid".
"""

import numpy as np

from claims.judged_rows import ok_rows, required
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import size_of
from paper_figures.style import PAGE
from runs.results import Results


@drawing("suite_validity", kind="figures", needs=["guarantee/grid"])
def validity(results: Results) -> Drawn:
    """Draw R1SMG's true delta over its claimed one, by M and epsilon."""
    from matplotlib.colors import TwoSlopeNorm

    rows = ok_rows(results.rows, "guarantee", "true_delta", "grid")
    rows = required(
        rows[(rows["mechanism"] == "r1smg") & (rows["calibration"] == "published")],
        DrawingError("the results hold no true delta of r1smg as published"),
    )
    rows = rows.assign(size=rows["shape"].map(size_of))
    # Clip, because a true delta of zero has no logarithm; it is far inside the valid region.
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
    # Draw the theorem's own limit, epsilon < 1/M, as a staircase between the cells.
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
