"""What mvg2018 shows of all three studies: Figure 4 (the share tau) and Table 6 (seconds)."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from claims.comparisons import equal, order, timed_apart
from claims.intervals import SHOWN, Mean, bootstrapped, ratio_words
from claims.judged_rows import LEVELS, required
from claims.judges import CannotJudge, Count, judge
from claims.verdicts import CONTRADICTED, NOT_RUN, Finding, Part, not_run
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mvg2018.compared_study import (
    MVG,
    WHOLE_QUERY,
    ComparedStudy,
    judged_treatment,
    kernels_of,
    mean_over_shares,
    select,
    treatment_title,
    with_kernel,
)
from paper_figures.mvg2018.comparison import METHOD
from paper_figures.mvg2018.comparison_findings import (
    KERNEL_TITLES,
    SETTING,
    Judged,
    difference,
    finding_per_kernel,
)
from paper_figures.mvg2018.component_draws import (
    RIGHT,
    SHARES,
    drawn_sizes,
    errors,
    over_shares,
)
from paper_figures.mvg2018.covariance import COVARIANCE
from paper_figures.mvg2018.covariance_draws import INFORMATIVE
from paper_figures.mvg2018.covariance_draws import errors as errors_of_records
from paper_figures.mvg2018.first_component import ANCHORS, FIRST_COMPONENT
from paper_figures.mvg2018.numbers import STATED_MILLISECONDS, STATED_RMSE
from paper_figures.mvg2018.regression import REGRESSION, control_errors
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    in_order,
    look,
    mechanism_title,
)
from runs.result_table import OK
from runs.results import Results
from studies.base.treatments import IID, SUBSPACE

STUDIES = (REGRESSION, FIRST_COMPONENT, COVARIANCE)
NAMES = tuple(study.name for study in STUDIES)
# Mechanisms, or sets of features, by study.
Others = dict[str, list[str]]
# By study that is judged by draws: its official data, its sets of features, and an error's draws.
DRAWN = {
    FIRST_COMPONENT.name: ("movement_aal", ANCHORS, lambda name, tau: errors(name, tau, 200_000)),
    COVARIANCE.name: (
        "cardiotocography",
        INFORMATIVE,
        lambda name, tau: errors_of_records("mvg", name, tau, 20_000),
    ),
}
_SET_COLOURS = ("#009E73", "#D55E00", "#0072B2", "#CC79A7", "#999933", "#56B4E9")
_SET_MARKERS = "Dos^vP"
_PAPER_MARKERS = "*X"
# Times the SVDs of MVG's covariances in all three studies.
TIMING_RUN = (
    "The cells of MVG in the three studies again: python -m runs redo reference --study regression "
    "first_component covariance --mechanism mvg, then config/reference.yaml"
)


@drawing("mvg2018_fig4", kind="figures", needs=NAMES)
def figure_4(results: Results) -> Drawn:
    """Error over tau, one line per set of informative features, one panel per study."""
    drawn = [study.drawn_rows(results.rows) for study in STUDIES]
    scores = required(
        pd.concat(
            select(study.scores(rows), mechanism=MVG)
            for study, (rows, _) in zip(STUDIES, drawn, strict=True)
        ),
        DrawingError("Figure 4 needs the mechanism mvg"),
    )
    lines = _by_draws(_over_shares(scores), set(scores["dataset"]))
    zero = control_errors(drawn[0][0], "rmse_of_zero")["value"].mean()
    levels = {
        study.name: study.scores(rows).query("mechanism in @LEVELS and treatment == ''")
        for study, (rows, _) in zip(STUDIES, drawn, strict=True)
    }
    calibrations = [name for name in CALIBRATION_LINES if name in set(scores["calibration"])]
    columns = [(study, kernel) for study in STUDIES for kernel in kernels_of(study.scores(scores))]
    figure, axes = plt.subplots(
        len(columns),
        len(calibrations),
        figsize=(PAGE, 0.5 + 1.7 * len(columns)),
        sharex=True,
        squeeze=False,
    )
    for row, (study, kernel) in zip(axes, columns, strict=True):
        own = with_kernel(lines[lines["study"] == study.name], kernel)
        for axis, calibration in zip(row, calibrations, strict=True):
            panel = own[own["calibration"] == calibration]
            _panel(axis, panel)
            _levels(axis, study, with_kernel(levels[study.name], kernel), zero)
            if study is REGRESSION:
                axis.set_yscale("log")
            elif study is FIRST_COMPONENT and calibration == "exact":
                # A thousandth of the random answer's error, and zero without noise.
                axis.set_yscale("symlog", linthresh=1e-4)
                axis.set_ylim(bottom=0)
            else:
                _zoom(axis, panel)
        title = f"{study.numeral}: {study.name.replace('_', ' ')}"
        title += f"\n{KERNEL_TITLES[kernel]}" if kernel else ""
        row[0].set_ylabel(f"{title}\n{study.score_symbol}", fontsize=7)
        # The kernels of a study share its legend.
        if (study, kernel) == next(each for each in columns if each[0] is study):
            handles, labels = row[0].get_legend_handles_labels()
            beside = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "fontsize": 6}
            row[-1].legend(handles, labels, **beside)
    for axis, calibration in zip(axes[0], calibrations, strict=True):
        axis.set_title(CALIBRATION_TITLES[calibration])
    for axis in axes[-1]:
        axis.set_xlabel("share tau")
    caption = (
        f"mvg2018 Figure 4 on {', '.join(source for _, source in drawn)}: MVG's error over tau, "
        "the share of the precision that the named features split. Mean over "
        f"{scores['trial'].nunique()} trials with 95% intervals; II and III as published by "
        "200,000 and 20,000 draws. The regression has a row per kernel. Epsilon "
        f"{scores['epsilon'].iloc[0]:g}, delta 1/N, one record replaced. Columns: noise as "
        "published, and at equal true privacy."
    )
    words = "; ".join(f"{study.numeral}: {study.score_words}" for study in STUDIES)
    note = (
        f"{words}. The paper does not state gamma; its largest value for data in [-1, 1] is used. "
        "At equal true privacy the noise is rescaled until its true delta at epsilon is the "
        "budget's. Black markers are the paper's errors, at a tau that it does not state; MVG-1's "
        "is that without noise in Table 3 and the 0.004 that the text adds. Other markers are "
        "shifted sideways where they would hide each other. Every panel has its own scale. The "
        "claims about this figure are judged by paired differences, which can be clear even where "
        "the intervals shown overlap."
    )
    return Drawn(caption, lines, figure, note)


def _over_shares(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and 95% interval over trials of every treatment and share."""
    keys = ["study", "kernel", "calibration", "treatment", "share"]
    # Equal precision has no share and two studies no kernel; they are groups as well.
    groups = scores.groupby(keys, sort=False, dropna=False)["value"]
    return pd.DataFrame(
        [(*key, (mean := Mean(values)).value, *mean.interval(SHOWN)) for key, values in groups],
        columns=[*keys, "mean", "low", "high"],
    )


