"""Tabulate four measures of noise side by side: error, tails, time and use.

A row of the table `suite_metrics` is a published mechanism at a setting of a paper. The expected
loss and the kurtosis follow from the noise; sampled losses stand beside them. The seconds and
scores come from the study that runs the setting.
"""

from typing import Any

import numpy as np
import pandas as pd

from claims.judged_rows import calibrated, ok_rows, required, select
from claims.mechanism_titles import OWN
from mechanisms import AdditiveMechanism, Unsupported
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.style import mechanism_title
from papers.mvg2018 import binary_allocation
from papers.setting import PaperSetting
from papers.settings import PAPER_SETTINGS
from runs.result_table import OK
from runs.results import Results

# The mechanisms of the five papers, and these beside those with which the table compares them.
PROPOSED = ("mvg", "mgm", "udn", "idn", "imgm", "r1smg", "tldp-l", "tldp-g")
COMPARED = (*PROPOSED, "gaussian", "gaussian-analytic", "gaussian-per-element", "laplace")
# MVG's directional noise in its own studies. SHARE is tau, the share of the precision on the rows
# that the paper calls informative: ALT and target; anchors 0 and 3; FHR, ASV and ALV. RIGHT names
# these sets, and INFORMATIVE has their rows.
SHARE, RIGHT = 0.95, ("alt-y", "anc0-anc3", "fhr-asv-alv")
INFORMATIVE = {
    "mvg2018-regression": [2, 5],
    "mvg2018-component": [0, 3],
    "mvg2018-covariance": [0, 7, 9],
}
# The number of elements of noise to draw for the sampled loss, and the fewest and most losses.
NUMBERS, DRAWS = 300_000, (3, 200)

# By setting: the study that runs it, the metric of its score ("" if no row has the setting's
# budget), and the values of other columns that select the score.
SOURCES: dict[str, tuple[str, str, dict[str, str]]] = {
    "mvg2018-regression": ("regression", "rmse", {"kernel": "linear"}),
    "mvg2018-component": ("first_component", "error", {}),
    "mvg2018-covariance": ("covariance", "rss", {}),
    **{f"mgm2021-{name}": ("noise_only", "", {}) for name in ("mnist", "cifar10", "imdb", "adult")},
    "imgm2022-features": ("features", "test_accuracy", {"dataset": "mnist"}),
    "r1smg2024-count-0.5": ("count_query", "rmse_valid_cell", {}),
    "r1smg2024-count-1e-05": ("count_query", "rmse_valid_cell", {}),
    "r1smg2024-pca-1.6": ("pca", "accuracy", {}),
    "r1smg2024-pca-1.6e-07": ("pca", "accuracy", {}),
}
_TIMED = tuple(dict.fromkeys(study for study, *_ in SOURCES.values()))
_SCORED = tuple(dict.fromkeys(study for study, score, _ in SOURCES.values() if score))


@drawing("suite_metrics", kind="tables", needs=["guarantee/papers", *_SCORED], timings=_TIMED)
def metrics(results: Results) -> Drawn:
    """Tabulate the measures, one row per mechanism and setting."""
    losses = required(
        ok_rows(results.rows, "guarantee", "expected_loss", "papers"),
        DrawingError("the results hold no noise at the papers' settings"),
    )
    losses = select(losses, calibration="exact")
    records = [
        record
        for setting in PAPER_SETTINGS
        for key in (*COMPARED, *OWN)
        for record in _records(results, losses, setting, key)
    ]
    return Drawn(
        caption=(
            "Error, tails, time and use of noise at the papers' settings, as published: expected "
            "loss E||noise||^2 in closed form, sampled with its standard error, and at equal true "
            "privacy; kurtosis of the loss about zero, as r1smg2024 defines it, and about its "
            "mean; median seconds of a calibration and of a draw or release; the study's score, "
            "mean over trials."
        ),
        data=pd.DataFrame(records),
        note=(
            f"'tau {SHARE:g}' is MVG with that share of the precision on the features that its "
            "paper calls informative; other rows of MVG have equal precision. A normal variable "
            "has a kurtosis of 3 about its mean. Empty: not timed or scored at this setting, or no "
            "rescaled noise is known. Seconds depend on the machine."
        ),
    )


