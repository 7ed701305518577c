"""Principal components of a private covariance, r1smg2024 Section 7.2: Figure 6 and its verdicts.

The figure shows the run's main data set; claims are judged on Swarm Behaviour only. Those about the
query, its noise and the stability of accuracy are judged in closed form.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from claims.comparisons import equal, number, order, statement, universal
from claims.intervals import Mean, paired
from claims.judged_rows import (
    LEVELS,
    calibrated,
    number_of,
    official_study,
    ok_rows,
    pick,
    select,
)
from claims.judges import Count, Epsilon, Positive, judge
from claims.verdicts import Finding, Sizes
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.query.words import rounded_down
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.r1smg2024.noise_only import noise_of
from paper_figures.selections import failed_mechanisms, main_dataset
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    look,
    mechanism_title,
)
from papers.r1smg2024 import (
    PCA_ACCURACY,
    PCA_DELTA,
    PCA_EPSILONS,
    PCA_FEATURES,
    PCA_RATIO,
    PCA_RECORDS,
)
from papers.r1smg2024 import setting as stated_setting
from runs.results import Results

# The paper's data set and the shape of its covariance.
PAPER_DATASET = "swarm"
SHAPE = "2400x2400"
# Deviations are differences of variances of features in [-1, 1], so they have no unit.
METRICS = {
    "total_deviation": "total deviation (variance)",
    "leading_deviation": "variance lost, first {k}",
    "accuracy": "test accuracy",
}
# One column of panels has mechanisms made for covariances, the other noise for any matrix. R1SMG,
# which the paper compares with all others, is in both.
MADE_FOR_COVARIANCES = ("mod-sulq", "analyze-gauss", "wishart", "ppca")
FAMILIES = {
    "noise on the covariance": lambda name: name not in MADE_FOR_COVARIANCES,
    "made for covariances, and R1SMG": lambda name: name in (*MADE_FOR_COVARIANCES, "r1smg"),
}
Metric = Literal["accuracy", "leading_deviation", "total_deviation"]
# Signs that make R1SMG's lead positive if it is ahead: a larger accuracy, a smaller deviation.
SIGNS = {"accuracy": 1.0, "leading_deviation": -1.0, "total_deviation": -1.0}
# The metric of the variance by which a deviation is divided.
UNITS = {"leading_deviation": "leading_variance", "total_deviation": "variance"}
CLASSIFIER = "linear SVM on 20 components"


def paper_axis(rows: pd.DataFrame) -> pd.Series:
    """Return the position of each row on the paper's epsilon axis.

    As in the paper, published R1SMG stands at 1e7 times its epsilon. At the exact calibration,
    which compares mechanisms at one budget, it stands at its own epsilon.
    """
    far_smaller = (rows["mechanism"] == "r1smg") & (rows["calibration"] == "published")
    return rows["epsilon"].where(~far_smaller, rows["epsilon"] * PCA_RATIO)


def drawn_epsilon(rows: pd.DataFrame) -> pd.Series:
    """Return `paper_axis`, with NaN outside the epsilons of the mechanisms other than R1SMG."""
    position = paper_axis(rows)
    reach = rows.loc[rows["mechanism"] != "r1smg", "epsilon"]
    inside = position.between(reach.min() * (1 - 1e-9), reach.max() * (1 + 1e-9))
    return position.where(inside)


@drawing("r1smg2024_fig6", kind="figures", needs=["pca"])
def figure_6(results: Results) -> Drawn:
    """Draw the deviations of the components and the accuracy over epsilon, at both calibrations."""
    dataset, source = main_dataset(results.rows, "pca")
    rows = pd.concat(ok_rows(results.rows, "pca", metric, dataset) for metric in METRICS)
    rows = rows.assign(drawn_at=drawn_epsilon(rows))
    private = rows[~rows["mechanism"].isin(LEVELS) & rows["drawn_at"].notna()]
    controls = rows[rows["mechanism"].isin(LEVELS)]
    levels = controls.groupby(["metric", "mechanism"])["value"].mean()
    if private.empty or "non-private" not in set(controls["mechanism"]):
        raise DrawingError("Figure 6 needs non-private and another mechanism in pca")
    keys = ["metric", "calibration", "mechanism", "epsilon", "drawn_at"]
    means = private.groupby(keys, sort=False)["value"].agg(["mean", "std", "size"]).reset_index()
    means["error"] = means["std"].fillna(0) / means["size"] ** 0.5
    means = means.sort_values("drawn_at", kind="stable")
    leading = int(ok_rows(results.rows, "pca", "components", dataset)["value"].iloc[0])
    titles = {metric: words.format(k=leading) for metric, words in METRICS.items()}
    figure = _draw_families(means, levels, titles, simulated=dataset != PAPER_DATASET)
    records = ok_rows(results.rows, "pca", "records", dataset)
    count, side = records["value"].iloc[0], records["shape"].iloc[0].split("x")[0]
    controls = levels.rename("mean").reset_index().assign(calibration="published")
    return Drawn(
        caption=(
            f"r1smg2024 Figure 6 on {source}: {count:.0f} records of {side} features in [-1, 1], "
            f"one replaced; mean and standard error of {means['size'].max()} releases, delta "
            f"{records['delta'].iloc[0]:g}. Deviation of all components; variance that the first "
            f"{leading} lose; accuracy of a linear SVM on them. As published (R1SMG at 1e-7 times "
            "the epsilon of the axis), and rescaled until the true delta there is the budget's."
        ),
        data=pd.concat([means, controls]),
        figure=figure,
        note=(
            f"The variance that the first {leading} components lose is the exact variance along "
            f"the best {leading} directions minus that along the released ones. PPCA releases only "
            f"the first {leading} components, so it has no total deviation. The paper gives R1SMG "
            "1e-7 times the epsilon of the others; at equal true privacy all have the epsilon of "
            "the axis. There all i.i.d. Gaussian noise is the same, so its curves coincide. The "
            f"paper's {PCA_ACCURACY:.4f} without noise is for {dataset_title(PAPER_DATASET)}, and "
            f"drawn beside no other data.{failed_mechanisms(results.rows, 'pca', dataset)}"
        ),
    )


def _draw_families(
    means: pd.DataFrame, levels: pd.Series, titles: dict[str, str], *, simulated: bool
) -> plt.Figure:
    """Draw a subfigure per family, with a row of panels per metric and a column per calibration.

    It shows the paper's accuracy unless the data are simulated, in which case its title says so.
    """
    families = {
        title: names
        for title, holds in FAMILIES.items()
        if (names := {name for name in means["mechanism"] if holds(name)})
    }
    calibrations = [name for name in CALIBRATION_LINES if name in set(means["calibration"])]
    figure = plt.figure(figsize=(PAGE, 6.0))
    parts = figure.subfigures(1, len(families), squeeze=False)[0]
    for part, (family, names) in zip(parts, families.items(), strict=True):
        axes = part.subplots(
            len(titles), len(calibrations), sharex=True, sharey="row", squeeze=False
        )
        for row, metric in zip(axes, titles, strict=True):
            for axis, calibration in zip(row, calibrations, strict=True):
                panel = select(means, metric=metric, calibration=calibration)
                _draw_panel(axis, panel[panel["mechanism"].isin(names)], levels, metric)
                # All families share one scale.
                axis.set_ylim(_limits(means, levels, metric, simulated=simulated))
            if part is parts[0]:
                row[0].set_ylabel(titles[metric])
        for axis, calibration in zip(axes[0], calibrations, strict=True):
            axis.set_title(CALIBRATION_TITLES[calibration], fontsize=7)
        for axis in axes[-1]:
            axis.set_xlabel("epsilon")
        if not simulated:
            _mark_paper(axes[-1, 0])
        part.suptitle(family, fontsize=8)
        entries = entries_of(axes.flat)
        title = look("r1smg").title
        less = f"{title} (left: epsilon x {1 / PCA_RATIO:g})"
        words = [less if each == title else each for each in entries]
        part.legend(entries.values(), words, loc="outside lower center", ncols=2, fontsize=6)
    if simulated:
        words = f"simulated data, not the paper's {dataset_title(PAPER_DATASET)}"
        figure.suptitle(words, fontsize=9, color="#B22222")
    return figure


def _draw_panel(axis: plt.Axes, panel: pd.DataFrame, levels: pd.Series, metric: str) -> None:
    for control in LEVELS:
        if (metric, control) in levels.index:
            style = look(control)
            axis.axhline(
                levels[metric, control], color=style.colour, linestyle=":", label=style.title
            )
    for mechanism in legend_order(panel["mechanism"]):
        line = select(panel, mechanism=mechanism)
        axis.errorbar(
            line["drawn_at"],
            line["mean"],
            yerr=line["error"],
            elinewidth=0.7,
            **look(mechanism).line,
        )


def _limits(
    means: pd.DataFrame, levels: pd.Series, metric: str, *, simulated: bool
) -> tuple[float, float]:
    """Return the limits of a metric's axis, which leave a margin around all that is drawn."""
    values = [*select(means, metric=metric)["mean"], *levels.get(metric, [])]
    if metric == "accuracy" and not simulated:
        values.append(PCA_ACCURACY)
    margin = 0.05 * (max(values) - min(values) or 1)
    return min(values) - margin, max(values) + margin


