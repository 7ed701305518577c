"""What mvg2018 shows of all three studies: Figure 4 (the share tau) and Table 6 (seconds)."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.contract.treatments import IID, SUBSPACE
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.ledger import (
    CONTRADICTED,
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    Claim,
    Finding,
    judge,
)
from paper_figures.mvg2018.compared_study import (
    MVG,
    WHOLE_QUERY,
    ComparedStudy,
    judged_treatment,
    select,
)
from paper_figures.mvg2018.comparison import METHOD
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.first_component import FIRST_COMPONENT
from paper_figures.mvg2018.regression import REGRESSION, control_errors
from paper_figures.results import Results
from paper_figures.style import CALIBRATION_LINES, CALIBRATION_TITLES, PAGE, in_order
from paper_figures.verdict_rules import (
    bootstrap_difference,
    listed,
    mean_interval,
    verdict_of_parts,
)
from papers.mvg2018 import STATED_MILLISECONDS
from runs.rows import OK

STUDIES = (REGRESSION, FIRST_COMPONENT, COVARIANCE)
EXPERIMENTS = ("regression", "first_component", "covariance")
_SET_COLOURS = ("#009E73", "#D55E00", "#0072B2", "#CC79A7", "#999933", "#56B4E9")
_SET_MARKERS = "Dos^vP"


@drawing("mvg2018_fig4", kind="figures", needs=EXPERIMENTS)
def figure_4(results: Results) -> Drawn:
    """Error over tau, one line per set of informative features, one panel per study."""
    drawn = [study.drawn_rows(results.rows) for study in STUDIES]
    scores = pd.concat(
        select(study.scores(rows), mechanism=MVG)
        for study, (rows, _) in zip(STUDIES, drawn, strict=True)
    )
    if scores.empty:
        raise DrawingError("Figure 4 needs the mechanism mvg")
    lines = _over_shares(scores)
    zero = control_errors(drawn[0][0], "rmse_of_zero")["value"].mean()
    calibrations = [name for name in CALIBRATION_LINES if name in set(scores["calibration"])]
    figure, axes = plt.subplots(
        len(calibrations),
        3,
        figsize=(PAGE, 0.9 + 1.9 * len(calibrations)),
        sharex=True,
        squeeze=False,
    )
    for column, study in enumerate(STUDIES):
        for axis, calibration in zip(axes[:, column], calibrations, strict=True):
            own = (lines["experiment"] == study.name) & (lines["calibration"] == calibration)
            _panel(axis, lines[own])
            if study is REGRESSION and not math.isnan(zero):
                axis.axhline(zero, color="#888888", dashes=(6, 3), label="predict zero")
        title = f"{study.numeral}: {study.name.replace('_', ' ')}\n{study.score_symbol}"
        axes[0, column].set_title(title)
        axes[-1, column].set_xlabel("tau")
        handles, labels = axes[0, column].get_legend_handles_labels()
        axes[-1, column].legend(
            handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.28), fontsize=6
        )
    for axis, calibration in zip(axes[:, 0], calibrations, strict=True):
        axis.set_ylabel(CALIBRATION_TITLES[calibration])
    caption = (
        f"mvg2018 Figure 4 on {', '.join(source for _, source in drawn)}: MVG's error over tau, "
        "the share of the precision that the named features get in equal parts. Mean over "
        f"{scores['trial'].nunique()} trials with 95% intervals; dotted: equal precision "
        f"({IID}); dashed: predicting zero. Epsilon {scores['epsilon'].iloc[0]:g}, delta 1/N, one "
        "record replaced. Rows: noise as published, and at equal true privacy."
    )
    words = "; ".join(f"{study.numeral}: {study.score_words}" for study in STUDIES)
    note = (
        f"{words}. The paper does not state gamma; its largest value for data in [-1, 1] is used. "
        "At equal true privacy the noise is rescaled until its true delta at epsilon is the "
        "budget's. Markers are shifted sideways where they would hide each other. Every panel has "
        "its own scale. The claims about this figure are judged by paired differences over trials, "
        "which can be clear where the intervals shown overlap."
    )
    return Drawn(caption, lines, figure, note)


def _over_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and 95% interval over trials of every treatment and share."""
    keys = ["experiment", "calibration", "treatment", "share"]
    # Equal precision has no share, and is a group as well.
    groups = scores.groupby(keys, sort=False, dropna=False)["value"]
    return pd.DataFrame(
        [(*key, *mean_interval(values)[:3]) for key, values in groups],
        columns=[*keys, "mean", "low", "high"],
    )


def _panel(axis, panel: pd.DataFrame) -> None:
    groups = list(panel[panel["share"].notna()].groupby("treatment", sort=False))
    for index, (name, line) in enumerate(groups):
        line = line.sort_values("share")
        axis.errorbar(
            line["share"] + 0.01 * (index - (len(groups) - 1) / 2),
            line["mean"],
            yerr=(line["mean"] - line["low"], line["high"] - line["mean"]),
            color=_SET_COLOURS[index % len(_SET_COLOURS)],
            marker=_SET_MARKERS[index % len(_SET_MARKERS)],
            linewidth=0.8,
            capsize=1.5,
            label=name,
        )
    for mean in panel[panel["treatment"] == IID]["mean"]:
        axis.axhline(mean, color="black", linestyle=":", label=IID)
    if np.ptp(panel["mean"]) <= 1e-6 * panel["mean"].abs().max():
        # On white, because the intervals fill the panel.
        white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        words = "all lines coincide"
        axis.text(0.5, 0.7, words, transform=axis.transAxes, ha="center", bbox=white)


