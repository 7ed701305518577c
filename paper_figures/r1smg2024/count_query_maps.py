"""The maps of the count query, r1smg2024 Figure 4, and the verdicts on the claims about them.

The figure shows the first trial of each mechanism. The largest counts that it prints, and that a
claim is about, are means over all trials of the same rows.
"""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.ledger import NOT_REPRODUCED, NOT_RUN, REPRODUCED, Claim, Finding, judge
from paper_figures.r1smg2024.count_query import (
    advantages,
    at_paper_epsilon,
    budget_words,
    by_mechanism,
    official_counts,
)
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms, main_dataset, ok_rows
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, look
from paper_figures.verdict_rules import (
    Interval,
    bootstrap_difference,
    listed,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)
from papers.r1smg2024 import COUNT_DELTA, count_epsilon

# Panels (a) to (h) of the paper's figure.
PANELS = (
    "non-private",
    "r1smg",
    "gaussian",
    "gaussian-analytic",
    "mvg",
    "mgm",
    "dawa-published",
    "hb",
)
COLUMNS = 4


def mean_largest_counts(rows: pd.DataFrame) -> pd.Series:
    """Mean over trials of the largest count after post-processing, by mechanism and calibration."""
    found = rows[(rows["metric"] == "largest_count") & (rows["status"] == "ok")]
    return found.groupby(["mechanism", "calibration"])["value"].mean()


@drawing("r1smg2024_fig4", kind="figures", needs=["count_query"], maps=("count_query",))
def figure_4(results: Results) -> Drawn:
    """Heat maps of the released counts on one colour scale, the non-private map first."""
    dataset, source = main_dataset(results.rows, "count_query")
    cells = at_paper_epsilon(ok_rows(results.maps, "count_query", "released_count", dataset))
    cells = cells[cells["mechanism"].isin(PANELS)]
    if "non-private" not in set(cells["mechanism"]):
        raise DrawingError(
            "Figure 4 needs the maps of non-private and other mechanisms at the paper's epsilons; "
            "set count_query.map_epsilons in the config"
        )
    rows = results.rows[results.rows["dataset"] == dataset]
    largest = mean_largest_counts(at_paper_epsilon(rows[rows["experiment"] == "count_query"]))
    maps = {
        key: group.pivot(index="row", columns="column", values="value").to_numpy()
        for key, group in cells.groupby(["mechanism", "calibration"])
    }
    shown = [m for m in PANELS if (m, "published") in maps]
    calibrations = [f for f in CALIBRATION_LINES if any((m, f) in maps for m in shown[1:])]
    figure = _draw_maps(maps, largest, shown, calibrations)
    trials = rows["trial"].max() + 1
    side = len(maps["non-private", "published"])
    caption = (
        f"r1smg2024 Figure 4 on {source}: first trial of the {side} x {side} count query after "
        f"post-processing, {budget_words()}, l2 sensitivity sqrt(2) (replacing one pickup). Below "
        f"a map: the mean over {trials} trials of its largest count. All maps have the colour "
        "scale (square root) of the exact counts. Noise as published, and rescaled until the true "
        "delta at epsilon is the budget's."
    )
    note = "Counts above the scale and negative counts have the colours of its ends."
    note += failed_mechanisms(rows[rows["mechanism"].isin(shown)], "count_query", dataset)
    return Drawn(caption, _drawn_numbers(cells, largest, shown), figure, note)


def _drawn_numbers(cells: pd.DataFrame, largest: pd.Series, shown: list[str]) -> pd.DataFrame:
    """A row per cell and one of the mean largest counts; a column per map."""
    drawn = cells[cells["mechanism"].isin(shown)]
    drawn = drawn.assign(map=drawn["mechanism"] + " (" + drawn["calibration"] + ")")
    table = drawn.pivot(index=["row", "column"], columns="map", values="value").reset_index()
    labels = {f"{m} ({f})": value for (m, f), value in largest.items()}
    below = pd.DataFrame([labels])[[name for name in table.columns if name in labels]]
    table = table.assign(quantity="released count")
    table = pd.concat([table, below.assign(quantity="mean largest count")], ignore_index=True)
    return table[["quantity", "row", "column", *below.columns]]


def _draw_maps(
    maps: dict[tuple[str, str], np.ndarray],
    largest: pd.Series,
    shown: list[str],
    calibrations: list[str],
) -> plt.Figure:
    """Bands of four mechanisms; every band has a row of maps per calibration."""
    bands = math.ceil(len(shown) / COLUMNS)
    count = bands * len(calibrations)
    figure, axes = plt.subplots(count, COLUMNS, figsize=(PAGE, 1.72 * count), squeeze=False)
    figure.get_layout_engine().set(h_pad=0.02, w_pad=0.01, hspace=0, wspace=0)
    truth = maps["non-private", "published"]
    norm = PowerNorm(0.5, vmin=0, vmax=truth.max())
    for axis in axes.flat:
        axis.set(xticks=[], yticks=[])
        axis.grid(False)
        axis.set_box_aspect(truth.shape[0] / truth.shape[1])
    for index, mechanism in enumerate(shown):
        band, column = divmod(index, COLUMNS)
        for offset, calibration in enumerate(calibrations):
            axis = axes[band * len(calibrations) + offset, column]
            if offset == 0:
                axis.set_title(_panel_title(mechanism), fontsize=7)
            if column == 0:
                axis.set_ylabel(CALIBRATION_TITLES[calibration], fontsize=7)
            # The control has no noise to rescale.
            key = (mechanism, "published" if mechanism == "non-private" else calibration)
            if key not in maps:
                axis.text(0.5, 0.5, "no result\n(see the note)", ha="center", va="center")
                axis.spines[:].set_visible(False)
                continue
            # Rasterised at one pixel per cell; negative counts have the colour of zero.
            image = axis.imshow(
                maps[key], origin="lower", cmap="cividis", norm=norm, interpolation="nearest"
            )
            axis.set_xlabel(f"mean largest count {largest[key]:.4g}", fontsize=6, labelpad=1)
    for axis in axes[-len(calibrations) :, len(shown) - (bands - 1) * COLUMNS :].flat:
        axis.set_axis_off()
    figure.colorbar(image, ax=axes, extend="both", shrink=0.6, aspect=40, label="pickups per cell")
    return figure


