"""The 89 x 89 count query of r1smg2024, Section 7.1: selections of its rows, and verdicts.

Claims are judged on the official Uber pickups only, at the budget that the paper gives each
mechanism. count_query_figures.py has the drawings.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import scipy
from scipy.special import ndtr

from claims.comparisons import number, order, ratios, statement, universal
from claims.implied_epsilon import StatedNumber, implies, in_closed_form
from claims.intervals import Bootstrap, bootstrapped, log_mean
from claims.judged_rows import calibrated, number_of, official_study, pick
from claims.judges import Positive, Probability, judge
from claims.verdicts import CALIBRATION_TITLES, Finding, Outcome, Sizes
from paper_figures.r1smg2024.noise_only import noise_of
from paper_figures.selections import size_of
from paper_figures.style import mechanism_title
from papers.r1smg2024 import (
    COUNT_DELTA,
    DENSEST_WINDOW,
    LARGEST_COUNT,
    PICKUPS,
    PLACES,
    STATED_LOSSES,
    count_epsilon,
    count_query,
    setting,
)
from runs.results import Results

SHAPE = "89x89"
# The paper's budgets as a clause, and its epsilons alone.
BUDGET_WORDS = "epsilon 0.5 (R1SMG as published: 1e-05), delta 1e-07"
EPSILONS = "0.5 (R1SMG 1e-05)"


def select_paper_budget(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the budgets of Figures 4 and 5, which BUDGET_WORDS describes.

    As published, these are the paper's budgets. At equal true privacy, all mechanisms have the
    budget that the paper gives to those other than R1SMG.
    """
    epsilons = rows["mechanism"].map(count_epsilon).astype(float)
    epsilons = epsilons.where(rows["calibration"] == "published", count_epsilon("gaussian"))
    at_epsilon = np.isclose(rows["epsilon"], epsilons, rtol=1e-9, atol=0)
    return rows[at_epsilon & np.isclose(rows["delta"], COUNT_DELTA, rtol=1e-9, atol=0)]


