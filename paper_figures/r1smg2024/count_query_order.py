"""Which maps of the count query are better, r1smg2024 Figure 4: the verdict on their order.

The maps themselves and their largest counts are in count_query_maps.py.
"""

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import scipy

from claims.comparisons import ratios
from claims.intervals import Bootstrap, bootstrapped, log_mean
from claims.judged_rows import calibrated, pick
from claims.judges import Positive, judge
from claims.verdicts import NOT_RUN, Finding, Outcome, Part
from paper_figures.r1smg2024.count_query import (
    budget_sizes,
    budget_words,
    by_mechanism,
    official_counts,
)
from paper_figures.r1smg2024.numbers import setting
from paper_figures.selections import size_of
from paper_figures.style import mechanism_title
from runs.results import Results


@judge(studies=("count_query",))
def count_order(
    results: Results,
    *,
    others: tuple[str, ...] = (),
    comparable: tuple[str, ...] = (),
    factor: Positive = 1.0,
    better: str | None = None,
) -> Finding:
    """Figure 4: other noise against R1SMG, by the ratio of L after post-processing.

    R1SMG's mean and median are the exact ones: its L has heavy tails, so that a mean over trials is
    far off, and that of a typical map is below the mean. The paper shows one map each and does not
    say by what measure: the squared error and its root, in the mean, and the squared error in the
    median are compared.

    Args:
        others: Noise that R1SMG is better than.
        comparable: Noise that R1SMG is at most `factor` times as bad as; it may also be better.
        better: One of these that is better than R1SMG.
    """
    rows = official_counts(results.rows)
    exact, typical = _expected_after_masking(rows), _median_after_masking(rows)
    absent = [key for key in comparable if not (rows["mechanism"] == key).any()]
    present = [key for key in (*others, *comparable) if key not in absent]
    frames = by_mechanism(rows, present, "loss_postprocessed")
    means = {key: _log_ratio(frames[key], exact, log_mean) for key in present}
    measures = {
        "mean squared error": means,
        "root mean squared error": {key: _rooted(effect) for key, effect in means.items()},
        "squared error of a typical map (median)": {
            key: _log_ratio(frames[key], typical, _log_median) for key in present
        },
    }
    bounds = dict.fromkeys(others, (1.0, math.inf))
    bounds |= {key: (1 / factor, math.inf) for key in comparable}
    if better is not None:
        bounds[better] = (1 / factor, 1.0)
    outcomes = []
    for measure, effects in measures.items():
        parts = ratios(
            {mechanism_title(key): effect for key, effect in effects.items()},
            stated={mechanism_title(key): bounds[key] for key in effects},
        )
        parts += [Part(mechanism_title(key), NOT_RUN) for key in absent]
        outcomes.append(Outcome(choice=measure, parts=tuple(parts)))
    at = setting("r1smg2024-count-0.5")
    ours, theirs = (
        calibrated(key, at.query, at.budget, calibration="exact").expected_loss()
        for key in ("r1smg", "gaussian-analytic")
    )
    sampled = frames["r1smg"]["value"].mean()
    return Finding(
        choice="how errors are measured",
        outcomes=outcomes,
        detail=(
            f"Official pickups, {budget_words()}; ratio of the mean of L, after post-processing, "
            f"to R1SMG's exact {exact:.4g} (over the trials it is {sampled:.4g}), and of the "
            f"median to its exact {typical:.4g}, with bootstrap intervals. Our bounding box and "
            "valid areas, which the paper does not give, scale every additive L alike. At the "
            "exact calibration, with all noise rescaled to a true "
            f"({at.budget.epsilon:g}, {at.budget.delta:g}), R1SMG's expected squared error is "
            f"{ours / theirs:.2g} times that of every Gaussian."
        ),
        calibration="both",
        sizes=budget_sizes(frames["r1smg"]),
    )


def _expected_after_masking(rows: pd.DataFrame) -> float:
    """R1SMG's exact mean of L over the valid cells: its noise is alike in all directions."""
    loss, valid, cells = _exact_facts(rows)
    return loss * valid / cells


def _exact_facts(rows: pd.DataFrame) -> tuple[float, float, int]:
    """R1SMG's expected L, the number of valid cells, and that of all cells."""
    chosen = {"mechanism": "r1smg", "calibration": "published"}
    loss, valid = (
        float(pick(rows, metric=metric, **chosen)["value"].iloc[0])
        for metric in ("expected_loss", "valid_cells")
    )
    return loss, valid, size_of(rows["shape"].iloc[0])


def _median_after_masking(rows: pd.DataFrame) -> float:
    """R1SMG's exact median of L over the valid cells.

    That L is sigma_* z^2 B, with z normal and B the share of the random direction's squared length
    that lies in the valid cells: Beta(valid/2, (M - valid)/2).
    """
    loss, valid, cells = _exact_facts(rows)
    shares = scipy.stats.beta.ppf(
        (np.arange(2000) + 0.5) / 2000, valid / 2, max(cells - valid, 1e-9) / 2
    )

    def excess(median: float) -> float:
        return float(scipy.stats.chi2.cdf(median / (loss * shares), 1).mean()) - 0.5

    return scipy.optimize.brentq(excess, 0.0, loss, rtol=1e-9)


def _log_ratio(
    frame: pd.DataFrame, exact: float, statistic: Callable[..., np.ndarray]
) -> Bootstrap:
    """A statistic of the trials of a mechanism, less that of an exact number."""
    values = frame["value"].to_numpy(float)
    return bootstrapped(values, np.full(len(values), exact), statistic)


def _log_median(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    return np.log(np.median(values, axis))


def _rooted(effect: Bootstrap) -> Bootstrap:
    """The logarithm of a ratio's square root."""
    return Bootstrap(effect.value / 2, effect.draws / 2, effect.trials)
