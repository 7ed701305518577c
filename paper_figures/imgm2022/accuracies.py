"""Accuracy over epsilon in imgm2022's two studies: Figure 1, and the one it only announces."""

import pandas as pd

from claims.judged_rows import ok_rows
from paper_figures.drawings import Drawn, drawing
from paper_figures.over_epsilon import (
    Panels,
    add_true_epsilon,
    score_figure,
    spread_over_trials,
    study_words,
    true_epsilons,
)
from runs.results import Results

FEATURES, GRADIENTS = "features", "gradients"


@drawing("imgm2022_fig1", kind="figures", needs=[FEATURES])
def figure_1(results: Results) -> Drawn:
    """Draw the accuracy over epsilon of a head that is trained on features released once."""
    return _draw(
        results.rows,
        FEATURES,
        "imgm2022 Figure 1 (type II), private features: test accuracy of a head trained on "
        "features that are released once",
        {
            "records": "released records",
            "public_records": "public records",
            "epochs": "epochs of the head",
            "sampling_rate": "q",
        },
        more="IMGM and the analytic Gaussian have the same distribution; at equal true privacy all "
        "i.i.d. Gaussian noise has it. Dotted: without noise, and trained on random features",
        note="The network's body is trained on the public "
        "records, which the paper does not mention. It turns every private training record into "
        "features, which are released in batches; test features carry no noise. Adjacency: one "
        "record is replaced, which changes one row by at most 2 per feature; labels are public. "
        "As published, a batch gets (epsilon / q, delta / q), which the paper takes as the "
        "amplified budget of MVG, the analytic Gaussian and IMGM, and which all mechanisms get "
        "here. Every record is released, so sampling amplifies nothing. At equal true privacy the "
        "noise is rescaled until the true delta of the release at epsilon is delta. IMGM and the "
        "analytic Gaussian have the same distribution at either calibration; MVG has equal "
        "precision in all directions, so that at equal true privacy it has their noise. The "
        "classic Gaussian is proved for epsilon < 1 only, and epsilon / q is mostly larger. The "
        "paper states no accuracy in numbers, so there is no marker for it.",
        true="as published",
    )


@drawing("imgm2022_gradients", kind="figures", needs=[GRADIENTS])
def accuracy_with_private_gradients(results: Results) -> Drawn:
    """Draw the accuracy over epsilon after training with noisy gradients."""
    return _draw(
        results.rows,
        GRADIENTS,
        "imgm2022 type I, private gradients, announced without results: test accuracy after "
        "training",
        {"records": "training records", "sampling_rate": "q", "steps": "steps"},
        more="At equal true privacy all i.i.d. Gaussian noise is the same. Dotted: without "
        "privacy, and random answers",
        note="Gradient descent on Poisson samples: a step "
        "clips every gradient to an l2 norm, which is the sensitivity, and releases their sum as "
        "one vector. On one vector the matrix mechanism is the classic Gaussian and IMGM the "
        "analytic one. Adjacency: one record is added or removed. As published, a step has its "
        "share of the budget by Theorem 3.4 of Kairouz, Oh and Viswanath, over q; the moments "
        "accountant sets its noise from the total. At equal true privacy the noise is rescaled "
        "until the bound on the run's true delta at epsilon is delta. Training without privacy "
        "does not clip.",
        true="as published, at most",
    )


def _draw(
    rows: pd.DataFrame,
    study: str,
    title: str,
    facts: dict[str, str],
    *,
    more: str,
    note: str,
    true: str,
) -> Drawn:
    """Draw the mean and range of a study's accuracies over epsilon, on every data set.

    Args:
        title: The beginning of the caption.
        facts: Labels by metric; the note begins with the values of these metrics.
        more: The end of the caption, without a full stop.
        note: The note after these values.
        true: The qualification of IMGM's true epsilon, with which the note ends.

    Raises:
        DrawingError: The results hold no accuracies of the study.
    """
    spread = add_true_epsilon(spread_over_trials(rows, study), rows, study)
    worth = true_epsilons(spread, "imgm")
    note += f" True epsilon of IMGM's claims {true}: {worth}." if worth else ""

    def trained(dataset: str) -> str:
        values = {
            words: ok_rows(rows, study, metric, dataset)["value"].iloc[0]
            for metric, words in facts.items()
        }
        return ", ".join(f"{w} {v:{'.4f' if v < 1 else ',.0f'}}" for w, v in values.items())

    panels = Panels("test accuracy,")
    return score_figure(
        rows,
        study,
        spread,
        panels,
        caption=(
            f"{title}, mean and range over {study_words(rows, study, spread)}. {more}"
            "; dashed, if known: the majority class."
        ),
        note=note,
        trained=trained,
    )