def _mark_paper(axis: plt.Axes) -> None:
    """Mark the paper's accuracy without noise at the right end of the published panel."""
    place = axis.get_yaxis_transform()
    axis.plot(0.985, PCA_ACCURACY, "*", color="black", markersize=7, transform=place, clip_on=False)
    words = f"paper, non-private: {PCA_ACCURACY:.4f}"
    axis.text(0.93, PCA_ACCURACY, words, ha="right", va="center", fontsize=5.5, transform=place)


def official_components(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's query, the covariance of Swarm Behaviour.

    Raises:
        CannotJudge: The run has none.
    """
    return official_study(rows, "pca", about="Swarm Behaviour", shape=SHAPE, delta=PCA_DELTA)


@judge(studies=("pca",))
def exact_components(results: Results, *, tolerance: float) -> Finding:
    """Judge Section 7.2: the accuracy on the non-private components."""
    rows = official_components(results.rows)
    ours, records, dropped = (
        number_of(rows, metric=metric, mechanism="non-private")
        for metric in ("accuracy", "records", "records_dropped")
    )
    return Finding(
        parts=(number("accuracy", ours, PCA_ACCURACY, tolerance),),
        detail=(
            f"{records:.0f} records ({dropped:.0f} with an empty cell left out), features scaled "
            "by their extremes, covariance not centred, linear SVM with squared hinge loss and "
            "penalty 1, one random split."
        ),
        calibration="published",
        sizes=Sizes(records=int(records), network=CLASSIFIER),
    )


@judge(studies=("pca",))
def component_order(
    results: Results,
    *,
    metrics: list[Metric],
    close: list[str],
    behind: list[str],
    margin: float,
) -> Finding:
    """Judge Figure 6: at the paper's epsilons R1SMG is close to some and far ahead of others.

    Args:
        close: Mechanisms that R1SMG is said to be close to.
        behind: Mechanisms that R1SMG is said to beat.
    """
    rows = official_components(results.rows)
    leads, ties = (
        {name: effect for key in keys for name, effect in _leads_over(rows, key, metrics).items()}
        for keys in (behind, close)
    )
    return Finding(
        parts=[*order(leads, margin=margin), *equal(ties, margin=margin)],
        detail=(
            f"Official data, epsilon {PCA_EPSILONS[0]:g} to {PCA_EPSILONS[-1]:g} (R1SMG's "
            f"{PCA_RATIO:g} times smaller), delta {PCA_DELTA:g}; deviations as a share of the "
            "variance. R1SMG's lead over every other mechanism, over trials."
        ),
        calibration="published",
        sizes=Sizes(
            trials=min(effect.trials for effect in (leads | ties).values()),
            network=CLASSIFIER,
            epsilons=f"{PCA_EPSILONS[0]:g} to {PCA_EPSILONS[-1]:g}",
        ),
    )


def _leads_over(rows: pd.DataFrame, key: str, metrics: list[str]) -> dict[str, Mean]:
    """Return R1SMG's lead over `key` for every metric and every epsilon of the paper."""
    effects, published = {}, pick(rows, calibration="published")
    for metric in metrics:
        unit = number_of(rows, metric=UNITS[metric]) if metric in UNITS else 1.0
        # R1SMG's position is a product, which rounding may shift slightly.
        found = select(published, metric=metric)
        scaled = found.assign(
            position=paper_axis(found).round(9), value=SIGNS[metric] * found["value"] / unit
        )
        for epsilon in PCA_EPSILONS:
            both = (pick(scaled, mechanism=name, position=epsilon) for name in ("r1smg", key))
            name = f"{mechanism_title(key)}, {metric.replace('_', ' ')}, epsilon {epsilon:g}"
            effects[name] = paired(*both)
    return effects


@judge
def component_sensitivity(*, stated: Positive, tolerance: float) -> Finding:
    """Judge Section 7.2: the sensitivity to one replaced record of Swarm Behaviour.

    Records lie in [-1, 1]^2400.
    """
    size = PCA_FEATURES
    one = np.ones(size)
    other = np.where(np.arange(size) % 2, 1.0, -1.0)
    # ||x x^T - y y^T||^2 = |x|^4 + |y|^4 - 2 (x.y)^2, at most 2 size^2.
    change = math.sqrt(2 * size**2 - 2 * (one @ other) ** 2) / PCA_RECORDS
    return Finding(
        parts=[number("s", change, stated, tolerance)],
        detail="Two orthogonal corners of the box attain it; no pair in the box exceeds it.",
    )


@judge
def noise_of_components(*, others: list[str], much: Positive) -> Finding:
    """Judge Section 7.2: at epsilon / 1e7, R1SMG's noise on the covariance is below the others'.

    The magnitude of noise is its squared norm (Sections 1 and 7.1), here in expectation.

    Args:
        much: The largest ratio to the others' noise that counts as "much smaller".
    """
    parts = []
    for key in others:
        ratios = [_mean_square("r1smg", e / PCA_RATIO) / _mean_square(key, e) for e in PCA_EPSILONS]
        found = f"{min(ratios):.3g} to {max(ratios):.3g} times"
        parts.append(universal(f"below {key},", [ratio < 1 for ratio in ratios], found))
        much_below = [ratio <= much or None for ratio in ratios]
        parts.append(universal(f"much below {key},", much_below, found))
    return Finding(
        parts=parts,
        detail=(
            f"Mean square of the noise on one of 2400 x 2400 elements, epsilon "
            f"{PCA_EPSILONS[0]:g} to {PCA_EPSILONS[-1]:g}, R1SMG at 1e-7 of it, as published. A "
            "typical draw of R1SMG is smaller than its mean square."
        ),
        calibration="published",
    )


def _mean_square(key: str, epsilon: float) -> float:
    """Return the mean square of published noise on one element of the covariance."""
    query = stated_setting(f"r1smg2024-pca-{PCA_EPSILONS[-1]:g}").query
    noise = calibrated(key, query, Budget(epsilon=epsilon, delta=PCA_DELTA))
    return noise.expected_loss() / query.size


def relative_spread(key: str, side: int) -> float:
    """Return the standard deviation of the loss over its mean."""
    loss = noise_of(key, side).loss()
    return math.sqrt(loss.variance) / loss.mean


@judge
def stable_accuracy(*, others: list[str], side: Count, bell: Positive) -> Finding:
    """Judge Section 7.2: a leptokurtic and right-skewed loss, and "the most stable" accuracy.

    Args:
        bell: The largest absolute skewness that counts as bell-shaped.
    """
    loss = noise_of("r1smg", side).loss()
    parts = [
        statement("leptokurtic,", loss.central_kurtosis > 3, f"{loss.central_kurtosis:.3g}"),
        statement("right-skewed,", loss.central_skewness > 0, f"{loss.central_skewness:.3g}"),
    ]
    skews = [abs(noise_of(key, side).loss().central_skewness) for key in others]
    found = f"skewness at most {max(skews):.2g}"
    parts.append(statement("the others bell-shaped,", max(skews) <= bell, found))
    ours, *theirs = (relative_spread(key, side) for key in ("r1smg", *others))
    parts += [
        statement(f"spread below {key},", ours < spread, f"{ours:.3g} against {spread:.2g}")
        for key, spread in zip(others, theirs, strict=True)
    ]
    return Finding(
        parts=parts,
        detail=f"Standard deviation of the loss over its mean, in closed form, M = {side**2}.",
        calibration="published",
    )


# Descriptions of the readings of zeta(delta) in MVG's theorem.
ZETAS = {"published": "zeta as printed", "sqrt": "zeta with a square root"}


def _setting_at_least_gamma(name: str):
    """Return the query of a setting, with the smallest possible gamma, s/2, and its budget.

    MVG's noise grows with gamma, which the paper does not state.
    """
    at = stated_setting(name)
    return replace(at.query, frobenius_bound=at.query.l2_sensitivity / 2), at.budget


@judge
def decomposition_bound(*, setting: str, stated: float, tolerance: float) -> Finding:
    """Judge Section 7.2: the largest bound that MVG's Theorem 3 can give there.

    The bound falls with gamma, and gamma >= s/2 for every query.
    """
    query, budget = _setting_at_least_gamma(setting)
    m = PCA_FEATURES
    return Finding(
        parts=[
            number(
                f"largest for any gamma, {words}",
                precision_bound(query, budget, zeta),
                stated,
                tolerance,
            )
            for zeta, words in ZETAS.items()
        ],
        detail=(
            f"{m} x {m}, s = {m} sqrt(2)/{PCA_RECORDS}, epsilon {budget.epsilon:g}, delta "
            f"{budget.delta:g}. The bound falls with gamma, and gamma >= s/2, where it has the "
            "values given."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{budget.epsilon:g}"),
    )


@judge
def epsilon_for_components(*, setting: str, needed: Epsilon) -> Finding:
    """Judge Section 7.2: below a stated epsilon MVG's noise exceeds every possible eigenvalue.

    The eigenvalues of a covariance of d features in [-1, 1] are at most d. Noise with d x d
    independent elements of standard deviation sigma becomes symmetric as (N + N^T)/2 (footnote 4).
    Off the diagonal, the symmetric noise has the variance sigma^2/2, and its spectral norm is about
    sqrt(2) sigma sqrt(d).
    """
    query, budget = _setting_at_least_gamma(setting)
    side = query.shape[0]

    def norm_over_eigenvalue(epsilon: float, zeta: str) -> float:
        noise = calibrated("mvg", query, replace(budget, epsilon=epsilon), zeta=zeta)
        return symmetric_norm(math.sqrt(noise.expected_loss() / query.size), side) / side

    return Finding(
        parts=[
            statement(
                f"noise hides every component below epsilon {needed:g}, {words}:",
                norm_over_eigenvalue(needed, zeta) > 1,
                f"noise is at least {rounded_down(norm_over_eigenvalue(needed, zeta), 2)} times "
                "the largest possible eigenvalue",
            )
            for zeta, words in ZETAS.items()
        ],
        detail=(
            "Spectral norm of MVG's noise with equal precision, made symmetric as in the paper's "
            f"footnote 4, {side} x {side}, delta "
            f"{budget.delta:g}, at the smallest possible gamma, s/2, and at epsilon "
            f"{needed:g} itself: below it there is more noise."
        ),
        calibration="published",
        sizes=Sizes(epsilons=f"{needed:g}"),
    )


def symmetric_norm(sigma: float, side: int) -> float:
    """Return the approximate spectral norm of (N + N^T)/2 for side x side normal elements N.

    The elements are independent, with standard deviation sigma.
    """
    return sigma * math.sqrt(2 * side)