def official_counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the paper's query and budgets: Uber pickups, 89 x 89 cells, delta 1e-7.

    Raises:
        CannotJudge: The run has no such rows.
    """
    return select_paper_budget(
        official_study(
            rows, "count_query", about="the Uber pickups", shape=SHAPE, delta=COUNT_DELTA
        )
    )


def trials_by_mechanism(
    rows: pd.DataFrame, others: list[str], metric: str
) -> dict[str, pd.DataFrame]:
    """Return a metric of R1SMG and of other mechanisms as published, by key, one row per trial.

    Raises:
        CannotJudge: A mechanism has no such rows.
    """
    return {
        key: pick(rows, metric=metric, mechanism=key, calibration="published")
        for key in ("r1smg", *others)
    }


def budget_sizes(rows: pd.DataFrame) -> Sizes:
    """Return the sizes behind a claim about Figure 4 or 5.

    Args:
        rows: The rows of one mechanism, one per trial.
    """
    return Sizes(records=PICKUPS, trials=rows["trial"].nunique(), epsilons=EPSILONS)


@judge
def accuracy_loss(*, tolerance: float) -> Finding:
    """Judge the expected losses E L of Figure 5 in closed form.

    MVG's noise grows with gamma, which the paper does not state, so its loss is computed at the
    smallest possible gamma, s/2.
    """
    found = {key: paper_noise(key).expected_loss() for key in STATED_LOSSES}
    # The numbers of cells that would have the stated losses in total, without MVG's.
    cells = count_query(PICKUPS).size
    counted = [cells * STATED_LOSSES[key] / found[key] for key in found if key != "mvg"]
    least = math.ceil(max((1 - tolerance) * count for count in counted))
    most = math.floor(min((1 + tolerance) * count for count in counted))
    return Finding(
        parts=[
            number(mechanism_title(key), found[key], stated, tolerance)
            for key, stated in STATED_LOSSES.items()
        ],
        detail=(
            f"E L = E||noise||^2 in closed form, by Definition 1, {BUDGET_WORDS}, s^2 = 2; MVG "
            "at the smallest possible gamma, s/2. Otherwise L does not depend on the data. The "
            "paper states the same loss for the classic and the analytic Gaussian, which differ "
            "whatever cells are counted. With s^2 = 1 (r1-s2), their losses and R1SMG's would be "
            f"half as large. Counted in {least} to {most} of the {cells} cells, L would be within "
            f"the tolerance for all but MVG; with at most {LARGEST_COUNT} pickups each, these hold "
            f"at most {most * LARGEST_COUNT:,} of the {PICKUPS:,} pickups."
        ),
        calibration="published",
        sizes=Sizes(records=PICKUPS, epsilons=EPSILONS),
    )


def paper_noise(key: str, epsilon: float | None = None, calibration: str = "published"):
    """Calibrate a mechanism to the count query, by default at its epsilon in Figure 5.

    MVG has the smallest possible gamma, s/2, which favours it.
    """
    at = setting(f"r1smg2024-count-{count_epsilon(key):g}")
    query = replace(at.query, frobenius_bound=at.query.l2_sensitivity / 2)
    budget = at.budget if epsilon is None else replace(at.budget, epsilon=epsilon)
    return calibrated(key, query, budget, calibration)


@judge(studies=("count_query",))
def loss_shape(results: Results, *, others: list[str], bell: float, margin: float) -> Finding:
    """Judge the skewness and kurtosis of L about the mean in Figure 5.

    Args:
        bell: The largest skewness and excess kurtosis that count as bell-shaped.
    """
    frames = trials_by_mechanism(official_counts(results.rows), others, "loss")
    values = {key: frame["value"].to_numpy(float) for key, frame in frames.items()}
    effects = {
        f"{word} minus {mechanism_title(key)}'s": bootstrapped(
            values["r1smg"], values[key], statistic
        )
        for key in others
        for word, statistic in (("skewness", scipy.stats.skew), ("kurtosis", scipy.stats.kurtosis))
    }
    bells = []
    for key in others:
        loss = noise_of(key, 89).loss()
        shape = (loss.central_skewness, loss.central_kurtosis - 3)
        bells.append(
            statement(
                f"{mechanism_title(key)} bell-shaped",
                max(shape) <= bell,
                f"skewness {shape[0]:.2g}, excess kurtosis {shape[1]:.2g} exactly",
            )
        )
    return Finding(
        parts=[*order(effects, margin=margin), *bells],
        detail=(
            f"Moments about the mean over trials, {BUDGET_WORDS}, with bootstrap intervals of "
            "the differences; the others' own shape in closed form. The shape of L depends "
            "neither on the data nor on the scale of the noise."
        ),
        calibration="published",
        sizes=budget_sizes(frames["r1smg"]),
    )


@judge(studies=("count_query",))
def largest_counts(results: Results, *, tolerance: float) -> Finding:
    """Judge the largest exact count in Figure 4, in the run's box and in every possible box."""
    rows = official_counts(results.rows)
    exact = number_of(rows, metric="nonprivate_largest_count", mechanism="non-private")
    scanned = pick(rows, metric="largest_in_box", mechanism="non-private")["value"].astype(float)
    # The cells of a box that contains both places are at least as large as the window, so that the
    # window meets at most four of them.
    least = math.ceil(DENSEST_WINDOW / 4)
    places = " and ".join(PLACES)
    return Finding(
        parts=[
            number("exact, in the run's box", exact, LARGEST_COUNT, tolerance),
            statement(
                f"exact, in every box with {places}",
                least <= LARGEST_COUNT * (1 + tolerance),
                f"at least {least} (stated {LARGEST_COUNT:g})",
            ),
        ],
        detail=(
            f"Official pickups of the run's window. A box that contains {places} has cells of at "
            "least 1/89 of the rectangle that these span. A window of that size inside the "
            f"rectangle holds {DENSEST_WINDOW} pickups and meets at most four cells of any grid, "
            f"so one of them has at least {least}. The paper gives neither its bounding box nor "
            "its valid areas. The reference run has the five boroughs, and cells with a pickup in "
            "the rest of the month. The boxes are drawn at random inside that one, half of them "
            "close to the places that the paper names. All contain these places, and the smallest "
            "such box is among them. Their largest counts are "
            f"{scanned.min():.0f} to {scanned.max():.0f}, median {scanned.median():.0f}."
        ),
        calibration="published",
        sizes=budget_sizes(pick(rows, metric="largest_count", mechanism="non-private")),
    )


@judge(studies=("count_query",))
def empty_areas(results: Results, *, mechanisms: list[str], many: Probability) -> Finding:
    """Judge how often an area of Figure 4 shows no counts, whatever its exact count is.

    An area shows none if its noise is below minus its count, which is least likely at the largest
    count. A part is confirmed if the probability is at least `many` at the paper's largest count
    and at ours; otherwise it is open.
    """
    ours = number_of(official_counts(results.rows), metric="nonprivate_largest_count")
    parts = []
    for key in mechanisms:
        at = setting(f"r1smg2024-count-{count_epsilon(key):g}")
        loss = calibrated(key, at.query, at.budget).expected_loss()
        deviation = math.sqrt(loss / at.query.size)
        shares = {count: ndtr(-count / deviation) for count in (LARGEST_COUNT, 10, ours)}
        found = ", ".join(f"{share:.3g} at a count of {c:g}" for c, share in shares.items())
        enough = [share >= many or None for share in (shares[LARGEST_COUNT], shares[ours])]
        parts.append(universal(f"{mechanism_title(key)}, areas without counts:", enough, found))
    return Finding(
        parts=parts,
        detail=(
            "The normal probability that the noise on an area outweighs its count. The largest "
            f"count is {LARGEST_COUNT} in the paper, {ours:g} here. Noise as published at "
            f"{BUDGET_WORDS}."
        ),
        calibration="published",
    )


