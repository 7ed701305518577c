"""The 89 x 89 count query, r1smg2024 Section 7.1: Figure 5, Table 1 and verdicts.

Figure 4 and the claim about its largest counts are in count_query_maps.py, the one about the order
of its maps in count_query_order.py, errors over epsilon in count_query_errors.py. Figures are drawn
on the run's main data set; claims are judged on the official Uber pickups only. Both read the rows
at the budget that the paper gives a mechanism.
"""

import functools
import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy

from claims.comparisons import number, order, statement
from claims.implied_epsilon import Implied, in_closed_form
from claims.intervals import SHOWN, Mean, bootstrapped
from claims.judged_rows import calibrated, official_study, ok_rows, pick, required
from claims.judges import judge
from claims.verdicts import Finding, Sizes
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.r1smg2024.moments_and_tails import noise_of
from paper_figures.r1smg2024.numbers import (
    COUNT_DELTA,
    LARGEST_COUNT,
    PICKUPS,
    STATED_LOSSES,
    count_epsilon,
    count_query,
    setting,
)
from paper_figures.r1smg2024.stated_bounds import stated_constant
from paper_figures.selections import main_dataset
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from runs.results import Results

SHAPE = "89x89"
# The mechanisms of Figure 5 and of Table 1.
COMPARED = ("r1smg", "gaussian", "gaussian-analytic", "mvg")


def at_paper_budget(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows at the budgets of Figures 4 and 5: see `budget_words`.

    As published, the paper's; at equal true privacy, one for all, that of the others than R1SMG.
    """
    epsilons = rows["mechanism"].map(count_epsilon).astype(float)
    epsilons = epsilons.where(rows["calibration"] == "published", count_epsilon("gaussian"))
    same = np.isclose(rows["epsilon"], epsilons, rtol=1e-9, atol=0)
    return rows[same & np.isclose(rows["delta"], COUNT_DELTA, rtol=1e-9, atol=0)]


def official_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """The paper's own query and budgets: Uber pickups, 89 x 89 cells, delta 1e-7.

    Raises:
        CannotJudge: The run has no such rows.
    """
    found = official_study(
        rows, "count_query", about="the Uber pickups", shape=SHAPE, delta=COUNT_DELTA
    )
    return at_paper_budget(found)


def budget_words() -> str:
    """The paper's budgets as a part of a sentence."""
    others, r1smg = count_epsilon("gaussian"), count_epsilon("r1smg")
    return f"epsilon {others:g} (R1SMG as published: {r1smg:g}), delta {COUNT_DELTA:g}"


def by_mechanism(rows: pd.DataFrame, others: list[str], metric: str) -> dict[str, pd.DataFrame]:
    """A metric of R1SMG and of other mechanisms as published, a row per trial.

    Raises:
        CannotJudge: A mechanism has no such rows.
    """
    return {
        key: pick(rows, metric=metric, mechanism=key, calibration="published")
        for key in ("r1smg", *others)
    }


def budget_sizes(rows: pd.DataFrame) -> Sizes:
    """The sizes behind a claim about Figure 4 or 5; `rows` of one mechanism, a row per trial."""
    return Sizes(
        records=PICKUPS,
        trials=int(rows["trial"].nunique()),
        epsilons=f"{count_epsilon('gaussian'):g} (R1SMG {count_epsilon('r1smg'):g})",
    )


@drawing("r1smg2024_fig5", kind="figures", needs=["count_query"])
def figure_5(results: Results) -> Drawn:
    """Distribution of L over the trials: on one axis, and relative to its mean."""
    dataset, source = main_dataset(results.rows, "count_query")
    losses = at_paper_budget(ok_rows(results.rows, "count_query", "loss", dataset))
    losses = losses[losses["mechanism"].isin(COMPARED)]
    if losses.empty or losses["trial"].nunique() < 3:
        raise DrawingError(
            f"Figure 5 needs 3 or more trials of one of {', '.join(COMPARED)} at the paper's budget"
        )
    calibrations = [each for each in CALIBRATION_LINES if each in set(losses["calibration"])]
    figure = plt.figure(figsize=(PAGE, 4.6))
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.2))
    sizes = above.subplots(1, len(calibrations), sharex=True, sharey=True, squeeze=False)[0]
    for axis, calibration in zip(sizes, calibrations, strict=True):
        own = losses[losses["calibration"] == calibration]
        _means_panel(axis, own, calibration)
    _shape_panels(below, losses[losses["calibration"] == calibrations[0]])
    trials = losses.groupby(["mechanism", "calibration"]).size().max()
    caption = (
        f"r1smg2024 Figure 5 on {source}: accuracy loss L = ||noise||^2 of the "
        f"{losses['shape'].iloc[0]} count query, "
        f"{trials} trials, {budget_words()}, l2 sensitivity sqrt(2) (replacing one pickup). Above: "
        "mean of L with its 95% interval, beside the paper's mean of 100 draws. Below: histograms "
        "and densities of L over its mean, the same at either calibration."
    )
    note = (
        "L is the loss before post-processing. The lower panels end at 5 times the mean at most, "
        "which R1SMG's loss exceeds with probability 2.5%. Kernel densities are smooth and blur "
        "the edge at 0. At equal true privacy, noise is rescaled until the true delta at epsilon "
        "is the budget's, and all i.i.d. Gaussian noise has the same distribution. The shape of L "
        "does not depend on the scale of the noise. MVG's gamma, which the paper does not state, "
        "is the number of pickups; r1-f5-loss takes its smallest value."
        f"{_expected_words(results.rows, dataset)}"
    )
    columns = ["mechanism", "calibration", "epsilon", "delta", "trial", "value"]
    return Drawn(caption, losses[columns], figure, note)