def _by_draws(lines: pd.DataFrame, datasets: set[str]) -> pd.DataFrame:
    """The lines of II and III as published, by the draws that their verdicts rest on.

    Of other data than the paper's there are no draws.
    """
    lines = lines.copy()
    own = (lines["calibration"] == "published") & lines["study"].isin(DRAWN)
    for index, row in lines[own].iterrows():
        dataset, known, draw = DRAWN[row["study"]]
        if dataset in datasets and row["treatment"] in (IID, *known):
            # Equal precision has no share.
            share = SHARES[0] if pd.isna(row["share"]) else row["share"]
            mean = Mean(draw(row["treatment"], share))
            lines.loc[index, ["mean", "low", "high"]] = mean.value, *mean.interval(SHOWN)
    return lines


def _zoom(axis, panel: pd.DataFrame) -> None:
    """An axis around MVG's errors, which are far from the one without noise."""
    low, high = panel["low"].min(), panel["high"].max()
    if low > 0.5 * high:
        axis.set_ylim(low - 0.3 * (high - low), high + 0.3 * (high - low))
        text = {"fontsize": 6, "va": "bottom", "transform": axis.transAxes}
        text |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
        axis.text(0.02, 0.02, "without noise: 0, below this axis", **text)


def _levels(axis, study: ComparedStudy, controls: pd.DataFrame, zero: float) -> None:
    """Lines at the errors without noise, of a random answer, and of predicting zero."""
    for mechanism, dashes in zip(LEVELS, ((1, 1), (4, 2)), strict=True):
        own = select(controls, mechanism=mechanism, calibration="published")
        if len(own):
            mean, style = own["value"].mean(), look(mechanism)
            if mechanism == study.floor[1] and study.exact_floor is not None:
                mean = study.exact_floor
            axis.axhline(mean, color=style.colour, dashes=dashes, linewidth=0.8, label=style.title)
    if study is REGRESSION and not math.isnan(zero):
        axis.axhline(zero, color="#bbbbbb", dashes=(6, 3), label="predict zero")
        for (name, error), marker in zip(STATED_RMSE.items(), _PAPER_MARKERS, strict=True):
            label = f"paper, {name}: {error:.3g}"
            axis.plot(1, error, marker, color="black", linestyle="none", zorder=5, label=label)


