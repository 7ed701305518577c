"""The F1 scores of tldp2025's three studies: what their figures and their judges have in common."""

import math
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from claims.comparisons import most, order
from claims.judged_rows import LEVELS, listed, pick
from claims.scores import ByDataset, Scores, official_scores
from claims.verdicts import NOT_RUN, Outcome, Part
from paper_figures.tldp2025.numbers import CLIP, stated_delta

# The studies of the paper's types I to III.
IMAGES, FEATURES, PARAMETERS = "private_data", "private_features", "private_parameters"
CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small CNN trained from scratch",
    "mobilenet_v2": "MobileNetV2 fine-tuned from ImageNet weights",
}
TLDP = ("tldp-l", "tldp-g")
VARIANTS = (*TLDP, "tldp-l-w", "tldp-g-w")
OTHERS = ("laplace", "gaussian", "mvg-sqrt", "idn")
# One of 2,000 test records, the smallest test set of the studies' reference runs.
STEP = 1 / 2000
# The mechanisms that the paper compares, and the controls: its figures show them and its claims are
# about them. A run may have others, which the CSV files beside the figures have too.
OF_THE_PAPER = (
    *LEVELS,
    *("laplace", "gaussian", "mvg", "mvg-sqrt", "idn"),
    *(*VARIANTS, "llagp", "dphsgd"),
)


def scores_of(
    rows: pd.DataFrame, study: str, calibration: str = "published", **at: str
) -> ByDataset:
    """`official_scores` of the mechanisms of the paper."""
    return official_scores(rows, study, calibration, OF_THE_PAPER, STEP, **at)


def shared_number(rows: pd.DataFrame, study: str, dataset: str, metric: str) -> float:
    """A number that all cells of a data set have in common.

    Raises:
        CannotJudge: The results do not have it.
    """
    own = pick(rows, study=study, dataset=dataset, metric=metric)
    return float(own["value"].iloc[0])


def width_of(dataset: str, delta_range: str) -> float:
    """Delta of a range on a data set."""
    return stated_delta(dataset) if delta_range == "stated" else 2 * CLIP


def theorem_2_words(scores: Scores) -> str:
    """The scores of the classic Gaussian, as those of the Gaussian of the paper's Theorem 2.

    sigma_1^2 = I Delta^2 / (2 epsilon) is the classic variance 2 ln(1.25 / delta) I Delta^2 /
    epsilon'^2 at epsilon' = sqrt(4 ln(1.25 / delta) epsilon), whatever I and Delta are.
    """
    own = scores.rows[scores.rows["mechanism"] == "gaussian"]
    if own.empty:
        return ""
    square = 4 * math.log(1.25 / own["delta"].iloc[0])
    found = listed(
        f"{mean:.2g} at {epsilon**2 / square:.2g}"
        for epsilon, mean in scores.means["gaussian"].items()
    )
    return (
        "Theorem 2's Gaussian has at epsilon the noise of the classic one, which was run, at "
        f"{math.sqrt(square):.3g} sqrt(epsilon). So it has the F1 {found}."
    )


def leads_by_side(found: Mapping[str, Scores], crossing: float, margin: float) -> list[Outcome]:
    """TLDP-G above TLDP-L at most budgets, below and above the one at which their noise is equal.

    The paper does not state the epsilons of its figures: each side is an outcome.

    Args:
        found: The scores by data set.
        crossing: The epsilon at which both have the same noise, whatever Delta is.
    """
    name, sides = "TLDP-G above TLDP-L at most of them:", {"below": {}, "above": {}}
    for scores in found.values():
        for epsilon in scores.select(["tldp-g"]).epsilons:
            gaps = sides["below" if epsilon < crossing else "above"]
            gaps[f"{scores.title} at {epsilon:g}"] = scores.gap("tldp-g", "tldp-l", epsilon)
    outcomes = []
    for (side, gaps), less in zip(sides.items(), ("TLDP-G", "TLDP-L"), strict=True):
        leads = order(gaps, margin=margin)
        part = most(name, leads) if leads else Part("no budgets there", NOT_RUN)
        shown = ": ".join(filter(None, (part.found, list_parts(leads))))
        choice = f"budgets {side} epsilon {crossing:g}, where {less} has less noise"
        outcomes.append(Outcome(choice=choice, parts=(replace(part, found=shown),)))
    return outcomes


def list_parts(parts: list[Part]) -> str:
    """Parts with their numbers, without verdicts; "" where there are none."""
    return listed(f"{part.name}: {part.found}" for part in parts) if parts else ""
