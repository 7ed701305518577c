"""Tables 3 to 6 of mvg2018: the errors of its three studies, and the seconds of a release.

MVG is compared with other mechanisms at its best share tau, which is chosen with the data, as in
the paper: this favours MVG. The paper does not state gamma, so its largest value on the range of
the data is used. The exact calibration bounds every other choice of gamma, because its noise is the
least with which the claimed guarantee holds.
"""

from dataclasses import replace

import pandas as pd

from claims.intervals import SHOWN, Mean
from claims.judged_rows import listed, ok_rows, required, select
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mvg2018.compared_study import (
    COVARIANCE,
    FIRST_COMPONENT,
    KERNEL_TITLES,
    MVG,
    RANDOM_COMPONENT,
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
from paper_figures.mvg2018.draws import COMPONENT
from paper_figures.selections import failed_mechanisms
from paper_figures.style import (
    CALIBRATION_LINES,
    legend_order,
    mechanism_title,
)
from papers.mvg2018 import STATED_ABOVE_MVG, STATED_MILLISECONDS
from runs.results import Results
from studies.base.treatments import IID, PCA

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
    """Make the paper's table of a study; `more` are rows that belong to no mechanism."""
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
    own: pd.DataFrame, study: ComparedStudy, calibration: str, kernel: str | None
) -> list[dict]:
    """Return the table's rows for one calibration and kernel."""
    right = right_treatment(own)
    mvg = select(own, mechanism=MVG, treatment=right or WHOLE_QUERY)
    records = []
    for mechanism in legend_order(own["mechanism"]):
        shown = _compared_scores(select(own, mechanism=mechanism), study, mechanism, right)
        for treatment, group in shown.groupby("treatment", sort=False):
            best = select_best_share(group)
            method = _method(study, mechanism, treatment, right)
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


def _compared_scores(
    scores: pd.DataFrame, study: ComparedStudy, mechanism: str, right: str | None
) -> pd.DataFrame:
    """Return all scores of a mechanism that the paper compares.

    For other mechanisms, variants of MVG among them, the treatments with wrong features are
    omitted.
    """
    if mechanism in study.methods:
        return scores
    return scores[scores["treatment"].isin((WHOLE_QUERY, IID, PCA, right))]


def _method(study: ComparedStudy, mechanism: str, treatment: str, right: str | None) -> str:
    """Return the name of the corresponding row in the paper's table, or ""."""
    if mechanism != MVG:
        return study.methods.get(mechanism, "") if treatment == WHOLE_QUERY else ""
    return {right: study.mvg_name, PCA: "MVG-2"}.get(treatment, "")


def mean_columns(scores: pd.DataFrame) -> dict[str, float]:
    """Return the mean over trials and the half-width of its interval, by column."""
    found = Mean(scores["value"].to_numpy(float))
    return {"mean": found.value, "95% +-": found.interval(SHOWN).high - found.value}


def _difference_columns(scores: pd.DataFrame, mvg: pd.DataFrame) -> dict[str, float]:
    found = difference(scores, mvg)
    low, high = found.interval(SHOWN)
    return {"above MVG": found.value, "from": low, "to": high}


# The titles of predictions that use no features, by metric.
_PREDICTIONS = {"rmse_of_zero": "predict zero", "rmse_of_mean": "predict the mean"}


@drawing("mvg2018_table3", kind="tables", needs=["regression"])
def table_3(results: Results) -> Drawn:
    """Tabulate the RMSE of every mechanism with every kernel."""
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
    """Tabulate the error of the component for every mechanism."""
    choices = FIRST_COMPONENT.choices
    if COMPONENT.covers(FIRST_COMPONENT.drawn_rows(results.rows)[0]):
        choices += (
            f" The mean error of a random direction is {RANDOM_COMPONENT:.4f}, lambda_1 - tr(C) / "
            "4; that of MVG by 200,000 draws of its noise is in mvg-t4-small."
        )
    return comparison_table(results, replace(FIRST_COMPONENT, choices=choices))


@drawing("mvg2018_table5", kind="tables", needs=["covariance"])
def table_5(results: Results) -> Drawn:
    """Tabulate the RSS of every mechanism."""
    return comparison_table(results, COVARIANCE)


@drawing("mvg2018_table6", kind="tables", needs=tuple(STUDIES), timings=tuple(STUDIES))
def table_6(results: Results) -> Drawn:
    """Tabulate the milliseconds of one release in the three studies."""
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
