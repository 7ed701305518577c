"""Continual release: what the factorisations of a stream cost at equal true privacy.

`suite_streams`, `suite_streams_momentum` and `suite_streams_table` read the rows of the study
continual_release.
"""

import numpy as np
import pandas as pd

from claims.judged_rows import listed, required
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import ok_rows
from paper_figures.style import PAGE, in_order, look
from runs.results import Results

STUDY = "continual_release"
INDEPENDENT = "factorisation-identity"
BANDED, DENSE = "factorisation-banded", "factorisation-dense"
# The mechanism without a variant.
DEFAULT, DEFAULT_TITLE = "factorisation", "Matrix factorisation (square root)"
KEYS = ["dataset", "mechanism", "steps", "participations", "separation"]
# Bounds of a sensitivity that differ by no more are those of a known one.
KNOWN = 1e-9


@drawing("suite_streams", kind="figures", needs=[f"{STUDY}/prefix-sums"])
def streams(results: Results) -> Drawn:
    """Root mean squared error over n; mean error over the least, over n and participation."""
    return _drawn(results, "prefix-sums", "Prefix sums of", "a prefix sum")


@drawing("suite_streams_momentum", kind="figures", needs=[f"{STUDY}/momentum"])
def streams_with_momentum(results: Results) -> Drawn:
    """The same for the iterates of SGD with momentum."""
    return _drawn(results, "momentum", "SGD with momentum on", "an iterate")


def _drawn(results: Results, dataset: str, subject: str, answer: str) -> Drawn:
    errors = errors_of(results.rows)
    errors = required(
        errors[errors["dataset"] == dataset],
        DrawingError(f"the results hold no errors of {STUDY}/{dataset}; run it first"),
    )
    once = errors[errors["participations"] == 1]
    # The longest stream of those with the most mechanisms at the most participations.
    tried = errors.groupby("steps").size()
    steps = int(tried[tried == tried.max()].index.max())
    several = errors[errors["steps"] == steps]
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(PAGE, 2.9))
    for name in in_order(errors["mechanism"]):
        style = look(name)
        line = style.line | ({"label": DEFAULT_TITLE} if name == DEFAULT else {})
        # Under one participation, banded is dense, and hides it.
        hides = name == BANDED and DENSE in set(once["mechanism"])
        own = once[(once["mechanism"] == name) & (not hides)]
        own = own.sort_values("steps", kind="stable")
        left.plot(own["steps"], np.sqrt(own["mean_error"]), **line)
        if name == INDEPENDENT:
            continue
        middle.plot(own["steps"], own["ratio"], **line)
        own = several[several["mechanism"] == name].sort_values("participations", kind="stable")
        right.plot(own["participations"], own["ratio"], **line | {"marker": ""})
        for known, face in ((True, style.colour), (False, "white")):
            part = own[own["known"] == known]
            mark = style.line | {"label": None, "linestyle": "none", "markerfacecolor": face}
            right.plot(part["participations"], part["ratio"], **mark)
    left.set(xscale="log", yscale="log", ylabel=f"root mean squared error of {answer}")
    middle.set(xscale="log", ylabel="mean squared error over the least")
    right.set(xscale="log", ylabel="mean squared error over the least")
    for axis, ticks, words in (
        (left, once["steps"], "steps n"),
        (middle, once["steps"], "steps n"),
        (right, several["participations"], f"participations k, n = {steps}"),
    ):
        # A label below every second of many.
        places = sorted(ticks.unique())
        shown = places[:: 1 + (len(places) > 5)]
        axis.set_xticks(shown, [f"{place}" for place in shown])
        axis.set_xticks([], minor=True)
        axis.set(xlabel=words)
    left.set_title("one participation")
    middle.set_title("one participation")
    right.set_title("k participations, n / k apart")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    caption = (
        f"{subject} a stream of n numbers in [-1, 1] at equal true privacy, "
        f"{_budget_words(results.rows)}. In closed form, without data. Left: error of "
        f"{answer}. Middle and right: mean squared error over that of the best one drawn; "
        "identity is left out. Dense is optimal for one participation only"
        + (", where banded is the same." if {BANDED, DENSE} <= set(errors["mechanism"]) else ".")
    ) + (
        ""
        if errors["known"].all()
        else " Hollow: the sensitivity is bounded from above; the error may be less."
    )
    columns = [*KEYS, "mean_error", "max_error", "ratio", "known"]
    return Drawn(caption, errors[columns], figure, _note(errors) + _worse_words(several))