def release_seconds(results: Results, study: ComparedStudy) -> pd.DataFrame:
    """Seconds of every release of the whole query as published, on the data set to draw."""
    rows, _ = study.drawn_rows(results.rows)
    timings = results.timings
    own = (timings["experiment"] == study.name) & (timings["dataset"].isin(rows["dataset"]))
    own &= (timings["metric"] == "release_seconds") & (timings["status"] == OK)
    chosen = timings[own & (timings["calibration"] == "published")]
    chosen = chosen.assign(treatment=chosen["treatment"].fillna(WHOLE_QUERY))
    return chosen[chosen["treatment"] != SUBSPACE]


@drawing("mvg2018_table6", kind="tables", needs=EXPERIMENTS, timings=EXPERIMENTS)
def table_6(results: Results) -> Drawn:
    """Milliseconds of one release in the three studies."""
    milliseconds = pd.DataFrame(
        {
            study.name: 1e3 * release_seconds(results, study).groupby("mechanism")["value"].median()
            for study in STUDIES
        }
    )
    names = REGRESSION.methods | FIRST_COMPONENT.methods
    records = [
        {
            METHOD: names.get(mechanism, ""),
            "mechanism": mechanism,
            **{f"Exp. {study.numeral}": row[study.name] for study in STUDIES},
            "paper": STATED_MILLISECONDS.get(names.get(mechanism, ""), ""),
        }
        for mechanism, row in milliseconds.loc[in_order(milliseconds.index)].iterrows()
    ]
    drawn = [study.drawn_rows(results.rows) for study in STUDIES]
    caption = (
        f"mvg2018 Table 6 on {', '.join(source for _, source in drawn)}: wall-clock milliseconds "
        "of one release on one core, median over trials and treatments, noise as published; "
        f"calibration is not timed. Epsilon {drawn[0][0]['epsilon'].iloc[0]:g}, delta 1/N, one "
        "record replaced. Seconds depend on the machine; their order can be compared."
    )
    note = (
        "MVG's directions are the axes (in Experiment I also private principal directions), which "
        "cost no matrix product; the paper's MVG takes an SVD of both covariances. The paper's "
        "numbers are those that the text at hand still has; it lost some columns."
    )
    return Drawn(caption, pd.DataFrame(records), note=note)


@judge(experiments=EXPERIMENTS, timings=EXPERIMENTS)
def experiment_times(claim: Claim, results: Results) -> Finding:
    """Table 6: the order of seconds per release, as published.

    Cells run at different times, and the machine's state may differ between them: an order is
    contradicted only where the medians differ by more than the tolerance. Arguments: faster and
    slower than MVG, {experiment: [mechanisms]} each.
    """
    apart, words, absent = [], [], []
    for study in STUDIES:
        seconds = release_seconds(results, study)
        right = judged_treatment(study.scores(study.judged_rows(results.rows)), study)
        ours = _of_one_treatment(seconds, MVG, right)
        medians = [f"{MVG} {1e3 * np.median(ours):.3g}"]
        for kind in ("faster", "slower"):
            for key in claim.arguments[kind][study.name]:
                other = _of_one_treatment(seconds, key, WHOLE_QUERY)
                if not len(other):
                    absent.append(f"{key} ({study.name})")
                    continue
                pair = (ours, other) if kind == "faster" else (other, ours)
                apart.append(bootstrap_difference(*map(np.log, pair), np.median))
                medians.append(f"{key} {1e3 * np.median(other):.3g}")
        words.append(f"{study.name}: {', '.join(medians)}")
    missing = f" Not in this run: {listed(absent)}." if absent else ""
    supported = all(found.low > 0 for found in apart)
    tie = math.log1p(claim.tolerance)
    beyond = [found._replace(mean=found.mean + tie, high=found.high + tie) for found in apart]
    opposed = any(found.negative(len(apart)) for found in beyond)
    order = CONTRADICTED if opposed else REPRODUCED if supported else NOT_REPRODUCED
    return Finding(
        ours="; ".join(words) + " ms",
        verdict=verdict_of_parts(order, *[NOT_RUN] * bool(absent)),
        detail=(
            "Median milliseconds of a release on one core of this machine. The order is judged by "
            "95% bootstrap intervals of the ratios of medians; "
            f"{sum(found.low > 0 for found in apart)} of {len(apart)} support it. Medians within a "
            f"factor of {1 + claim.tolerance:g} never contradict it. Our MVG draws along the axes "
            "without a matrix product, where the paper's takes an SVD of both covariances. Our JL "
            "applies its random matrix by a singular value decomposition of the records. Our "
            "exponential mechanism draws directly and PPCA from a short Markov chain, where the "
            f"paper samples with emcee.{missing}"
        ),
        calibration="published",
        trials=min((found.trials for found in apart), default=None),
    )


def _of_one_treatment(seconds: pd.DataFrame, mechanism: str, treatment: str) -> np.ndarray:
    """Seconds of a mechanism's releases with one treatment, at its least share where it has any.

    The share does not change the work, and one release per trial keeps the samples independent.
    """
    own = select(seconds, mechanism=mechanism, treatment=treatment)
    least = own["share"].isna() | (own["share"] == own["share"].min())
    return own[least]["value"].to_numpy(float)
