"""The F1 scores of tldp2025's three studies, for figures and judges, and the implied epsilons."""

import itertools
import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from claims.comparisons import most, order
from claims.implied_epsilon import Implied, StatedNumber, implies, in_closed_form
from claims.intervals import TooFewTrials
from claims.judged_rows import LEVELS, listed
from claims.judges import CannotJudge
from claims.scores import ByDataset, Scores, official_scores
from claims.verdicts import CALIBRATION_TITLES, NOT_RUN, Outcome, Part
from datasets.titles import dataset_title
from paper_figures.style import mechanism_title
from paper_figures.tldp2025.theorems import loss_of
from papers.tldp2025 import (
    CLIP,
    PIXELS,
    STATED_DELTA_IMDB,
    STATED_F1_FEATURES,
    STATED_F1_IMAGES,
    STATED_F1_IMDB,
    stated_delta,
    stated_errors,
)

# The studies that reproduce the paper's types I to III.
IMAGES, FEATURES, PARAMETERS = "private_data", "private_features", "private_parameters"
CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small CNN trained from scratch",
    "mobilenet_v2": "MobileNetV2 fine-tuned from ImageNet weights",
}
TLDP = ("tldp-l", "tldp-g")
VARIANTS = (*TLDP, "tldp-l-w", "tldp-g-w")
OTHERS = ("laplace", "gaussian", "mvg-sqrt", "idn")
# The resolution of a score: one of the 10,000 records of the smallest official test set.
STEP = 1 / 10_000
# The controls and the mechanisms that the paper compares, which its figures show and its claims are
# about. A run may have others, which appear only in the CSV files beside the figures.
OF_THE_PAPER = (
    *LEVELS,
    *("laplace", "gaussian", "mvg", "mvg-sqrt", "idn"),
    *(*VARIANTS, "llagp", "dphsgd"),
)


def scores_of(
    rows: pd.DataFrame, study: str, calibration: str = "published", **at: str
) -> ByDataset:
    """Return `official_scores` of the paper's mechanisms."""
    return official_scores(rows, study, calibration, OF_THE_PAPER, STEP, **at)


def width_of(dataset: str, delta_range: str) -> float:
    """Return the Delta that a value of the column `range` means on a data set."""
    return stated_delta(dataset) if delta_range == "stated" else 2 * CLIP


# sigma_1^2 = I Delta^2 / (2 epsilon) is the classic variance 2 ln(1.25 / delta) I Delta^2 /
# epsilon'^2 at epsilon' = sqrt(4 ln(1.25 / delta) epsilon), whatever I and Delta are.
THEOREM_2 = (
    "The Gaussian of the paper's Theorem 2 has at epsilon the noise of the classic one of delta "
    "1e-5, which was run, at 6.85 sqrt(epsilon)."
)


def leads_by_side(found: Mapping[str, Scores], crossing: float, margin: float) -> list[Outcome]:
    """Judge whether TLDP-G is above TLDP-L at most budgets on each side of the crossing.

    The paper does not state the epsilons of its figures, so each side is an outcome. A budget at
    the crossing, where both have the same variance, is on neither side.

    Args:
        found: The scores by data set.
        crossing: The epsilon at which both have the same noise, whatever Delta is.
    """
    outcomes = []
    for side, less, inside in (
        ("below", "TLDP-G", operator.lt),
        ("above", "TLDP-L", operator.gt),
    ):
        gaps = {
            f"{scores.title} at {epsilon:g}": scores.gap("tldp-g", "tldp-l", epsilon)
            for scores in found.values()
            for epsilon in scores.select(["tldp-g"]).epsilons
            if inside(epsilon, crossing)
        }
        part = Part("no budgets there", NOT_RUN)
        if gaps:
            leads = order(gaps, margin=margin)
            part = most("TLDP-G above TLDP-L at most of them:", leads)
            each = listed(f"{lead.name}: {lead.found}" for lead in leads)
            part = replace(part, found=f"{part.found}: {each}")
        choice = f"budgets {side} epsilon {crossing:g}, where {less} has less noise"
        outcomes.append(Outcome(choice=choice, parts=(part,)))
    return outcomes


