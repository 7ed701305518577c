"""Draw Figure 4 and Tables 3 to 6 of mvg2018.

Figure 4 and Tables 3 to 5 have the errors of the three studies, and Table 6 has the times of a
release. The tables compare MVG with other mechanisms at its best share tau. As in the paper, the
share is chosen with the data, which favours MVG. The paper does not state gamma, so its largest
value on the range of the data is used. The exact calibration bounds every other choice of gamma,
because its noise is the least with which the claimed guarantee holds.
"""

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from claims.intervals import SHOWN, Mean
from claims.judged_rows import LEVELS, listed, ok_rows, required, select
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mvg2018.compared_study import (
    COVARIANCE,
    FIRST_COMPONENT,
    KERNEL_TITLES,
    MVG,
    REGRESSION,
    STUDIES,
    WHOLE_QUERY,
    ComparedStudy,
    difference,
    kernels_of,
    right_treatment,
    seconds_of,
    select_best_share,
    select_kernel,
    treatment_title,
)
from paper_figures.mvg2018.draws import COMPONENT, RECORDS, SHARES, DrawnStudy
from paper_figures.selections import failed_mechanisms
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    look,
    mechanism_title,
)
from papers.mvg2018 import STATED_ABOVE_MVG, STATED_MILLISECONDS, STATED_RMSE
from runs.results import Results
from studies.base.treatments import IID, PCA

# The number of draws behind the lines as published, by study.
_DRAWS = {COMPONENT: 200_000, RECORDS: 20_000}
_SET_COLOURS = ("#009E73", "#D55E00", "#0072B2", "#CC79A7", "#999933", "#56B4E9")
_SET_MARKERS = "Dos^vP"
_PAPER_MARKERS = "*X"


@drawing("mvg2018_fig4", kind="figures", needs=tuple(STUDIES))
def figure_4(results: Results) -> Drawn:
    """Draw the error over tau: a line per set of informative features, a panel per study."""
    studies = tuple(STUDIES.values())
    drawn = [study.drawn_rows(results.rows) for study in studies]
    scores_by_study = {
        study.name: study.scores(rows) for study, (rows, _) in zip(studies, drawn, strict=True)
    }
    scores = required(
        pd.concat(select(each, mechanism=MVG) for each in scores_by_study.values()),
        DrawingError("Figure 4 needs the mechanism mvg"),
    )
    # Draws exist only for the paper's data and sizes.
    papers = {
        each.compared.name: each
        for each in _DRAWS
        if each.covers(each.compared.drawn_rows(results.rows)[0])
    }
    lines, by_draws = _replace_by_draws(_mean_lines(scores), papers)
    zero = ok_rows(drawn[0][0], REGRESSION.name, "rmse_of_zero")["value"].mean()
    calibrations = [name for name in CALIBRATION_LINES if name in set(scores["calibration"])]
    columns = [(study, kernel) for study in studies for kernel in kernels_of(study.scores(scores))]
    figure, axes = plt.subplots(
        len(columns),
        len(calibrations),
        figsize=(PAGE, 0.5 + 1.7 * len(columns)),
        sharex=True,
        squeeze=False,
    )
    for row, (study, kernel) in zip(axes, columns, strict=True):
        study_lines = select_kernel(select(lines, study=study.name), kernel)
        for ax, calibration in zip(row, calibrations, strict=True):
            panel = select(study_lines, calibration=calibration)
            _panel(ax, panel)
            kernel_scores = select_kernel(scores_by_study[study.name], kernel)
            floor = papers[study.name].floor if study.name in papers else None
            _levels(ax, study, kernel_scores, zero, floor)
            if study is REGRESSION:
                ax.set_yscale("log")
            elif study is FIRST_COMPONENT and calibration == "exact":
                # Errors range from zero, without noise, to over a thousandth of a random error.
                ax.set_yscale("symlog", linthresh=1e-4)
                ax.set_ylim(bottom=0)
            else:
                _zoom(ax, panel)
        title = f"{study.numeral}: {study.name.replace('_', ' ')}"
        title += f"\n{KERNEL_TITLES[kernel]}" if kernel else ""
        row[0].set_ylabel(f"{title}\n{study.score_symbol}", fontsize=7)
        # The kernels of a study share one legend.
        if kernel == kernels_of(study.scores(scores))[0]:
            handles, labels = row[0].get_legend_handles_labels()
            row[-1].legend(
                handles, labels, loc="upper left", bbox_to_anchor=(1.02, 1.0), fontsize=6
            )
    for ax, calibration in zip(axes[0], calibrations, strict=True):
        ax.set_title(CALIBRATION_TITLES[calibration])
    for ax in axes[-1]:
        ax.set_xlabel("share tau")
    words = "; ".join(f"{study.numeral}: {study.score_words}" for study in studies)
    return Drawn(
        caption=(
            f"mvg2018 Figure 4 on {', '.join(source for _, source in drawn)}: MVG's error over "
            "tau, the share of the precision that the named features split. Mean over "
            f"{scores['trial'].nunique()} trials with 95% intervals"
            f"{by_draws}. The regression has a row per kernel. Epsilon "
            f"{scores['epsilon'].iloc[0]:g}, delta 1/N, one record replaced. Columns: noise as "
            "published, and at equal true privacy."
        ),
        data=lines,
        figure=figure,
        note=(
            f"{words}. The paper does not state gamma; its largest value for data in [-1, 1] is "
            "used. At equal true privacy the noise is rescaled until its true delta at epsilon is "
            "the budget's. Black markers are the paper's errors, at the best tau, which it does "
            "not state; MVG-1's is that without noise in Table 3 and the 0.004 that the text adds. "
            "Other markers are shifted sideways where they would hide each other. Every panel has "
            "its own scale. The claims about this figure are judged by paired differences, which "
            "can be clear even where the intervals shown overlap: in I over all tau, in II and III "
            "at the best tau of each set."
        ),
    )


