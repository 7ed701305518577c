"""The four measures of noise, side by side: error, tails, time and use; the table `suite_metrics`.

A row is a mechanism, as published, at a setting of a paper. The expected loss and its kurtosis
follow from the noise, and some draws stand beside the former; seconds and scores are those of the
study that runs the setting.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from claims.judged_rows import calibrated, required
from mechanisms import AdditiveMechanism, Unsupported
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.mvg2018.numbers import binary_allocation
from paper_figures.paper_setting import PaperSetting
from paper_figures.paper_settings import PAPER_SETTINGS
from paper_figures.selections import ok_rows
from paper_figures.style import mechanism_title
from runs.result_table import OK
from runs.results import Results

# Noise of the five papers, and the noise that they compare with everywhere.
COMPARED = (
    *("mvg", "mgm", "udn", "idn", "imgm", "r1smg", "tldp-l", "tldp-g"),
    *("gaussian", "gaussian-analytic", "gaussian-per-element", "laplace"),
)
# MVG's directional noise in its own studies: the share tau of the rows of X that the paper calls
# informative (ALT and the target; anchors 0 and 3; FHR, ASV and ALV), and the names of these sets.
SHARE, RIGHT = 0.95, ("alt-y", "anc0-anc3", "fhr-asv-alv")
INFORMATIVE = {
    "mvg2018-regression": [2, 5],
    "mvg2018-component": [0, 3],
    "mvg2018-covariance": [0, 7, 9],
}
# Numbers drawn for a sampled loss, and the least and the most losses.
NUMBERS, DRAWS = 1_000_000, (5, 200)


class Source(NamedTuple):
    """Where the seconds and the score of a setting are.

    Args:
        study: Its name.
        score: Its metric; none where no row has the setting's budget.
        draw: The metric of the seconds of a draw, or of a release.
        where: What selects the rows of the setting.
    """

    study: str
    score: str = ""
    draw: str = "release_seconds"
    where: Mapping[str, Any] = {}


_LAYERS = Source("noise_only", draw="draw_seconds", where={"dataset": "gradient-shapes"})
SOURCES = {
    "mvg2018-regression": Source("regression", "rmse", where={"kernel": "linear"}),
    "mvg2018-component": Source("first_component", "error"),
    "mvg2018-covariance": Source("covariance", "rss"),
    **{f"mgm2021-{name}": _LAYERS for name in ("mnist", "cifar10", "imdb", "adult")},
    "imgm2022-features": Source("features", "test_accuracy", where={"dataset": "mnist"}),
    "r1smg2024-count-0.5": Source("count_query", "rmse_valid_cell"),
    "r1smg2024-count-1e-05": Source("count_query", "rmse_valid_cell"),
    "r1smg2024-pca-1.6": Source("pca", "accuracy"),
    "r1smg2024-pca-1.6e-07": Source("pca", "accuracy"),
}
_SCORED = tuple(dict.fromkeys(each.study for each in SOURCES.values() if each.score))
_TIMED = tuple(dict.fromkeys(each.study for each in SOURCES.values()))


@drawing("suite_metrics", kind="tables", needs=["guarantee/papers", *_SCORED], timings=_TIMED)
def metrics(results: Results) -> Drawn:
    """One row per mechanism and setting."""
    losses = ok_rows(results.rows, "guarantee", "expected_loss", "papers")
    losses = losses[losses["calibration"] == "exact"]
    records = [
        record
        for setting in PAPER_SETTINGS
        for key in COMPARED
        for record in _records(results, losses, setting, key)
    ]
    required(records, DrawingError("no mechanism serves a setting of the papers"))
    caption = (
        "Error, tails, time and use of noise at the papers' settings, as published: expected loss "
        "E||noise||^2 in closed form, sampled with its standard error, and at equal true privacy; "
        "kurtosis of the loss about zero, as r1smg2024 defines it, and about its mean; median "
        "seconds of a calibration and of a draw or release; the study's score, mean over trials."
    )
    note = (
        f"'tau {SHARE:g}' is MVG with that share of the precision on the features that its paper "
        "calls informative; other rows of MVG have equal precision. A normal variable has a "
        "kurtosis of 3 about its mean. Empty: not timed or scored at this setting, or no rescaled "
        "noise is known. Seconds depend on the machine."
    )
    return Drawn(caption, pd.DataFrame(records), note=note)


def _records(results: Results, losses: pd.DataFrame, setting: PaperSetting, key: str):
    """The rows of a mechanism at a setting: none where it does not serve it, two of MVG."""
    for options, treatment in _variants(setting, key):
        try:
            mechanism = calibrated(key, setting.query, setting.budget, **options)
        except Unsupported:
            return
        if isinstance(mechanism, AdditiveMechanism):
            is_directional = treatment in RIGHT
            exact = None if is_directional else _at(losses, setting, key)["value"].mean()
            yield {
                "mechanism": mechanism_title(key) + is_directional * f", tau {SHARE:g}",
                "setting": setting.name,
                "epsilon": setting.budget.epsilon,
                **_of_noise(mechanism),
                "loss at equal true privacy": exact,
                **_of_study(results, setting, key, treatment),
            }


def _variants(setting: PaperSetting, key: str) -> list[tuple[dict[str, Any], str | None]]:
    """The options of a mechanism, and the treatment that its study gives it."""
    if key != "mvg" or setting.name not in INFORMATIVE:
        return [({}, "iid" if key == "mvg" else None)]
    mode = "equimodal" if setting.name == "mvg2018-component" else "unimodal"
    precision = binary_allocation(setting.query.shape[0], INFORMATIVE[setting.name], SHARE)
    right = RIGHT[list(INFORMATIVE).index(setting.name)]
    return [({"mode": mode}, "iid"), ({"mode": mode, "precision": precision}, right)]


def _of_noise(mechanism: AdditiveMechanism) -> dict[str, float]:
    """The loss by its moments and by draws."""
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


def _of_study(
    results: Results, setting: PaperSetting, key: str, treatment: str | None
) -> dict[str, Any]:
    """Seconds and score of the study that runs the setting; None where it lacks them."""
    source = SOURCES.get(setting.name)
    if source is None:
        return {}
    found = {}
    for name, metric in (("calibration", "calibrate_seconds"), ("draw", source.draw)):
        rows = results.timings
        own = rows[(rows["study"] == source.study) & (rows["metric"] == metric)]
        own = own[(own["mechanism"] == key) & (own["calibration"] == "published")]
        shape = "x".join(map(str, setting.query.shape))
        seconds = own[(own["shape"] == shape) & (own["status"] == OK)]["value"]
        found[f"seconds of a {name}"] = seconds.median() if len(seconds) else None
    score = _score(results.rows, source, setting, key, treatment)
    return found | {"score": score, "scored by": source.score if score is not None else ""}


def _score(
    rows: pd.DataFrame, source: Source, setting: PaperSetting, key: str, treatment: str | None
) -> float | None:
    """The mean over trials, or None."""
    if not source.score:
        return None
    own = ok_rows(rows, source.study, source.score)
    own = _at(own[own["calibration"] == "published"], setting, key)
    for column, value in source.where.items():
        own = own[own[column] == value]
    if "treatment" in own and own["treatment"].notna().any():
        own = own[own["treatment"] == treatment]
        own = own[own["share"].isna() | np.isclose(own["share"].astype(float), SHARE)]
    return float(own["value"].mean()) if len(own) else None


def _at(rows: pd.DataFrame, setting: PaperSetting, key: str) -> pd.DataFrame:
    """The rows of a mechanism at the shape and the epsilon of a setting."""
    shape = "x".join(map(str, setting.query.shape))
    own = (rows["mechanism"] == key) & (rows["shape"] == shape)
    return rows[own & np.isclose(rows["epsilon"], setting.budget.epsilon, rtol=1e-9, atol=0)]
