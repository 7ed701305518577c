"""mvg2018 Experiment I (Sections 7.1 and 8.1, Table 3): regression on private records."""

import pandas as pd

from claims.comparisons import equal, number
from claims.judged_rows import pick
from claims.judges import judge
from claims.verdicts import Finding, Outcome
from paper_figures.drawings import Drawn, drawing
from paper_figures.mvg2018 import numbers as mvg2018
from paper_figures.mvg2018.compared_study import (
    MVG,
    WHOLE_QUERY,
    ComparedStudy,
    at_best_share,
    judged_treatment,
    select,
    treatment_title,
)
from paper_figures.mvg2018.comparison import (
    METHOD,
    SHARED_METHODS,
    comparison_table,
    mean_columns,
)
from paper_figures.mvg2018.comparison_findings import (
    KERNEL_TITLES,
    SETTING,
    Judged,
    difference,
    finding_per_kernel,
)
from runs.result_table import OK
from runs.results import Results
from studies.base.treatments import PCA, SUBSPACE

REGRESSION = ComparedStudy(
    name="regression",
    numeral="I",
    table=3,
    setting=mvg2018.REGRESSION,
    score="rmse",
    score_words="root mean squared error of kernel ridge regression on exact test records",
    score_symbol="RMSE",
    query_words="f(X) = X with the target as one more feature, l2 sensitivity 2 sqrt(m)",
    choices=(
        "The paper states no kernel, so every release is scored with three. The scaling of the "
        "records into [-1, 1] uses the data and is not private. The kernels' parameters "
        "are cross-validated without noise. Every trial has other test records, the same "
        f"for all mechanisms. '{treatment_title(PCA)}' are learnt by MVG with 20% of the budget "
        f"(MOD-SULQ, basic composition). '{treatment_title(SUBSPACE)}' is the mechanism on the "
        "right features and the target "
        "alone (Section 9.3)."
    ),
    floor=("rmse_of_zero", "non-private"),
    floor_words="predicting zero",
    blind_margin=mvg2018.NO_DIFFERENCE[mvg2018.REGRESSION.name],
    methods=SHARED_METHODS | {"gaussian": "Gaussian", "exponential": "Exponential"},
    mvg_name="MVG-1",
)
# Predictions that use no features, by metric.
_PREDICTIONS = {"rmse_of_zero": "predict zero", "rmse_of_mean": "predict the mean"}
_SCALINGS = {"largest": "divided by the largest value", "columns": "each feature onto [-1, 1]"}


@drawing("mvg2018_table3", kind="tables", needs=["regression"])
def table_3(results: Results) -> Drawn:
    """RMSE of every mechanism with every kernel."""
    rows, _ = REGRESSION.drawn_rows(results.rows)
    predictions = []
    for metric, title in _PREDICTIONS.items():
        found = control_errors(rows, metric)
        if len(found):
            row = {"calibration": "published", METHOD: "", "mechanism": title, "kernel": None}
            predictions.append(row | mean_columns(found))
    return comparison_table(results, REGRESSION, *predictions)


def control_errors(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The trials of a metric that the non-private control measures without noise; may be empty."""
    own = (rows["study"] == REGRESSION.name) & (rows["metric"] == metric)
    return rows[own & (rows["status"] == OK)]


@judge(studies=("regression",))
def regression_without_noise(results: Results, *, stated: float, tolerance: float) -> Finding:
    """Table 3: RMSE without noise."""
    rows = REGRESSION.judged_rows(results.rows)
    control = pick(rows, mechanism="non-private")
    errors = control_errors(control, "rmse_without_noise")
    outcomes = []
    for scaling, at_scaling in errors.groupby("scaling", sort=True):
        means = at_scaling.groupby("kernel", sort=True)["value"].mean()
        parts = tuple(
            number(KERNEL_TITLES[kernel], mean, stated, tolerance) for kernel, mean in means.items()
        )
        outcomes.append(Outcome(choice=_SCALINGS[scaling], parts=parts))
    zero, mean = (pick(control, metric=metric)["value"].mean() for metric in _PREDICTIONS)
    scores = REGRESSION.scores(control)
    sizes = REGRESSION.sizes(scores)
    spread = errors[errors["scaling"] == "largest"].groupby("kernel")["value"].std().max()
    return Finding(
        choice="the scaling of the data into [-1, 1]",
        outcomes=outcomes,
        detail=(
            f"Means over {sizes.trials} random splits, with {sizes.records} patients for training; "
            f"the errors' standard deviation over splits is at most {spread:.2g}. In the scaling "
            "that the releases use, by the largest value, predicting the mean of the training "
            f"targets has the error {mean:.4g}, and predicting zero has {zero:.4g}."
        ),
        sizes=sizes,
    )


@judge(studies=("regression",))
def regression_close(results: Results, *, stated: float, margin: float) -> Finding:
    """Table 3: how far MVG's error is above the non-private one; whether it is that of noise."""

    def judged(scores: pd.DataFrame) -> Judged:
        right = judged_treatment(scores, REGRESSION)
        published = select(scores, calibration="published")
        exact = select(published, mechanism="non-private", treatment=WHOLE_QUERY)
        ours = at_best_share(select(published, mechanism=MVG, treatment=right))
        zero = pick(results.rows, mechanism="non-private", metric="rmse_of_zero")
        above = difference(ours, exact)
        parts = equal({"MVG-1 above non-private": above}, margin=margin, stated=stated)
        means = [("non-private", exact), ("MVG-1", ours), ("predicting zero", zero)]
        shown = ", ".join(f"{name} {frame['value'].mean():.4g}" for name, frame in means)
        return parts, shown

    detail = f"{SETTING}. MVG has its best share tau."
    return finding_per_kernel(results, REGRESSION, judged, detail)