def _expected_words(rows: pd.DataFrame, dataset: str) -> str:
    """One sentence on R1SMG's E L, which the mean over the trials estimates badly, or nothing."""
    found = at_paper_budget(ok_rows(rows, "count_query", "expected_loss", dataset))
    found = found[(found["mechanism"] == "r1smg") & (found["calibration"] == "published")]
    return "".join(
        " R1SMG's mean over the trials rests on a few large losses; E L as published is "
        f"{each:.3g}."
        for each in found["value"]
    )


def _means_panel(axis: plt.Axes, losses: pd.DataFrame, calibration: str) -> None:
    """The mean of L with its 95% interval, a line per mechanism."""
    mechanisms = in_order(losses["mechanism"])
    for place, mechanism in enumerate(mechanisms):
        values, style = losses[losses["mechanism"] == mechanism]["value"], look(mechanism)
        interval = Mean(values.to_numpy(float)).interval(SHOWN)
        axis.hlines(place, *interval, color=style.colour, linewidth=3)
        axis.plot(values.mean(), place, marker=style.marker, color=style.colour, markersize=4)
        if calibration == "published":
            stated = STATED_LOSSES[mechanism]
            axis.plot(stated, place, "*", color="black", markersize=7)
            text = {"xytext": (0, 4), "textcoords": "offset points", "ha": "center"}
            axis.annotate(f"paper: {stated:,.0f}", (stated, place), fontsize=6, **text)
    axis.set_yticks(range(len(mechanisms)), [look(each).title for each in mechanisms])
    axis.set_ylim(len(mechanisms) - 0.5, -0.5)
    axis.set_xscale("log")
    # Room for the paper's numbers.
    axis.set_xlim(left=min(STATED_LOSSES.values()) / 100)
    axis.set(title=CALIBRATION_TITLES[calibration], xlabel="mean of L, squared pickups")


def _shape_panels(part: plt.Figure, losses: pd.DataFrame) -> None:
    """Histogram and kernel density of L over its mean: R1SMG, and the others on their own scale."""
    mechanisms = in_order(losses["mechanism"])
    others = [mechanism for mechanism in mechanisms if mechanism != "r1smg"]
    groups = [names for names in (in_order({*mechanisms} - {*others}), others) if names]
    axes = part.subplots(1, len(groups), squeeze=False)[0]
    for axis, names in zip(axes, groups, strict=True):
        lines = itertools.cycle(("-", "--", ":"))
        for mechanism, line in zip(names, lines, strict=False):
            values, style = losses[losses["mechanism"] == mechanism]["value"], look(mechanism)
            ratio = values.to_numpy() / values.mean()
            low, high = max(ratio.min() - 0.02, 0.0), min(ratio.max() + 0.02, 5.0)
            grid = np.linspace(low, high, 500)
            bins = np.linspace(low, high, 40)
            # Densities of all trials, those beyond the axis too.
            weights = np.full(len(ratio), 1 / (len(ratio) * (bins[1] - bins[0])))
            axis.hist(ratio, bins, weights=weights, color=style.colour, alpha=0.25)
            density = scipy.stats.gaussian_kde(ratio)(grid)
            axis.plot(grid, density, line, color=style.colour, label=style.title)
        axis.set(xlabel="L / mean of L", ylabel="density")
        axis.set_ylim(0)
        axis.legend(fontsize=6)


@drawing("r1smg2024_table1", kind="tables", needs=["count_query"])
def table_1(results: Results) -> Drawn:
    """The constants C_C, C_A, C_M and C_R times s^2 beside the true expected losses."""
    dataset, source = main_dataset(results.rows, "count_query")
    rows = ok_rows(results.rows, "count_query", "expected_loss", dataset)
    rows = required(
        rows[rows["mechanism"].isin(COMPARED)],
        DrawingError(f"Table 1 needs one of {', '.join(COMPARED)}"),
    )
    squared = count_query(PICKUPS).l2_sensitivity ** 2
    records = []
    for row in rows.itertuples():
        m, n = (int(axis) for axis in row.shape.split("x"))
        name, constant = stated_constant(row.mechanism, m, n, row.epsilon, row.delta)
        bound = constant * squared
        records.append(
            {
                "mechanism": row.mechanism,
                "calibration": row.calibration,
                "epsilon": row.epsilon,
                "delta": row.delta,
                "constant": name,
                "stated lower bound": bound,
                "true expected loss": row.value,
                "true / bound": row.value / bound,
                "bound holds": _holds(row.calibration, row.value, bound),
            }
        )
    caption = (
        f"r1smg2024 Table 1 at the {rows['shape'].iloc[0]} count query, l2 sensitivity sqrt(2) "
        "(replacing one pickup): the lower bounds C s^2 that the paper states for the expected "
        "loss, and the expected loss in closed form. MVG's noise depends on gamma, here the number "
        f"of pickups in the map of {source}."
    )
    note = "The paper states its bounds for the published noise only."
    return Drawn(caption, pd.DataFrame(records), note=note)