def _panel_title(mechanism: str) -> str:
    title = look(mechanism).title
    return title if mechanism == "non-private" else f"{title}, ε = {count_epsilon(mechanism):g}"


@judge(experiments=("count_query",))
def largest_counts(claim: Claim, results: Results) -> Finding:
    """Figure 4: the largest count, exact and released.

    Arguments: stated, the exact one; above, bounds that the released ones are said to exceed.
    """
    rows = official_counts(results.rows)
    a = claim.arguments
    facts = {
        metric: float(pick(rows, metric=metric, mechanism="non-private")["value"].iloc[0])
        for metric in ("nonprivate_largest_count", "pickups", "valid_cells")
    }
    exact = facts["nonprivate_largest_count"]
    chosen = {"metric": "largest_count", "calibration": "published"}
    trials = {key: pick(rows, mechanism=key, **chosen)["trial"].nunique() for key in a["above"]}
    means = mean_largest_counts(rows)
    found = {key: float(means[key, "published"]) for key in a["above"]}
    larger = all(found[key] > bound for key, bound in a["above"].items())
    shown = {"non-private": exact} | found
    return Finding(
        ours=", ".join(f"{key} {value:.4g}" for key, value in shown.items()),
        verdict=verdict_of_parts(
            verdict_on_numbers([(exact, a["stated"])], claim.tolerance),
            REPRODUCED if larger else NOT_REPRODUCED,
        ),
        detail=(
            "Official pickups of the stated window; mean over trials of the largest count after "
            f"post-processing, epsilon {count_epsilon('gaussian'):g}, delta {COUNT_DELTA:g}. The "
            "paper gives neither its bounding box nor its valid areas (ours: the five boroughs, "
            "and cells with a pickup in the rest of the month): "
            f"{facts['pickups']:.0f} pickups in "
            f"{facts['valid_cells']:.0f} valid cells, on average "
            f"{facts['pickups'] / facts['valid_cells']:.0f} per cell. MVG's noise depends on "
            "gamma, here the number of pickups."
        ),
        calibration="published",
        trials=min(trials.values()),
    )


@judge(experiments=("count_query",))
def count_order(claim: Claim, results: Results) -> Finding:
    """Figure 4: R1SMG against other noise, by differences of L after post-processing.

    Arguments: others; comparable, mechanisms to which R1SMG's error is said to be comparable, here:
    the whole interval of the ratio of mean L lies within `factor`; better, the one of these that is
    said to be better.
    """
    rows = official_counts(results.rows)
    a = claim.arguments
    metric = "loss_postprocessed"
    published = by_mechanism(rows, a["others"], metric)
    ours = advantages(published)
    exact = advantages(by_mechanism(rows, a["others"], metric, "exact"))
    present = [key for key in a["comparable"] if (rows["mechanism"] == key).any()]
    absent = [key for key in a["comparable"] if key not in present]
    parts = [verdict_on_order(*ours.values())]
    ratios = []
    for key in present:
        chosen = {"metric": metric, "mechanism": key, "calibration": "published"}
        pair = (pick(rows, **chosen), published["r1smg"])
        ratio = _ratio(*pair)
        similar = max(ratio.high, 1 / ratio.low) <= a["factor"]
        parts.append(REPRODUCED if similar else NOT_REPRODUCED)
        if key == a["better"]:
            parts[-1] = verdict_of_parts(
                parts[-1], verdict_on_order(paired_difference(*reversed(pair)))
            )
        ratios.append(f" Mean L of {key} over R1SMG's: {ratio}, {parts[-1]}.")
    parts += [NOT_RUN] * bool(absent)
    waits = f"; not in this run: {listed(absent)}" if absent else ""
    return Finding(
        ours="L over R1SMG's by "
        + ", ".join(f"{difference} ({key})" for key, difference in ours.items())
        + waits,
        verdict=verdict_of_parts(*parts),
        detail=(
            f"Official pickups, {budget_words()}; mean and 95% interval of the difference of L "
            "after post-processing over trials. The part about "
            f"{listed(ours)} alone: {parts[0]}.{''.join(ratios)} At the exact calibration (each "
            "noise rescaled until its true delta is the claimed one) the differences are "
            f"{', '.join(f'{d.mean:.2g} ({k})' for k, d in exact.items())}. Our bounding box and "
            "valid areas, which the paper does not give, scale every L alike."
        ),
        calibration="both",
        trials=next(iter(ours.values())).trials,
    )


def _ratio(over: pd.DataFrame, under: pd.DataFrame) -> Interval:
    """The ratio of two means with its bootstrap interval."""
    pair = (frame["value"].to_numpy(float) for frame in (over, under))
    mean, low, high, trials = bootstrap_difference(*pair, _log_mean)
    return Interval(math.exp(mean), math.exp(low), math.exp(high), trials)


def _log_mean(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.log(np.mean(values, axis))
