"""The maps of the count query, r1smg2024 Figure 4, and the verdicts on the claims about them.

The figure shows the first trial of each mechanism. The largest counts that it prints, and that a
claim is about, are means over all trials of the same rows.
"""

import math
import textwrap

import numpy as np
import pandas as pd
from scipy.special import ndtr

from claims.comparisons import number, statement, universal
from claims.judged_rows import calibrated, ok_rows, pick
from claims.judges import Probability, judge
from claims.verdicts import Finding
from mechanisms import Budget
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.r1smg2024.count_query import (
    at_paper_budget,
    budget_sizes,
    budget_words,
    official_counts,
)
from paper_figures.r1smg2024.numbers import (
    COUNT_DELTA,
    DENSEST_WINDOW,
    LARGEST_COUNT,
    LARGEST_RELEASED,
    PICKUPS,
    PLACES,
    count_epsilon,
    count_query,
)
from paper_figures.selections import failed_mechanisms, main_dataset
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    look,
    mechanism_title,
)
from runs.results import Results

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
# Why these have no map at equal true privacy.
WITHOUT_EXACT_MAP = {
    "non-private": "there is no noise to rescale",
    "dawa-published": "DAWA's exact privacy is not known, so its noise cannot be rescaled to it",
    "hb": "the estimate of H_b may reveal less than its measurements, so its exact privacy is not "
    "known",
}


def mean_largest_counts(rows: pd.DataFrame) -> pd.Series:
    """Mean over trials of the largest count after post-processing, by mechanism and calibration."""
    found = rows[(rows["metric"] == "largest_count") & (rows["status"] == "ok")]
    return found.groupby(["mechanism", "calibration"])["value"].mean()


@drawing("r1smg2024_fig4", kind="figures", needs=["count_query"], maps=("count_query",))
def figure_4(results: Results) -> Drawn:
    """Heat maps of the released counts on one colour scale, the non-private map first."""
    dataset, source = main_dataset(results.rows, "count_query")
    cells = at_paper_budget(ok_rows(results.maps, "count_query", "released_count", dataset))
    cells = cells[cells["mechanism"].isin(PANELS)]
    if "non-private" not in set(cells["mechanism"]):
        raise DrawingError(
            "Figure 4 needs the maps of non-private and other mechanisms at the paper's budgets; "
            "set count_query.map_epsilons in the config"
        )
    rows = results.rows[results.rows["dataset"] == dataset]
    largest = mean_largest_counts(at_paper_budget(rows[rows["study"] == "count_query"]))
    maps = {
        key: group.pivot(index="row", columns="column", values="value").to_numpy()
        for key, group in cells.groupby(["mechanism", "calibration"])
    }
    shown = [m for m in PANELS if (m, "published") in maps]
    calibrations = [c for c in CALIBRATION_LINES if any((m, c) in maps for m in shown[1:])]
    figure = _draw_maps(maps, largest, shown, calibrations)
    trials = rows["trial"].max() + 1
    side = len(maps["non-private", "published"])
    caption = (
        f"r1smg2024 Figure 4 on {source}: first trial of the {side} x {side} count query after "
        f"post-processing, {budget_words()}, l2 sensitivity sqrt(2) (replacing one pickup). Below "
        f"a map: its mean largest count over {trials} trials. All maps use the colour "
        "scale (square root) of the exact counts. Noise as published, and rescaled until the true "
        "delta at epsilon is the budget's."
    )
    note = (
        "Counts above the scale and negative counts are drawn in the colours at its ends. Numbers "
        f'after "paper" are those that the paper states. Claims as published can be false, as '
        f"those of R1SMG and DAWA are: suite_verdicts.{_scan_words(rows)}"
    )
    note += failed_mechanisms(rows[rows["mechanism"].isin(shown)], "count_query", dataset)
    return Drawn(caption, _drawn_numbers(cells, largest, shown), figure, note)


def _scan_words(rows: pd.DataFrame) -> str:
    """One sentence about the largest exact counts in other bounding boxes, or nothing."""
    counts = rows[(rows["metric"] == "largest_in_box") & (rows["status"] == "ok")]["value"]
    if counts.empty:
        return ""
    low, high = counts.quantile([0.05, 0.95])
    return (
        f" The paper does not state its bounding box: in {len(counts):,} random boxes that contain "
        f"{' and '.join(PLACES)}, the largest exact count is {counts.min():.0f} to "
        f"{counts.max():.0f}, median {counts.median():.0f}, and {low:.0f} to {high:.0f} in 90% of "
        "them."
    )


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
    from matplotlib.colors import PowerNorm

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
            key = (mechanism, calibration)
            if key not in maps:
                reason = WITHOUT_EXACT_MAP.get(mechanism, "not in this run")
                words = textwrap.fill(f"No map: {reason}.", 28)
                axis.text(0.5, 0.5, words, ha="center", va="center", fontsize=6)
                axis.spines[:].set_visible(False)
                continue
            # Rasterised at one pixel per cell; negative counts have the colour of zero.
            image = axis.imshow(
                maps[key], origin="lower", cmap="cividis", norm=norm, interpolation="nearest"
            )
            words = f"mean largest count {largest[key]:.4g}{_paper_count(*key)}"
            if calibration != "published" and count_epsilon(mechanism) != count_epsilon("gaussian"):
                words += f"\nhere ε = {count_epsilon('gaussian'):g}"
            axis.set_xlabel(words, fontsize=6, labelpad=1)
    for axis in axes[-len(calibrations) :, len(shown) - (bands - 1) * COLUMNS :].flat:
        axis.set_axis_off()
    words = "pickups per cell (square-root scale)"
    figure.colorbar(image, ax=axes, extend="both", shrink=0.6, aspect=40, label=words)
    return figure


