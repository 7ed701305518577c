"""Reading the results of mvg2018's experiments: treatments, and the best share tau of each."""

from __future__ import annotations

import pandas as pd

from experiments.contract.treatments import IID
from experiments.regression import PCA
from runs.rows import OK

# What each experiment measures; a treatment's name follows after a space.
METRICS = {"regression": "rmse", "first_component": "error", "covariance": "rss"}


def measured(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Trials of an experiment's metric, with the columns `directions` and `share` beside it.

    directions: "" for a treatment without a name, otherwise the name without its share.
    """
    metric = METRICS[experiment]
    own = (rows["experiment"] == experiment) & (rows["status"] == OK)
    own &= (rows["metric"] == metric) | rows["metric"].str.startswith(f"{metric} ")
    chosen = rows[own]
    words = chosen["metric"].str[len(metric) :].str.extract(r"^ ?(.*?)(?: ([\d.]+))?$")
    return chosen.assign(directions=words[0], share=words[1].astype(float))


def best_share(trials: pd.DataFrame) -> pd.DataFrame:
    """Of trials of one set of directions, those of the share with the least mean.

    Chosen with the data, as the paper does, which favours the set; without shares, all trials.
    """
    if trials["share"].isna().all():
        return trials
    return trials[trials["share"] == trials.groupby("share")["value"].mean().idxmin()]


def right_directions(trials: pd.DataFrame) -> str | None:
    """The set of directions held to be right: the first in the results."""
    sets = trials[trials["share"].notna() & ~trials["directions"].isin((IID, PCA))]["directions"]
    return None if sets.empty else str(sets.iloc[0])
