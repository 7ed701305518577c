"""How mvg2018's studies compare MVG with other mechanisms: Tables 3 to 5.

Next to other mechanisms MVG's error is that of its best share tau, chosen with the data, as in the
paper: this favours MVG. The paper does not state gamma; its largest value on the range of the data
is used. The exact calibration bounds every other choice: its noise is the least with which the
claimed guarantee holds.
"""

import pandas as pd

from claims.intervals import SHOWN, Mean
from claims.judged_rows import listed, required
from paper_figures.drawings import DrawingError, Drawn
from paper_figures.mvg2018.compared_study import (
    MVG,
    WHOLE_QUERY,
    ComparedStudy,
    at_best_share,
    kernels_of,
    right_treatment,
    select,
    treatment_title,
    with_kernel,
)
from paper_figures.mvg2018.comparison_findings import KERNEL_TITLES, difference
from paper_figures.mvg2018.numbers import STATED_ABOVE_MVG
from paper_figures.selections import failed_mechanisms
from paper_figures.style import CALIBRATION_LINES, in_order, mechanism_title
from runs.results import Results
from studies.base.treatments import IID, PCA

METHOD = "method of the paper"
# In all three studies; the second has its own Gaussian and exponential mechanisms.
SHARED_METHODS = {
    "non-private": "Non-private",
    "random-answer": "Random guess",
    MVG: "MVG",
    "jl": "JL transform",
    "laplace": "Laplace",
}
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
    """The paper's table of a study; `more` are rows that belong to no mechanism."""
    rows, source = study.drawn_rows(results.rows)
    scores = required(
        study.scores(rows), DrawingError(f"no mechanism has a result of {study.name}")
    )
    records = [
        record
        for kernel in kernels_of(scores)
        for calibration in CALIBRATION_LINES
        for record in _records(
            select(with_kernel(scores, kernel), calibration=calibration), study, calibration, kernel
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
    caption = (
        f"mvg2018 Table {study.table} on {source}: {study.score_words}"
        f"{f' ({listed(tried)})' if tried else ''}. Mean over "
        f"{scores['trial'].nunique()} trials with the half-width of its 95% interval. 'above MVG' "
        "is the paired difference to MVG with the right features. Query "
        f"{first['shape']}, epsilon {first['epsilon']:g}, delta 1/N = {first['delta']:.3g}, one "
        "record replaced; noise as published, then at equal true privacy (exact)."
    )
    note = (
        f"Query: {study.query_words}. {study.choices} The paper does not state gamma; its largest "
        "value for data in [-1, 1] is used. The treatment of MVG names the features that share tau "
        f"of its precision. tau is the best of "
        f"{scores['share'].nunique()} shares, chosen with the data, as in the paper. 'from' and "
        "'to' bound the 95% interval of the difference over shared trials. 'stated above MVG' is "
        "the number in the paper's text. Exact calibration: the noise is rescaled until its true "
        "delta at epsilon is the budget's."
        f"{failed_mechanisms(rows, study.name, first['dataset'])}"
    )
    return Drawn(caption, table, note=note)


def _records(
    own: pd.DataFrame, study: ComparedStudy, calibration: str, kernel: str | None
) -> list[dict]:
    """The rows of one calibration and kernel."""
    right = right_treatment(own)
    mvg = select(own, mechanism=MVG, treatment=right or WHOLE_QUERY)
    records = []
    for mechanism in in_order(own["mechanism"]):
        shown = _shown(select(own, mechanism=mechanism), study, mechanism, right)
        for treatment, group in shown.groupby("treatment", sort=False):
            best = at_best_share(group)
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
                | ({} if mvg.empty else _difference_columns(best, at_best_share(mvg)))
                | {"stated above MVG": STATED_ABOVE_MVG[study.setting.name].get(method)}
            )
    return records


def _shown(
    scores: pd.DataFrame, study: ComparedStudy, mechanism: str, right: str | None
) -> pd.DataFrame:
    """All treatments of a mechanism that the paper compares, else those on the whole query.

    Of a variant of MVG, wrong features are left out.
    """
    if mechanism in study.methods:
        return scores
    return scores[scores["treatment"].isin((WHOLE_QUERY, IID, PCA, right))]


def _method(study: ComparedStudy, mechanism: str, treatment: str, right: str | None) -> str:
    """The row of the paper's table that this is, or ""."""
    if mechanism != MVG:
        return study.methods.get(mechanism, "") if treatment == WHOLE_QUERY else ""
    return {right: study.mvg_name, PCA: "MVG-2"}.get(treatment, "")


def mean_columns(scores: pd.DataFrame) -> dict[str, float]:
    """The mean over trials and the half-width of its interval, as columns of a table."""
    found = Mean(scores["value"].to_numpy(float))
    return {"mean": found.value, "95% +-": found.interval(SHOWN).high - found.value}


def _difference_columns(scores: pd.DataFrame, mvg: pd.DataFrame) -> dict[str, float]:
    found = difference(scores, mvg)
    low, high = found.interval(SHOWN)
    return {"above MVG": found.value, "from": low, "to": high}