def _mean_lines(scores: pd.DataFrame) -> pd.DataFrame:
    """Compute the mean and its 95% interval over trials for every treatment and share."""
    keys = ["study", "kernel", "calibration", "treatment", "share"]
    # dropna=False keeps equal precision, which has no share, and studies without kernels.
    groups = scores.groupby(keys, sort=False, dropna=False)["value"]
    return pd.DataFrame(
        [(*key, (mean := Mean(values)).value, *mean.interval(SHOWN)) for key, values in groups],
        columns=[*keys, "mean", "low", "high"],
    )


def _replace_by_draws(
    lines: pd.DataFrame, drawn: Mapping[str, DrawnStudy]
) -> tuple[pd.DataFrame, str]:
    """Replace the published lines of studies with means over draws, on which the verdicts rest.

    Args:
        lines: The lines of `_mean_lines`.
        drawn: The studies whose lines are replaced, by name.

    Returns:
        The lines, and a clause for the caption with the number of draws; "" if nothing was
        replaced.
    """
    lines, counts = lines.copy(), {}
    for index, row in select(lines, calibration="published").iterrows():
        study = drawn.get(row["study"])
        if study and row["treatment"] in (IID, *study.sets):
            # Equal precision has no share.
            share = SHARES[0] if pd.isna(row["share"]) else row["share"]
            mean = Mean(study.draw(row["treatment"], share, _DRAWS[study]))
            lines.loc[index, ["mean", "low", "high"]] = mean.value, *mean.interval(SHOWN)
            counts[study.compared.numeral] = f"{_DRAWS[study]:,}"
    if not counts:
        return lines, ""
    return lines, f"; {listed(counts)} as published by {listed(counts.values())} draws"


def _zoom(ax, panel: pd.DataFrame) -> None:
    """Limit the y axis to MVG's errors if they are far from zero, the error without noise."""
    low, high = panel["low"].min(), panel["high"].max()
    if low > 0.5 * high:
        ax.set_ylim(low - 0.3 * (high - low), high + 0.3 * (high - low))
        text = {"fontsize": 6, "va": "bottom", "transform": ax.transAxes}
        text |= {"bbox": {"facecolor": "white", "edgecolor": "none", "pad": 1}}
        ax.text(0.02, 0.02, "without noise: 0, below this axis", **text)


def _levels(
    ax, study: ComparedStudy, scores: pd.DataFrame, zero: float, exact: float | None
) -> None:
    """Draw lines at the errors without noise, of a random answer and of predicting zero.

    Args:
        scores: The scores with one kernel, including the controls'.
        exact: The mean error of a random answer in closed form, or None to draw the trials' mean.
    """
    for mechanism, dashes in zip(LEVELS, ((1, 1), (4, 2)), strict=True):
        control = select(
            scores, mechanism=mechanism, calibration="published", treatment=WHOLE_QUERY
        )
        if len(control):
            known = exact is not None and mechanism == "random-answer"
            mean, style = exact if known else control["value"].mean(), look(mechanism)
            ax.axhline(mean, color=style.colour, dashes=dashes, linewidth=0.8, label=style.title)
    if study is REGRESSION and not math.isnan(zero):
        ax.axhline(zero, color="#bbbbbb", dashes=(6, 3), label="predict zero")
        for (name, error), marker in zip(STATED_RMSE.items(), _PAPER_MARKERS, strict=True):
            label = f"paper, {name}: {error:.3g}"
            ax.plot(1, error, marker, color="black", linestyle="none", zorder=5, label=label)