def _panel(axis, panel: pd.DataFrame) -> None:
    groups = list(panel[panel["share"].notna()].groupby("treatment", sort=False))
    for index, (name, line) in enumerate(groups):
        line = line.sort_values("share", kind="stable")
        axis.errorbar(
            line["share"] + 0.01 * (index - (len(groups) - 1) / 2),
            line["mean"],
            yerr=(line["mean"] - line["low"], line["high"] - line["mean"]),
            color=_SET_COLOURS[index % len(_SET_COLOURS)],
            marker=_SET_MARKERS[index % len(_SET_MARKERS)],
            linewidth=0.8,
            capsize=1.5,
            label=treatment_title(name),
        )
    for mean in panel[panel["treatment"] == IID]["mean"]:
        axis.axhline(
            mean, color="#6F4C9B", linestyle="-", linewidth=0.8, label=treatment_title(IID)
        )
    if np.ptp(panel["mean"]) <= 1e-6 * panel["mean"].abs().max():
        # On white, because the intervals fill the panel.
        white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        words = "all choices coincide"
        axis.text(0.5, 0.7, words, transform=axis.transAxes, ha="center", bbox=white)


def release_seconds(results: Results, study: ComparedStudy) -> pd.DataFrame:
    """Seconds of every release of the whole query as published, on the data set to draw."""
    rows, _ = study.drawn_rows(results.rows)
    timings = results.timings
    own = (timings["study"] == study.name) & (timings["dataset"].isin(rows["dataset"]))
    own &= (timings["metric"] == "release_seconds") & (timings["status"] == OK)
    chosen = timings[own & (timings["calibration"] == "published")]
    chosen = chosen.assign(treatment=chosen["treatment"].fillna(WHOLE_QUERY))
    return chosen[chosen["treatment"] != SUBSPACE]


@drawing("mvg2018_table6", kind="tables", needs=NAMES, timings=NAMES)
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
            "mechanism": mechanism_title(mechanism),
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
        "record replaced. Seconds depend on the machine; a factor of 2 decides no order."
    )
    note = (
        "MVG's directions are the axes (in Experiment I also private principal directions), which "
        "cost no matrix product. The paper derives MVG's factors from a Cholesky decomposition or "
        "an SVD of both covariances, which is not in these times (mvg-t6-cost has it). Our copy of "
        "the paper lacks some columns."
    )
    return Drawn(caption, pd.DataFrame(records), note=note)


@judge(studies=NAMES, timings=NAMES)
def study_times(
    results: Results,
    *,
    faster: Others,
    slower: Others,
    tolerance: float,
) -> Finding:
    """Table 6: the order of seconds per release as published, with an SVD of both covariances.

    Cells run at different times, and the machine's state may differ between them: an order is
    decided only where the medians differ by more than the tolerance.
    """
    others = {"faster": faster, "slower": slower}
    drawn = [_mvg_seconds(results, study) for study in STUDIES]
    decomposed = [_svd_seconds(results, study) for study in STUDIES]
    medians = ", ".join(f"{1e3 * np.median(seconds):.3g}" for seconds in drawn)
    if None in decomposed:
        return not_run("This run did not time the SVDs of Section 6.3.", TIMING_RUN)
    both = [own + svd for own, svd in zip(drawn, decomposed, strict=True)]
    with_svd = ", ".join(f"{1e3 * seconds:.3g}" for seconds in decomposed)
    scores = REGRESSION.scores(REGRESSION.judged_rows(results.rows))
    return Finding(
        parts=_cost_parts(results, both, others, tolerance),
        detail=(
            f"MVG in I, II and III takes {medians} ms along given directions, and {with_svd} ms "
            "for an SVD of both covariances. Median milliseconds of a release on one core of this "
            "machine. Parts are ratios of medians with bootstrapped intervals; medians within a "
            f"factor of {1 + tolerance:g} decide nothing. Our JL applies its random matrix by "
            "a singular value decomposition of the records. Our exponential mechanism draws "
            "directly and PPCA from a short Markov chain, where the paper samples with emcee."
        ),
        calibration="published",
        sizes=replace(REGRESSION.sizes(scores), dataset="liver_disorders"),
        other_sizes=[
            replace(study.sizes(study.scores(study.judged_rows(results.rows))), dataset=dataset)
            for study, dataset in (
                (FIRST_COMPONENT, "movement_aal"),
                (COVARIANCE, "cardiotocography"),
            )
        ],
    )