# Table 5 is a formula, evaluated here for one MNIST image at epsilon 1 and Delta = 1.
IMAGE, EPSILON = (28, 28), 1.0
# The delta of MVG and IDN, which Section 5.3.1 states.
DELTA = 1e-5


@implies()
def errors(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Table 5: E||noise|| on one image."""
    width = PIXELS[1] - PIXELS[0]
    for key, stated in stated_errors(IMAGE, EPSILON, width).items():
        names = {"gaussian": "Gaussian (Theorem 2)", "mvg": mechanism_title("mvg-sqrt")}
        yield StatedNumber(
            claim="tldp-t5",
            where="Table 5",
            mechanism=names.get(key) or mechanism_title(key),
            number=f"error {stated:.3g}, {IMAGE[0]} x {IMAGE[1]} pixels, Delta = 1",
            epsilon=f"{EPSILON:g}",
            implied={
                "published": in_closed_form(
                    lambda epsilon, key=key: loss_of(key, IMAGE, epsilon, width, DELTA), stated**2
                )
            },
            source="closed form",
        )


class StatedScores(NamedTuple):
    """The F1 scores that the text states for a figure.

    Args:
        claims: The claims that are judged by the scores, by data set; none is about SVHN.
        keys: The mechanisms that have these scores.
        epsilons: The text's words on their epsilon, by data set.
        ranges: The values of the column `range` to compute, with their labels.
    """

    where: str
    study: str
    stated: Mapping[str, float]
    claims: Mapping[str, str]
    keys: tuple[str, ...] = TLDP
    epsilons: Mapping[str, str] = {}
    ranges: Mapping[str | None, str] = {None: ""}


FIGURES = (
    StatedScores(
        "Figure 1",
        IMAGES,
        STATED_F1_IMAGES,
        {"mnist": "tldp-f1-mnist", "cifar10": "tldp-f1-cifar"},
        epsilons={"mnist": "below 1", "svhn": "below 1"},
    ),
    StatedScores(
        "Figure 2",
        FEATURES,
        STATED_F1_FEATURES,
        {"mnist": "tldp-f2", "cifar10": "tldp-f2"},
    ),
    StatedScores(
        "Figure 3",
        PARAMETERS,
        {"imdb": STATED_F1_IMDB["tldp"]},
        {"imdb": "tldp-f3-imdb"},
        keys=(*TLDP, "llagp"),
        epsilons={"imdb": "above 100"},
        ranges={
            "clip": f", Delta = {2 * CLIP:g}",
            "stated": f", Delta = {STATED_DELTA_IMDB:,}",
        },
    ),
)


@implies(*(figure.study for figure in FIGURES))
def scores(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Figures 1 to 3: F1 of models that learn from released data."""
    for figure in FIGURES:
        for (dataset, score), (name, words), key in itertools.product(
            figure.stated.items(), figure.ranges.items(), figure.keys
        ):
            at = {} if name is None else {"range": name}
            found, trials = _implied(rows, figure.study, dataset, key, score, at)
            if found:
                yield StatedNumber(
                    claim=figure.claims.get(dataset, ""),
                    where=figure.where,
                    mechanism=mechanism_title(key),
                    number=f"F1 {score:g}, {dataset_title(dataset)}{words}",
                    epsilon=figure.epsilons.get(dataset, "not stated"),
                    implied=found,
                    source=f"{figure.study}, {trials} trials",
                )


def _implied(
    rows: pd.DataFrame, study: str, dataset: str, key: str, score: float, at: dict[str, str]
) -> tuple[dict[str, Implied], int]:
    """Return the implied epsilon at each calibration, and the number of trials."""
    found, trials = {}, 0
    for calibration in CALIBRATION_TITLES:
        try:
            own = scores_of(rows, study, calibration, **at)[dataset]
            found[calibration], trials = own.implied(key, score), own.trials
        except (CannotJudge, TooFewTrials):
            continue
    return found, trials
