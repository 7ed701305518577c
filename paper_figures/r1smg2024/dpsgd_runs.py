"""Runs of DP-SGD, r1smg2024 Section 7.3: the rows that Figures 7 and 8 and their verdicts read."""

import pandas as pd

from claims.judged_rows import ok_rows, pick

STUDY = "dpsgd"
# The rows keep the mechanism's key; in this study its noise is not that of its theorem.
DPSGD = "gaussian"
# The control, which does not clip.
PUBLIC = "non-private"
# Accuracy of guessing one of ten classes.
RANDOM = 0.1
TEST, TRAIN = "test_accuracy", "train_accuracy"
DIVERGED = "diverged_epoch"


def official_runs(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Rows of the study on one official data set.

    Raises:
        CannotJudge: The run has none.
    """
    return pick(rows, study=STUDY, dataset=dataset, data_source="official")


def rates_of(rows: pd.DataFrame) -> list[float]:
    """The learning rates of the runs with clipping, the smallest first."""
    clipped = rows[rows["mechanism"] != PUBLIC]
    return sorted(clipped["learning_rate"].dropna().unique())


def public_rate(rows: pd.DataFrame) -> float | None:
    """The rate of training without privacy, where it is not that of every run with clipping."""
    found = rows[rows["mechanism"] == PUBLIC]["learning_rate"].dropna().unique()
    return float(found[0]) if len(found) == 1 and list(found) != rates_of(rows) else None


def runs_at_rate(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Rows of the runs of one learning rate; training without privacy at its own if it has one."""
    own = public_rate(rows)
    public = rows["mechanism"] == PUBLIC
    wanted = public.map({True: rate if own is None else own, False: rate})
    return rows[rows["learning_rate"] == wanted]


def best_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs of every mechanism, calibration and budget at its best learning rate.

    The best has the highest test accuracy, a mean over epochs and trials.
    """
    runs = ["mechanism", "calibration", "epsilon"]
    means = (
        ok_rows(rows, STUDY, TEST).groupby([*runs, "learning_rate"], as_index=False)["value"].mean()
    )
    best = means.sort_values("value").drop_duplicates(runs, keep="last")
    return rows.merge(best[[*runs, "learning_rate"]])


def size_of_runs(rows: pd.DataFrame) -> dict[str, float]:
    """Records, sampling rate, steps and epochs of the runs on one data set, which all share."""
    facts = ("records", "sampling_rate", "steps")
    size = {name: float(ok_rows(rows, STUDY, name)["value"].iloc[0]) for name in facts}
    return size | {"epochs": int(ok_rows(rows, STUDY, TEST)["epoch"].max())}