@drawing("suite_streams_table", kind="tables", needs=[STUDY], timings=[STUDY])
def streams_table(results: Results) -> Drawn:
    """One row per workload, factorisation, n and participation, with the seconds of the search."""
    errors = errors_of(results.rows)
    seconds = ok_rows(results.timings, STUDY, "calibrate_seconds")
    seconds = seconds.assign(steps=_steps(seconds)).set_index(KEYS)["value"]
    errors["seconds"] = seconds.reindex(pd.MultiIndex.from_frame(errors[KEYS])).to_numpy()
    ranks = {"dataset": ["prefix-sums", "momentum"], "mechanism": in_order(errors["mechanism"])}
    order = errors[KEYS].assign(
        **{key: errors[key].map(names.index) for key, names in ranks.items()}
    )
    errors = errors.loc[order.sort_values(KEYS, kind="stable").index].reset_index(drop=True)
    caption = (
        f"Errors of factorisations at equal true privacy, {_budget_words(results.rows)}: variance "
        "of an answer, mean and maximum over the steps, in closed form; mean squared error of the "
        "releases that were drawn; how far the bounds of the sensitivity lie apart; the certified "
        "distance from the least mean error; wall-clock seconds of the search."
    )
    columns = [
        *KEYS,
        "mean_error",
        "max_error",
        "measured",
        "sensitivity_slack",
        "optimality_gap",
        "seconds",
    ]
    return Drawn(caption, errors[columns], note=_note(errors))


NOTE = (
    "A = B C: noise sigma C^-1 z on the stream, sigma = sens(C) / mu, error sigma^2 ||B_t||^2 "
    "after step t. The square root is B = C = A^(1/2). BISR: the inverse of C is the first p "
    "coefficients of A^(-1/2). BandMF: C is Toeplitz with p bands, of least mean error; for BISR "
    "and BandMF, p is the power of two that minimises the error. BLT: four buffers. Binary tree: "
    "least squares from all its nodes. Dense: the optimum for one participation, certified by its "
    "dual; the same C is used under several participations, where others may be better. One "
    "person takes part k times, n / k steps apart or more, and is added or removed. Momentum: the "
    "iterates of SGD in place of prefix sums."
)
BANDED_NOTE = (
    " Banded: the C of least mean error among those with at most 2 n / k bands, whose sensitivity "
    "is exact; no factorisation, banded or not, has less error than its certified lower bound."
)


def errors_of(rows: pd.DataFrame) -> pd.DataFrame:
    """One row per workload, mechanism, n and participation.

    Columns besides those: mean_error, max_error, sensitivity_slack, optimality_gap (NaN where there
    is no certificate), measured (mean over the trials), ratio (mean_error over the least of one
    place) and known (whether the sensitivity is).

    Raises:
        DrawingError: The results hold no errors.
    """
    required(
        ok_rows(rows, STUDY, "mean_error"),
        DrawingError(f"the results hold no errors of {STUDY}; run it first"),
    )
    every = rows[rows["study"] == STUDY]
    every = every.assign(steps=_steps(every))
    metrics = ["mean_error", "max_error", "sensitivity_slack", "optimality_gap"]
    exact = every[every["metric"].isin(metrics)]
    wide = exact.set_index([*KEYS, "metric"])["value"].unstack("metric").reindex(columns=metrics)
    drawn = every[every["metric"] == "measured_error"]
    wide["measured"] = drawn.groupby(KEYS)["value"].mean()
    errors = wide.reset_index()
    places = errors.groupby(["dataset", "steps", "participations"])["mean_error"]
    errors["ratio"] = errors["mean_error"] / places.transform("min")
    errors["known"] = errors["sensitivity_slack"] <= KNOWN
    for key in ("participations", "separation"):
        errors[key] = errors[key].astype(int)
    return errors


def _note(errors: pd.DataFrame) -> str:
    return NOTE + (BANDED_NOTE if BANDED in set(errors["mechanism"]) else "")


def _worse_words(errors: pd.DataFrame) -> str:
    """One sentence on factorisations with more error than independent noise, or nothing."""
    table = errors.pivot(index="participations", columns="mechanism", values="mean_error")
    if INDEPENDENT not in table:
        return ""
    worse = {
        look(name).title: table.index[table[name] > table[INDEPENDENT]]
        for name in in_order(table.columns)
    }
    told = [f"{title} at k = {listed(map(str, at))}" for title, at in worse.items() if len(at)]
    return f" Worse than independent noise (identity): {'; '.join(told)}." if told else ""


def _steps(rows: pd.DataFrame) -> pd.Series:
    """n, from shapes written as 1x64."""
    return rows["shape"].str.split("x").str[-1].astype(int)


def _budget_words(rows: pd.DataFrame) -> str:
    own = rows[rows["study"] == STUDY]
    budgets = own[["epsilon", "delta"]].drop_duplicates()
    return ", ".join(f"({row.epsilon:g}, {row.delta:g})-DP" for row in budgets.itertuples())