def _mvg_seconds(results: Results, study: ComparedStudy) -> np.ndarray:
    """Seconds of MVG's releases along given directions."""
    right = judged_treatment(study.scores(study.judged_rows(results.rows)), study)
    return _of_one_treatment(release_seconds(results, study), MVG, right)


def _svd_seconds(results: Results, study: ComparedStudy) -> float | None:
    """Seconds of one SVD of both of MVG's covariances, or None where they were not measured."""
    own = select(results.timings, study=study.name, mechanism=MVG, metric="svd_seconds")
    return float(own["value"].median()) if len(own) else None


def _cost_parts(
    results: Results,
    ours: list[np.ndarray],
    others: dict[str, Others],
    tolerance: float,
) -> tuple[Part, ...]:
    """One part per other mechanism and study."""
    effects, absent = {}, []
    for study, mvg in zip(STUDIES, ours, strict=True):
        seconds = release_seconds(results, study)
        for kind, by_study in others.items():
            for key in by_study[study.name]:
                other = _of_one_treatment(seconds, key, WHOLE_QUERY)
                name = f"{study.numeral}: {mechanism_title(key)} {kind} than MVG"
                if not len(other):
                    absent.append(Part(name, NOT_RUN))
                    continue
                pair = (mvg, other) if kind == "faster" else (other, mvg)
                effects[name] = bootstrapped(*map(np.log, pair), np.median)
    apart = 1 + tolerance
    parts = order(effects, margin=math.log(apart), shown=ratio_words)
    parts = [timed_apart(part, effects[part.name], apart) for part in parts]
    # Our JL, exponential mechanism and PPCA are not the paper's programs: that one of them is the
    # faster one says nothing about those.
    other = "the paper's program was not run"
    return tuple(
        replace(part, verdict=NOT_RUN, reason=other)
        if "slower" in part.name and part.verdict == CONTRADICTED
        else part
        for part in (*parts, *absent)
    )


@judge(studies=("regression",))
def comparable_directions(
    results: Results, *, others: Others, margins: dict[str, float], draws: Count
) -> Finding:
    """Figure 4, left and middle: another set of features does about as well as the right one."""

    def judged(scores: pd.DataFrame) -> Judged:
        published = select(scores, calibration="published", mechanism=MVG)
        right = judged_treatment(scores, REGRESSION)
        means = {
            name: mean_over_shares(select(published, treatment=name))
            for name in (right, *others[REGRESSION.name])
        }
        ours = means.pop(right)
        apart = required(
            {name: difference(frame, ours) for name, frame in means.items() if len(frame)},
            CannotJudge("The results of the regression have no other set of features"),
        )
        words = f"{treatment_title(right)} {ours['value'].mean():.4g}"
        return _nearest(REGRESSION, apart, right, margins), words

    right = over_shares(RIGHT, draws)
    drawn = {name: Mean(over_shares(name, draws) - right) for name in others[FIRST_COMPONENT.name]}
    detail = (
        f"{SETTING}. The error is the mean over all shares tau. II is judged by "
        f"{draws:,} draws of the noise: {treatment_title(RIGHT)} {right.mean():.4f}."
    )
    middle = _nearest(FIRST_COMPONENT, drawn, RIGHT, margins)
    finding = finding_per_kernel(results, REGRESSION, judged, detail, middle)
    return replace(
        finding,
        sizes=replace(finding.sizes, dataset="liver_disorders"),
        other_sizes=[drawn_sizes(draws)],
    )


def _nearest(
    study: ComparedStudy, apart: Mapping[str, Mean], right: str, margins: Mapping[str, float]
) -> list[Part]:
    """Whether the nearest of several sets of features is within the margin of the right one."""
    name = min(apart, key=lambda each: abs(apart[each].value))
    words = f"{study.numeral}: {treatment_title(name)} above {treatment_title(right)}"
    return equal({words: apart[name]}, margin=margins[study.name])


def _of_one_treatment(seconds: pd.DataFrame, mechanism: str, treatment: str) -> np.ndarray:
    """Seconds of a mechanism's releases with one treatment, at its least share where it has any.

    The share does not change the work, and one release per trial keeps the samples independent.
    """
    own = select(seconds, mechanism=mechanism, treatment=treatment)
    least = own["share"].isna() | (own["share"] == own["share"].min())
    return own[least]["value"].to_numpy(float)