def _holds(calibration: str, loss: float, bound: float) -> str:
    if calibration != "published":
        return ""
    return "yes" if loss >= bound * (1 - 1e-9) else "no"


@judge
def accuracy_loss(*, tolerance: float) -> Finding:
    """Figure 5: E L in closed form.

    The noise of MVG grows with gamma, which the paper does not state: its loss is that at the
    smallest possible gamma, s/2.
    """
    stated = STATED_LOSSES
    found = {key: _paper_noise(key).expected_loss() for key in stated}
    ratio = found["gaussian"] / found["gaussian-analytic"]
    return Finding(
        parts=[number(mechanism_title(key), found[key], stated[key], tolerance) for key in stated],
        detail=(
            f"E L = E||noise||^2 in closed form, by Definition 1, {budget_words()}, s^2 = 2; MVG "
            "at the smallest possible gamma, s/2. Otherwise L does not depend on the data. The "
            f"classic Gaussian's loss is {ratio:.3g} times the analytic Gaussian's, whatever cells "
            "are counted, but the paper states the same loss for both. With s^2 = 1 (r1-s2), their "
            "losses and R1SMG's would be half as large. "
            f"{_fewer_cells(found, stated, tolerance)}"
        ),
        calibration="published",
        sizes=Sizes(
            records=PICKUPS,
            epsilons=f"{count_epsilon('gaussian'):g} (R1SMG {count_epsilon('r1smg'):g})",
        ),
    )


def _fewer_cells(found: dict[str, float], stated: dict[str, float], tolerance: float) -> str:
    """In how many cells L would have to be counted for all but MVG to have the stated loss."""
    cells = count_query(PICKUPS).size
    ends = [
        [
            cells * (1 + side * tolerance) * stated[key] / found[key]
            for key in stated
            if key != "mvg"
        ]
        for side in (-1, 1)
    ]
    least, most = math.ceil(max(ends[0])), math.floor(min(ends[1]))
    if least > most:
        return "No number of cells in which L is counted brings all but MVG to the paper's numbers."
    return (
        f"Counted in {least} to {most} of the {cells} cells, L would be within the tolerance for "
        f"all but MVG; with at most {LARGEST_COUNT} pickups each, these hold "
        f"at most {most * LARGEST_COUNT:,} of the {PICKUPS:,} pickups."
    )


def _paper_noise(key: str, epsilon: float | None = None, calibration: str = "published"):
    """A mechanism at the count query, MVG with the smallest gamma.

    At its epsilon of Figure 5, unless another one is given.
    """
    at = setting(f"r1smg2024-count-{count_epsilon(key):g}")
    query = replace(at.query, frobenius_bound=at.query.l2_sensitivity / 2)
    budget = at.budget if epsilon is None else replace(at.budget, epsilon=epsilon)
    return calibrated(key, query, budget, calibration)


@functools.cache
def implied_by_loss(key: str, calibration: str) -> Implied:
    """The epsilon at which a mechanism has the mean loss that the paper states for it."""
    return in_closed_form(
        lambda epsilon: _paper_noise(key, epsilon, calibration).expected_loss(),
        STATED_LOSSES[key],
    )


@judge(studies=("count_query",))
def loss_shape(results: Results, *, others: list[str], bell: float, margin: float) -> Finding:
    """Figure 5: skewness and kurtosis of L about the mean."""
    rows = official_counts(results.rows)
    frames = by_mechanism(rows, others, "loss")
    values = {key: frame["value"].to_numpy(float) for key, frame in frames.items()}
    effects = {
        f"{word} minus {mechanism_title(key)}'s": bootstrapped(
            values["r1smg"], values[key], statistic
        )
        for key in others
        for word, statistic in (("skewness", scipy.stats.skew), ("kurtosis", scipy.stats.kurtosis))
    }
    bells = []
    for key in others:
        loss = noise_of(key, 89).loss()
        shape = (loss.central_skewness, loss.central_kurtosis - 3)
        bells.append(
            statement(
                f"{mechanism_title(key)} bell-shaped",
                max(shape) <= bell,
                f"skewness {shape[0]:.2g}, excess kurtosis {shape[1]:.2g} exactly",
            )
        )
    return Finding(
        parts=[*order(effects, margin=margin), *bells],
        detail=(
            f"Moments about the mean over trials, {budget_words()}, with bootstrap intervals of "
            "the differences; the others' own shape in closed form. The shape of L depends "
            "neither on the data nor on the scale of the noise."
        ),
        calibration="published",
        sizes=budget_sizes(frames["r1smg"]),
    )
