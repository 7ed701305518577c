"""The epsilon at which a mechanism reaches the numbers that the papers state for it.

The table `suite_implied_epsilon` has a row for every number of the five papers that depends on the
budget of one mechanism and that this suite can compute at other budgets: by the closed form of the
noise, or by a study that runs several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from claims.implied_epsilon import Implied, in_closed_form, on_curve
from claims.intervals import Effect, Mean
from claims.judged_rows import calibrated
from claims.judges import CannotJudge
from datasets.titles import dataset_title
from mechanisms import Budget
from mechanisms.query.box_query import box_query
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.r1smg2024 import dpsgd_runs
from paper_figures.r1smg2024 import numbers as r1smg
from paper_figures.r1smg2024.count_query import implied_by_loss
from paper_figures.style import mechanism_title
from paper_figures.tldp2025 import numbers as tldp
from paper_figures.tldp2025.scores import TLDP, official_scores
from runs.results import Results

CALIBRATIONS = {"published": "as published", "exact": "at equal true privacy"}
# The paper's Table 5 is a formula: its numbers for one MNIST image at epsilon 1, Delta = 1.
IMAGE = (28, 28)
IMAGE_EPSILON = 1.0
# Of the classic Gaussian's noise; the paper states delta = 1e-5 in Section 5.3.1.
DELTA = 1e-5
# Figures 1 to 3 of tldp2025: the study, the scores that the text states, the mechanisms that they
# are of, what the text says of their epsilon, and the ranges that noise is for.
SCORES = (
    (
        "Figure 1",
        "private_data",
        tldp.STATED_F1_IMAGES,
        TLDP,
        {"mnist": "below 1", "svhn": "below 1"},
        ({},),
    ),
    ("Figure 2", "private_features", tldp.STATED_F1_FEATURES, TLDP, {}, ({},)),
    (
        "Figure 3",
        "private_parameters",
        {"imdb": tldp.STATED_F1_IMDB["tldp"]},
        (*TLDP, "llagp"),
        {"imdb": "above 100"},
        ({"range": "clip"}, {"range": "stated"}),
    ),
)
RANGES = {"clip": ", Delta = 2", "stated": f", Delta = {tldp.STATED_DELTA_IMDB:,}"}


@drawing(
    "suite_implied_epsilon",
    kind="tables",
    needs=["private_data", "private_features", "private_parameters", "dpsgd"],
)
def implied_epsilons(results: Results) -> Drawn:
    """One row per stated number and mechanism: the stated epsilon and the implied ones."""
    rows = results.rows
    measured = [*_scores(rows), *_epochs(rows)]
    if not measured:
        raise DrawingError("the results hold no score that a paper states; run the studies of both")
    records = [*_losses(), *_table_5(), *measured]
    caption = (
        "Implied epsilon: the budget at which a mechanism reaches the number that its paper states "
        "for it, as published and at equal true privacy, beside the epsilon that the paper states. "
        "Closed forms are exact. Measured scores are means over trials, on a line in log(epsilon) "
        "between the budgets of the run; in brackets, where the 95% interval of the score reaches "
        "the number."
    )
    note = (
        'The larger epsilon, the less noise. "Not reached up to" names the largest budget of the '
        'run; "at most" its smallest. The networks and sizes are those of this run, which are '
        "smaller than the papers': a score that is not reached may be beyond them. On the map, MVG "
        "has the smallest possible gamma, s/2. For Table 5 there is no second number: "
        "tldp2025_fig1 shows what noise of the true privacy of a whole image does. Left out are "
        "the counts of r1smg2024 Figure 4, which need the paper's map, and the errors of mvg2018, "
        "which it states at epsilon 1, where the study was run (mvg2018_table3)."
    )
    return Drawn(caption, pd.DataFrame(records), note=note)


def _record(
    paper: str,
    where: str,
    mechanism: str,
    number: str,
    epsilon: float | str,
    found: Mapping[str, Implied],
    source: str,
) -> dict:
    return {
        "paper": paper,
        "where": where,
        "mechanism": mechanism_title(mechanism),
        "stated number": number,
        "stated epsilon": epsilon if isinstance(epsilon, str) else f"{epsilon:g}",
        **{words: str(found[key]) if key in found else "" for key, words in CALIBRATIONS.items()},
        "from": source,
    }


def _losses() -> Iterator[dict]:
    """r1smg2024 Figure 5: the mean of ||noise||^2 on the map of pickups."""
    for key, stated in r1smg.STATED_LOSSES.items():
        found = {calibration: implied_by_loss(key, calibration) for calibration in CALIBRATIONS}
        number = f"mean L about {stated:,.0f}"
        epsilon = r1smg.count_epsilon(key)
        yield _record("r1smg2024", "Figure 5", key, number, epsilon, found, "closed form")


def _table_5() -> Iterator[dict]:
    """tldp2025 Table 5: E||noise|| on one image."""
    query = box_query(IMAGE, *tldp.PIXELS)
    for key, stated in tldp.stated_errors(IMAGE, IMAGE_EPSILON, 1.0).items():

        def error(epsilon: float, key: str = key) -> float:
            return calibrated(key, query, Budget(epsilon=epsilon, delta=DELTA)).expected_loss()

        found = {"published": in_closed_form(error, stated**2)}
        number = f"error {stated:.3g}, {IMAGE[0]} x {IMAGE[1]} pixels"
        yield _record("tldp2025", "Table 5", key, number, IMAGE_EPSILON, found, "closed form")


def _scores(rows: pd.DataFrame) -> Iterator[dict]:
    """tldp2025 Figures 1 to 3: F1 of what is learnt from released data."""
    for where, study, stated, keys, epsilons, ranges in SCORES:
        for dataset, score in stated.items():
            for at in ranges:
                for key in keys:
                    found, trials = _implied_by_scores(rows, study, dataset, key, score, at)
                    if found:
                        number = f"F1 {score:g}, {dataset_title(dataset)}"
                        number += RANGES.get(at.get("range"), "")
                        source = f"{study}, {trials} trials"
                        epsilon = epsilons.get(dataset, "not stated")
                        known = (where, key, number, epsilon, found, source)
                        yield _record("tldp2025", *known)


def _implied_by_scores(
    rows: pd.DataFrame, study: str, dataset: str, key: str, score: float, at: dict[str, str]
) -> tuple[dict[str, Implied], int]:
    """What the scores of a mechanism imply at each calibration, and over how many trials."""
    found, trials = {}, 0
    for calibration in CALIBRATIONS:
        try:
            scores = official_scores(rows, study, dataset, calibration, **at)
            found[calibration], trials = scores.implied(key, score), scores.trials
        except CannotJudge:
            continue
    return found, trials


def _epochs(rows: pd.DataFrame) -> Iterator[dict]:
    """r1smg2024 Figure 7: test accuracy on MNIST after the stated epochs, at the best rate."""
    try:
        runs = dpsgd_runs.official_runs(rows, "mnist")
    except CannotJudge:
        return
    accuracies = dpsgd_runs.accuracies(runs, dpsgd_runs.TEST)
    for key, epochs in r1smg.REACHED_EPOCHS.items():
        own = accuracies[(accuracies["mechanism"] == key) & (accuracies["epoch"] == epochs)]
        found = {
            calibration: on_curve(_at_best_rate(part), r1smg.REACHED_ACCURACY)
            for calibration, part in own.groupby("calibration")
        }
        if not found:
            continue
        number = f"accuracy {r1smg.REACHED_ACCURACY:g} after {epochs} epochs, MNIST"
        epsilon = r1smg.TRAINING["mnist"].larger_total
        source = f"dpsgd, {own['trial'].nunique()} trials, best learning rate"
        yield _record("r1smg2024", "Figure 7", key, number, epsilon, found, source)


def _at_best_rate(runs: pd.DataFrame) -> dict[float, Effect]:
    """The accuracy at every budget, at the learning rate with the highest mean."""
    curve = {}
    for epsilon, at_budget in runs.groupby("epsilon"):
        by_rate = [
            Mean(part["value"].to_numpy(float)) for _, part in at_budget.groupby("learning_rate")
        ]
        curve[epsilon] = max(by_rate, key=lambda mean: mean.value)
    return curve
