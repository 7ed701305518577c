"""The epsilons at which mechanisms have the numbers that tldp2025 states for them."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from claims.implied_epsilon import Implied, StatedNumber, implies, in_closed_form
from claims.intervals import TooFewTrials
from claims.judges import CannotJudge
from claims.verdicts import CALIBRATION_TITLES
from datasets.titles import dataset_title
from paper_figures.style import mechanism_title
from paper_figures.tldp2025.numbers import (
    CLIP,
    PIXELS,
    STATED_DELTA_IMDB,
    STATED_F1_FEATURES,
    STATED_F1_IMAGES,
    STATED_F1_IMDB,
    stated_errors,
)
from paper_figures.tldp2025.scores import TLDP, scores_of
from paper_figures.tldp2025.theorems import loss_of

# Table 5 is a formula: its numbers for one MNIST image at epsilon 1, Delta = 1.
IMAGE, EPSILON = (28, 28), 1.0
# Of MVG and IDN; Section 5.3.1 states it.
DELTA = 1e-5


class StatedScores(NamedTuple):
    """The F1 scores that the text states for a figure.

    claims: The claims about them, by data set; none is about SVHN.
    keys: The mechanisms that they are of.
    epsilons: What the text says of their epsilon, by data set.
    ranges: The ranges that noise is for, each with its words.
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
        "private_data",
        STATED_F1_IMAGES,
        {"mnist": "tldp-f1-mnist", "cifar10": "tldp-f1-cifar"},
        epsilons={"mnist": "below 1", "svhn": "below 1"},
    ),
    StatedScores(
        "Figure 2",
        "private_features",
        STATED_F1_FEATURES,
        {"mnist": "tldp-f2", "cifar10": "tldp-f2"},
    ),
    StatedScores(
        "Figure 3",
        "private_parameters",
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


@implies()
def errors(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Table 5: E||noise|| on one image."""
    width = PIXELS[1] - PIXELS[0]
    for key, stated in stated_errors(IMAGE, EPSILON, width).items():
        of_theorem_2 = ", Theorem 2's noise" if key == "gaussian" else ""
        yield StatedNumber(
            claim="tldp-t5",
            where="Table 5",
            mechanism=mechanism_title({"mvg": "mvg-sqrt"}.get(key, key)),
            number=f"error {stated:.3g}, {IMAGE[0]} x {IMAGE[1]} pixels, Delta = 1{of_theorem_2}",
            epsilon=f"{EPSILON:g}",
            implied={
                "published": in_closed_form(
                    lambda epsilon, key=key: loss_of(key, IMAGE, epsilon, width, DELTA), stated**2
                )
            },
            source="closed form",
        )


@implies(*(figure.study for figure in FIGURES))
def scores(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Figures 1 to 3: F1 of what is learnt from released data."""
    for figure in FIGURES:
        for dataset, score in figure.stated.items():
            for name, words in figure.ranges.items():
                at = {} if name is None else {"range": name}
                for key in figure.keys:
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
    """The implied epsilon at each calibration, and the number of trials."""
    found, trials = {}, 0
    for calibration in CALIBRATION_TITLES:
        try:
            own = scores_of(rows, study, calibration, **at)[dataset]
            found[calibration], trials = own.implied(key, score), own.trials
        except (CannotJudge, TooFewTrials):
            continue
    return found, trials