def _panel(ax, panel: pd.DataFrame) -> None:
    groups = list(panel[panel["share"].notna()].groupby("treatment", sort=False))
    for index, (name, line) in enumerate(groups):
        line = line.sort_values("share", kind="stable")
        ax.errorbar(
            line["share"] + 0.01 * (index - (len(groups) - 1) / 2),
            line["mean"],
            yerr=(line["mean"] - line["low"], line["high"] - line["mean"]),
            color=_SET_COLOURS[index % len(_SET_COLOURS)],
            marker=_SET_MARKERS[index % len(_SET_MARKERS)],
            linewidth=0.8,
            capsize=1.5,
            label=treatment_title(name),
        )
    for mean in select(panel, treatment=IID)["mean"]:
        ax.axhline(mean, color="#6F4C9B", linestyle="-", linewidth=0.8, label=treatment_title(IID))
    if np.ptp(panel["mean"]) <= 1e-6 * panel["mean"].abs().max():
        # The text has a white box, because the intervals fill the panel.
        white = {"facecolor": "white", "edgecolor": "none", "pad": 2}
        words = "all choices coincide"
        ax.text(0.5, 0.7, words, transform=ax.transAxes, ha="center", bbox=white)


METHOD = "method of the paper"
_METHOD_ORDER = (
    "Non-private",
    "Random guess",
    "MVG",
    "MVG-1",
    "MVG-2",
    "Gaussian",
    "JL transform",
    "Laplace",
    "Exponential",
    "",
)


def comparison_table(results: Results, study: ComparedStudy, *more: dict) -> Drawn:
    """Make the paper's table of a study, with `more` rows that belong to no mechanism."""
    rows, source = study.drawn_rows(results.rows)
    scores = required(
        study.scores(rows), DrawingError(f"no mechanism has a result of {study.name}")
    )
    records = [
        record
        for kernel in kernels_of(scores)
        for calibration in CALIBRATION_LINES
        for record in _records(
            select(select_kernel(scores, kernel), calibration=calibration),
            study,
            calibration,
            kernel,
        )
    ]
    records += more
    kernels = [None, *kernels_of(scores)]
    tried = [KERNEL_TITLES[kernel] for kernel in kernels if kernel]
    records.sort(
        key=lambda row: (
            row["calibration"] == "exact",
            kernels.index(row.get("kernel")),
            _METHOD_ORDER.index(row[METHOD]),
        )
    )
    table = pd.DataFrame(records)
    if "kernel" in table:
        table["kernel"] = table["kernel"].map(KERNEL_TITLES)
    first = scores.iloc[0]
    return Drawn(
        caption=(
            f"mvg2018 Table {study.table} on {source}: {study.score_words}"
            f"{f' ({listed(tried)})' if tried else ''}. Mean over "
            f"{scores['trial'].nunique()} trials with the half-width of its 95% interval. 'above "
            "MVG' is the paired difference to MVG with the right features. Query "
            f"{first['shape']}, epsilon {first['epsilon']:g}, delta 1/N = {first['delta']:.3g}, "
            "one record replaced; noise as published, then at equal true privacy (exact)."
        ),
        data=table,
        note=(
            f"Query: {study.query_words}. {study.choices} The paper does not state gamma; its "
            "largest value for data in [-1, 1] is used. The treatment of MVG names the features "
            "that share tau of its precision. tau is the best of "
            f"{scores['share'].nunique()} shares, chosen with the data, as in the paper. 'from' "
            "and 'to' bound the 95% interval of the difference over shared trials. 'stated above "
            "MVG' is the number in the paper's text. Exact calibration: the noise is rescaled "
            "until its true delta at epsilon is the budget's."
            f"{failed_mechanisms(rows, study.name, first['dataset'])}"
        ),
    )