def _paper_count(mechanism: str, calibration: str) -> str:
    """The paper's largest count of a map, as the end of a label, or nothing."""
    if mechanism == "non-private":
        return f"\n(paper: about {LARGEST_COUNT})"
    if calibration == "published" and mechanism in LARGEST_RELEASED:
        return f"\n(paper: above {LARGEST_RELEASED[mechanism]})"
    return ""


def _panel_title(mechanism: str) -> str:
    title = look(mechanism).title
    return title if mechanism == "non-private" else f"{title}, ε = {count_epsilon(mechanism):g}"


@judge(studies=("count_query",))
def largest_counts(results: Results, *, tolerance: float) -> Finding:
    """Figure 4: the largest exact count, in the run's box and in every box of its scan."""
    rows = official_counts(results.rows)
    stated = LARGEST_COUNT
    facts = {
        metric: float(pick(rows, metric=metric, mechanism="non-private")["value"].iloc[0])
        for metric in ("nonprivate_largest_count", "pickups", "valid_cells")
    }
    exact = facts["nonprivate_largest_count"]
    parts = [number("exact, in the box of the five boroughs", exact, stated, tolerance)]
    scanned = pick(rows, metric="largest_in_box", mechanism="non-private")["value"].astype(float)
    # A cell of a box that contains both places is at least as large as the window, so that the
    # window meets four cells at most.
    least = math.ceil(DENSEST_WINDOW / 4)
    places = " and ".join(PLACES)
    parts.append(
        statement(
            f"exact, in every box with {places}",
            least <= stated * (1 + tolerance),
            f"at least {least} (stated {stated:g})",
        )
    )
    released = _largest(rows)
    return Finding(
        parts=parts,
        detail=(
            f"Official pickups of the stated window. A box that contains {places} has cells of at "
            "least 1/89 of the rectangle that these span. A window of that size inside the "
            f"rectangle holds {DENSEST_WINDOW} pickups and meets at most four cells of any grid, "
            "so "
            f"one of them has at least {least}. The paper gives neither its bounding box nor "
            "its valid areas. Ours: the five boroughs, and cells with a pickup in the rest of the "
            f"month, {facts['pickups']:.0f} pickups in {facts['valid_cells']:.0f} valid cells, on "
            f"average {facts['pickups'] / facts['valid_cells']:.0f} per cell. The boxes are drawn "
            "at random inside that one, half of them close to the places that the paper names. All "
            "contain these places, and the smallest such box is among them. Their largest counts "
            f"are {scanned.min():.0f} to {scanned.max():.0f}, "
            f"median {scanned.median():.0f}. Released largest counts, mean over trials: {released}."
        ),
        calibration="published",
        sizes=budget_sizes(pick(rows, metric="largest_count", mechanism="non-private")),
    )


@judge(studies=("count_query",))
def empty_areas(results: Results, *, mechanisms: list[str], many: Probability) -> Finding:
    """Figure 4: how often an area shows no counts, whatever its exact count is.

    That is the chance of noise below minus the count, least at the largest count: the paper's, or
    for noise that hides ours too, ours.
    """
    rows = official_counts(results.rows)
    ours = float(pick(rows, metric="nonprivate_largest_count")["value"].iloc[0])
    parts = []
    for key in mechanisms:
        query, budget = count_query(PICKUPS), Budget(epsilon=count_epsilon(key), delta=COUNT_DELTA)
        deviation = math.sqrt(calibrated(key, query, budget).expected_loss() / query.size)
        shares = {count: float(ndtr(-count / deviation)) for count in (LARGEST_COUNT, 10, ours)}
        found = ", ".join(f"{share:.3g} at a count of {c:g}" for c, share in shares.items())
        enough = [share >= many or None for share in (shares[LARGEST_COUNT], shares[ours])]
        parts.append(universal(f"{mechanism_title(key)}, areas without counts:", enough, found))
    return Finding(
        parts=parts,
        detail=(
            "The normal probability that the noise on an area outweighs its count. The largest "
            f"count is {LARGEST_COUNT} in the paper, {ours:g} here. Noise as published at "
            f"{budget_words()}."
        ),
        calibration="published",
    )


def _largest(rows: pd.DataFrame) -> str:
    """The largest released counts of the mechanisms for which the paper gives a number."""
    means = mean_largest_counts(rows)
    return ", ".join(
        f"{mechanism_title(key)} {means[key, 'published']:.4g}"
        for key in LARGEST_RELEASED
        if (key, "published") in means
    )
