"""Error over epsilon of all ranked mechanisms, ties drawn as one curve."""

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from mechanisms.comparison.advisor import TIE

# Curves whose error is larger than this many times the least one at every epsilon are left out.
_WORST_SHOWN = 1e3


def draw_curves(frame: pd.DataFrame, file: Path, per: str) -> None:
    """Draw the RMSE of a comparison over its epsilons; SVG, PNG or PDF by the file's suffix.

    Raises:
        ValueError: The comparison has fewer than two budgets or ranks nothing.
    """
    ranked = frame[frame["rank"].notna()]
    if ranked["epsilon"].nunique() < 2:
        raise ValueError(
            "--plot needs two or more values of --epsilon at which something is ranked"
        )
    table = ranked.pivot(index="epsilon", columns="title", values="rmse").sort_index()
    near = table.div(table.min(axis=1), axis=0).min() <= _WORST_SHOWN
    curves = merged(table.loc[:, near])
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for name, errors in sorted(curves.items(), key=lambda item: -np.nanmean(np.log(item[1]))):
        axes.plot(table.index, errors, marker="o", markersize=4, label=name)
    left_out = int((~near).sum())
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="epsilon",
        ylabel=f"RMSE per {per} at equal true privacy",
        title=f"{left_out} beyond {_WORST_SHOWN:g} times the least error not shown"
        if left_out
        else "",
    )
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
    # Without a salt the ids in an SVG are random.
    with matplotlib.rc_context({"svg.hashsalt": "comparison"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def merged(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Curves by name, those that tie at every epsilon under one name; missing values are NaN."""
    groups: list[tuple[list[str], np.ndarray]] = []
    for title in table.columns:
        errors = table[title].to_numpy(dtype=float)
        for names, others in groups:
            if np.allclose(errors, others, rtol=TIE, atol=0, equal_nan=True):
                names.append(title)
                break
        else:
            groups.append(([title], errors))
    return {_label(names): errors for names, errors in groups}


def _label(names: list[str]) -> str:
    """At most three names and the number of the others."""
    shown = "\n= ".join(names[:3])
    return f"{shown}\nand {len(names) - 3} more" if len(names) > 3 else shown