def _records(results: Results, losses: pd.DataFrame, setting: PaperSetting, key: str):
    """Yield a mechanism's rows at a setting: none if it is unsupported, two for directional MVG."""
    for options, treatment in _variants(setting, key):
        try:
            mechanism = calibrated(key, setting.query, setting.budget, **options)
        except Unsupported:
            return
        if isinstance(mechanism, AdditiveMechanism):
            is_directional = treatment in RIGHT
            if is_directional:
                rescaled = calibrated(key, setting.query, setting.budget, "exact", **options)
                exact = rescaled.noise.loss().mean
            else:
                rescaled_losses = _select_mechanism(losses, setting, key)
                exact = _select_epsilon(rescaled_losses, setting)["value"].mean()
            yield {
                "mechanism": mechanism_title(key) + is_directional * f", tau {SHARE:g}",
                "setting": setting.name,
                "epsilon": setting.budget.epsilon,
                **_noise_measures(mechanism),
                "loss at equal true privacy": exact,
                **_study_measures(results, setting, key, treatment),
            }


def _variants(setting: PaperSetting, key: str) -> list[tuple[dict[str, Any], str]]:
    """Return pairs of a mechanism's options and the treatment with that noise in the study."""
    if key != "mvg" or setting.name not in INFORMATIVE:
        return [({}, "iid")]
    mode = "equimodal" if setting.name == "mvg2018-component" else "unimodal"
    precision = binary_allocation(setting.query.shape[0], INFORMATIVE[setting.name], SHARE)
    right = RIGHT[list(INFORMATIVE).index(setting.name)]
    return [({"mode": mode}, "iid"), ({"mode": mode, "precision": precision}, right)]


def _noise_measures(mechanism: AdditiveMechanism) -> dict[str, float]:
    """Return the moments of the loss, and the mean of sampled losses with its standard error."""
    size = mechanism.query.size
    draws = int(np.clip(NUMBERS // size, *DRAWS))
    sampled = mechanism.noise.squared_norms(np.random.default_rng(0), draws)
    moments = mechanism.noise.loss()
    return {
        "expected loss": moments.mean,
        "sampled loss": float(sampled.mean()),
        "standard error": float(sampled.std(ddof=1)) / draws**0.5,
        "kurtosis about zero": moments.raw_kurtosis,
        "kurtosis about the mean": moments.central_kurtosis,
    }


def _study_measures(
    results: Results, setting: PaperSetting, key: str, treatment: str
) -> dict[str, Any]:
    """Return the seconds and the score from the study that runs the setting; NaN if it has none."""
    if setting.name not in SOURCES:
        return {}
    study, metric, where = SOURCES[setting.name]
    seconds = _select_mechanism(results.timings, setting, key)
    seconds = select(seconds, study=study, calibration="published")
    seconds = _select_treatment(seconds, treatment)
    draws = seconds["metric"].isin(("draw_seconds", "release_seconds"))
    scores = ok_rows(_select_mechanism(results.rows, setting, key), study, metric)
    scores = select(_select_epsilon(scores, setting), calibration="published", **where)
    scores = _select_treatment(scores, treatment)
    return {
        "seconds of a calibration": select(seconds, metric="calibrate_seconds")["value"].median(),
        "seconds of a draw": seconds[draws]["value"].median(),
        "score": scores["value"].mean(),
        "scored by": metric if len(scores) else "",
    }


def _select_treatment(rows: pd.DataFrame, treatment: str) -> pd.DataFrame:
    """Return the rows of a treatment at the share SHARE, and the rows without a treatment."""
    if "treatment" not in rows:
        return rows
    return rows[rows["treatment"].fillna(treatment).eq(treatment) & ~(rows["share"] < SHARE - 1e-9)]


def _select_mechanism(rows: pd.DataFrame, setting: PaperSetting, key: str) -> pd.DataFrame:
    """Return the rows with a value of a mechanism at the shape of a setting."""
    shape = "x".join(map(str, setting.query.shape))
    return select(rows, mechanism=key, shape=shape, status=OK)


def _select_epsilon(rows: pd.DataFrame, setting: PaperSetting) -> pd.DataFrame:
    return rows[np.isclose(rows["epsilon"], setting.budget.epsilon, rtol=1e-9, atol=0)]
