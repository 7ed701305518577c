"""Figure 1 of imgm2022, private features, and the private gradients that it announces."""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.over_epsilon import draw_spread, spread_over_trials, true_epsilons
from paper_figures.results import Results
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, ok_rows


@drawing("imgm2022_fig1", kind="figures", needs=["features"])
def figure_1(results: Results) -> Drawn:
    """Accuracy of a head on features released once, over epsilon."""
    spread = spread_over_trials(results.rows, "features", "test_accuracy")
    facts = {"records": "released", "public_records": "public", "sampling_rate": "q"}
    worth = true_epsilons(spread, "imgm")
    caption = (
        f"imgm2022 Figure 1 (type II): {_data_words(results.rows, 'features', facts)}. Features of "
        "every private training record are released once, in batches; a head is trained on them "
        "and tested on clean features of the test records. The body that gives the features was "
        "trained on the public records, which the paper does not tell of. Mean and range over "
        f"{int(spread['count'].max())} trials, delta {spread['delta'].iloc[0]:g}. Adjacency: one "
        "record replaced, which changes one row by at most 2 per feature; labels are public. Left: "
        "noise at (epsilon / q, delta / q), which the paper takes for the amplified budget, here "
        "of all mechanisms; "
        "every record is in the release, and nothing is amplified. Right: rescaled until the true "
        "delta of the release at epsilon is the budget's; all i.i.d. Gaussian noise is then the "
        "same. IMGM and the analytic Gaussian are one distribution on either side; the classic "
        "Gaussian is proved for epsilon < 1 only, and epsilon / q passes that at most points."
        + (f" True epsilon of IMGM's claims on the left, by data set: {worth}." if worth else "")
        + failed_mechanisms(results.rows, "features", *sorted(set(spread["dataset"])))
    )
    return Drawn(caption, spread, draw_spread(spread, "test accuracy,"))


@drawing("imgm2022_gradients", kind="figures", needs=["gradients"])
def gradients(results: Results) -> Drawn:
    """Accuracy after training with noisy gradients, over epsilon: announced and never shown."""
    spread = spread_over_trials(results.rows, "gradients", "final_test_accuracy")
    facts = {"records": "training records", "sampling_rate": "q", "steps": "steps"}
    worth = true_epsilons(spread, "imgm")
    caption = (
        "imgm2022 type I, announced there without results: "
        f"{_data_words(results.rows, 'gradients', facts)}. Gradient descent on Poisson samples, "
        "every step's sum of gradients, each clipped to an l2 norm that is the sensitivity, "
        "released as one vector, on which the matrix mechanism is the classic Gaussian and IMGM "
        "the analytic one; accuracy at the end, mean "
        f"and range over {int(spread['count'].max())} trials, delta {spread['delta'].iloc[0]:g}. "
        "Adjacency: one record added or removed. Left: as published, a step has its share of the "
        "budget by Theorem 3.4 of Kairouz, Oh and Viswanath, over q; the moments accountant sets "
        "its noise from the total. Right: rescaled until the bound on the run's true delta is the "
        "budget's; all i.i.d. Gaussian noise is then the same. Training without privacy does not "
        "clip."
        + (f" True epsilon of IMGM's claims on the left, at most: {worth}." if worth else "")
        + failed_mechanisms(results.rows, "gradients", *sorted(set(spread["dataset"])))
    )
    return Drawn(caption, spread, draw_spread(spread, "test accuracy,"))


def _data_words(rows: pd.DataFrame, experiment: str, facts: dict[str, str]) -> str:
    """Every data set with its source and these numbers of its study."""
    own = rows[rows["experiment"] == experiment]
    words = []
    for dataset, part in own.groupby("dataset"):
        values = {m: ok_rows(part, experiment, m)["value"].iloc[0] for m in facts}
        numbers = ", ".join(
            f"{name} {values[m]:{'.4f' if values[m] < 1 else ',.0f'}}" for m, name in facts.items()
        )
        words.append(f"{dataset} ({SOURCE_WORDS[part['data_source'].iloc[0]]}; {numbers})")
    return ", ".join(words)
