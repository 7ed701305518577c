"""The epsilons at which mechanisms have the numbers that r1smg2024 states for them."""

from collections.abc import Iterator

import pandas as pd

from claims.implied_epsilon import StatedNumber, implies, on_curve
from claims.intervals import Effect, Mean
from claims.judged_rows import listed, ok_rows
from claims.judges import CannotJudge
from claims.verdicts import CALIBRATION_TITLES
from paper_figures.r1smg2024.count_query import implied_by_loss
from paper_figures.r1smg2024.dpsgd_verdicts import STUDY, TEST, official_runs
from paper_figures.r1smg2024.numbers import (
    REACHED_ACCURACY,
    REACHED_EPOCHS,
    STATED_LOSSES,
    TRAINING,
    count_epsilon,
)
from paper_figures.style import mechanism_title


@implies()
def losses(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Figure 5: the mean of ||noise||^2 on the map of pickups."""
    for key, stated in STATED_LOSSES.items():
        yield StatedNumber(
            claim="r1-f5-loss",
            where="Figure 5",
            mechanism=mechanism_title(key),
            number=f"mean L about {stated:,.0f}",
            epsilon=f"{count_epsilon(key):g}",
            implied={name: implied_by_loss(key, name) for name in CALIBRATION_TITLES},
            source="closed form",
        )


@implies("dpsgd")
def epochs(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Figure 7: test accuracy on MNIST after the stated epochs, at the best learning rate."""
    try:
        found = ok_rows(official_runs(rows, "mnist"), STUDY, TEST)
    except CannotJudge:
        return
    for key, epoch in REACHED_EPOCHS.items():
        own = found[(found["mechanism"] == key) & (found["epoch"] == epoch)]
        if own["trial"].nunique() < 2:
            continue
        # As published, then at equal true privacy.
        parts = dict(reversed(list(own.groupby("calibration"))))
        trials = listed(dict.fromkeys(str(part["trial"].nunique()) for part in parts.values()))
        yield StatedNumber(
            claim="r1-f7-epochs",
            where="Figure 7",
            mechanism="DPSGD" if key == "gaussian" else mechanism_title(key),
            number=f"accuracy {REACHED_ACCURACY:g} after {epoch} epochs, MNIST",
            epsilon=f"{TRAINING['mnist'].larger_total:g}",
            implied={
                calibration: on_curve(_at_best_rate(part), REACHED_ACCURACY)
                for calibration, part in parts.items()
            },
            source=f"dpsgd, {trials} trials, best learning rate",
        )


def _at_best_rate(runs: pd.DataFrame) -> dict[float, Effect]:
    """The accuracy at every budget, at the learning rate with the highest mean."""
    means = {
        key: Mean(part["value"].to_numpy(float))
        for key, part in runs.groupby(["epsilon", "learning_rate"])
    }
    return {
        epsilon: max(
            (mean for (other, _), mean in means.items() if other == epsilon),
            key=lambda mean: mean.value,
        )
        for epsilon, _ in means
    }