@judge(studies=("count_query",))
def count_order(
    results: Results,
    *,
    others: tuple[str, ...] = (),
    comparable: tuple[str, ...] = (),
    factor: Positive = 1.0,
    better: str | None = None,
) -> Finding:
    """Judge Figure 4 by the ratio of other mechanisms' L after post-processing to R1SMG's.

    R1SMG's mean and median are exact, because its L has heavy tails: a mean over trials is far off,
    and a typical map has less than the mean. The paper shows one map of each mechanism and names no
    measure, so three are judged: the mean squared error, its root, and the median squared error.

    Args:
        others: Mechanisms that R1SMG is said to beat.
        comparable: Mechanisms whose error times `factor` is said to be at least R1SMG's.
        better: The mechanism of `comparable` that is said to beat R1SMG, if any.
    """
    rows = official_counts(results.rows)
    exact, typical = _masked_loss(rows)
    compared = [*others, *comparable]
    frames = trials_by_mechanism(rows, compared, "loss_postprocessed")
    means = {mechanism_title(key): _log_ratio(frames[key], exact, log_mean) for key in compared}
    measures = {
        "mean squared error": means,
        # Halving a logarithm takes the square root of the ratio.
        "root mean squared error": {
            title: Bootstrap(effect.value / 2, effect.draws / 2, effect.trials)
            for title, effect in means.items()
        },
        "squared error of a typical map (median)": {
            mechanism_title(key): _log_ratio(
                frames[key], typical, lambda values, axis=None: np.log(np.median(values, axis))
            )
            for key in compared
        },
    }
    bounds = {mechanism_title(key): (1.0, math.inf) for key in others} | {
        mechanism_title(key): (1 / factor, 1.0 if key == better else math.inf) for key in comparable
    }
    epsilon = count_epsilon("gaussian")
    ours, theirs = (
        paper_noise(key, epsilon, "exact").expected_loss() for key in ("r1smg", "gaussian-analytic")
    )
    return Finding(
        choice="how errors are measured",
        outcomes=[
            Outcome(choice=measure, parts=tuple(ratios(effects, stated=bounds)))
            for measure, effects in measures.items()
        ],
        detail=(
            f"Official pickups, {BUDGET_WORDS}; ratio of the mean of L, after post-processing, "
            f"to R1SMG's exact {exact:.4g}, and of the "
            f"median to its exact {typical:.4g}, with bootstrap intervals. Our bounding box and "
            "valid areas, which the paper does not give, scale every additive L alike. At the "
            "exact calibration, with all noise rescaled to a true "
            f"({epsilon:g}, {COUNT_DELTA:g}), R1SMG's expected squared error is "
            f"{ours / theirs:.2g} times that of every Gaussian."
        ),
        calibration="both",
        sizes=budget_sizes(frames["r1smg"]),
    )


def _masked_loss(rows: pd.DataFrame) -> tuple[float, float]:
    """Return R1SMG's exact mean and median of L over the valid cells.

    The noise has no preferred direction. L is sigma_* z^2 B, where sigma_* is the variance of the
    noise, z is a standard normal and B is the share of the random direction's squared length in the
    valid cells: Beta(valid/2, (M - valid)/2).
    """
    loss, valid = (
        number_of(rows, metric=metric, mechanism="r1smg", calibration="published")
        for metric in ("expected_loss", "valid_cells")
    )
    cells = size_of(rows["shape"].iloc[0])
    shares = scipy.stats.beta.ppf(
        (np.arange(2000) + 0.5) / 2000, valid / 2, max(cells - valid, 1e-9) / 2
    )

    def excess(median: float) -> float:
        return float(scipy.stats.chi2.cdf(median / (loss * shares), 1).mean()) - 0.5

    return loss * valid / cells, scipy.optimize.brentq(excess, 0.0, loss, rtol=1e-9)


def _log_ratio(
    frame: pd.DataFrame, exact: float, statistic: Callable[..., np.ndarray]
) -> Bootstrap:
    """Return a statistic of a mechanism's trials minus the same statistic of a constant sample."""
    values = frame["value"].to_numpy(float)
    return bootstrapped(values, np.full(len(values), exact), statistic)


@implies()
def losses(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Figure 5: the mean of ||noise||^2 on the map of pickups."""
    for key, stated in STATED_LOSSES.items():
        yield StatedNumber(
            claim="r1-f5-loss",
            where="Figure 5",
            mechanism=mechanism_title(key),
            number=f"mean L about {stated:,.0f}",
            epsilon=f"{count_epsilon(key):g}",
            implied={
                name: in_closed_form(
                    lambda epsilon, key=key, name=name: paper_noise(
                        key, epsilon, name
                    ).expected_loss(),
                    stated,
                )
                for name in CALIBRATION_TITLES
            },
            source="closed form",
        )