def _records(
    scores: pd.DataFrame, study: ComparedStudy, calibration: str, kernel: str | None
) -> list[dict]:
    """Return the table's rows for one calibration and kernel, given their scores."""
    right = right_treatment(scores)
    mvg = select(scores, mechanism=MVG, treatment=right or WHOLE_QUERY)
    records = []
    for mechanism in legend_order(scores["mechanism"]):
        shown = select(scores, mechanism=mechanism)
        # Omit the wrong features of mechanisms that the paper lacks, such as variants of MVG.
        if mechanism not in study.methods:
            shown = shown[shown["treatment"].isin((WHOLE_QUERY, IID, PCA, right))]
        # The names of the corresponding rows in the paper's table, by treatment.
        methods = {WHOLE_QUERY: study.methods.get(mechanism, "")}
        if mechanism == MVG:
            methods = {right: study.mvg_name, PCA: "MVG-2"}
        for treatment, group in shown.groupby("treatment", sort=False):
            best, method = select_best_share(group), methods.get(treatment, "")
            records.append(
                {"calibration": calibration}
                | ({} if kernel is None else {"kernel": kernel})
                | {
                    METHOD: method,
                    "mechanism": mechanism_title(mechanism),
                    "treatment": treatment_title(treatment),
                    "tau": best["share"].iloc[0],
                }
                | mean_columns(best)
                | ({} if mvg.empty else _difference_columns(best, select_best_share(mvg)))
                | {"stated above MVG": STATED_ABOVE_MVG[study.setting.name].get(method)}
            )
    return records


def mean_columns(scores: pd.DataFrame) -> dict[str, float]:
    """Return the mean over trials and the half-width of its 95% interval, by column."""
    found = Mean(scores["value"].to_numpy(float))
    return {"mean": found.value, "95% +-": found.interval(SHOWN).high - found.value}


def _difference_columns(scores: pd.DataFrame, mvg: pd.DataFrame) -> dict[str, float]:
    found = difference(scores, mvg)
    low, high = found.interval(SHOWN)
    return {"above MVG": found.value, "from": low, "to": high}


# The titles of predictions that use no features, by the metric of their error.
_PREDICTIONS = {"rmse_of_zero": "predict zero", "rmse_of_mean": "predict the mean"}


@drawing("mvg2018_table3", kind="tables", needs=["regression"])
def table_3(results: Results) -> Drawn:
    """Tabulate the RMSE of every mechanism and kernel, and of predictions without features."""
    rows, _ = REGRESSION.drawn_rows(results.rows)
    predictions = []
    for metric, title in _PREDICTIONS.items():
        found = ok_rows(rows, REGRESSION.name, metric)
        if len(found):
            row = {"calibration": "published", METHOD: "", "mechanism": title, "kernel": None}
            predictions.append(row | mean_columns(found))
    return comparison_table(results, REGRESSION, *predictions)


@drawing("mvg2018_table4", kind="tables", needs=["first_component"])
def table_4(results: Results) -> Drawn:
    """Tabulate the error of the first principal component for every mechanism."""
    return comparison_table(results, FIRST_COMPONENT)


@drawing("mvg2018_table5", kind="tables", needs=["covariance"])
def table_5(results: Results) -> Drawn:
    """Tabulate the RSS of the principal components for every mechanism."""
    return comparison_table(results, COVARIANCE)


@drawing("mvg2018_table6", kind="tables", needs=tuple(STUDIES), timings=tuple(STUDIES))
def table_6(results: Results) -> Drawn:
    """Tabulate the median milliseconds of one release in the three studies."""
    milliseconds = pd.DataFrame(
        {
            name: 1e3 * seconds_of(results, study).groupby("mechanism")["value"].median()
            for name, study in STUDIES.items()
        }
    )
    names = REGRESSION.methods | FIRST_COMPONENT.methods
    records = [
        {
            METHOD: names.get(mechanism, ""),
            "mechanism": mechanism_title(mechanism),
            **{f"Exp. {study.numeral}": row[name] for name, study in STUDIES.items()},
            "paper": STATED_MILLISECONDS.get(names.get(mechanism, ""), ""),
        }
        for mechanism, row in milliseconds.loc[legend_order(milliseconds.index)].iterrows()
    ]
    drawn = [study.drawn_rows(results.rows) for study in STUDIES.values()]
    return Drawn(
        caption=(
            f"mvg2018 Table 6 on {', '.join(source for _, source in drawn)}: wall-clock "
            "milliseconds of one release on one core, median over trials and treatments, noise as "
            f"published; calibration is not timed. Epsilon {drawn[0][0]['epsilon'].iloc[0]:g}, "
            "delta 1/N, one record replaced. Seconds depend on the machine; a factor of 2 decides "
            "no order."
        ),
        data=pd.DataFrame(records),
        note=(
            "MVG's directions are the axes (in Experiment I also private principal directions), "
            "which cost no matrix product. The paper derives MVG's factors from a Cholesky "
            "decomposition or an SVD of both covariances, which is not in these times (mvg-t6-cost "
            "has it). Our copy of the paper lacks some columns."
        ),
    )
