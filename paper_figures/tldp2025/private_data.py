"""tldp2025 type I, classifiers trained on released images: Figure 1, Table 5, and their claims.

Judges read official data only.
"""

from __future__ import annotations

import math

import pandas as pd

from mechanisms import Budget
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.selections import failed_mechanisms
from paper_figures.style import dataset_title, in_order
from paper_figures.tldp2025.scores import (
    TLDP,
    OfficialScores,
    drawn_scores,
    official_scores,
    score_figure,
    shared_number,
    sources,
    trials_and_delta,
)
from paper_figures.verdict_rules import (
    calibrated,
    listed,
    paired_difference,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)
from papers.box_query import box_query
from papers.tldp2025 import PIXELS, stated_errors
from runs.rows import OK

STUDY = "private_data"
CLASSIFIER_WORDS = {
    "logistic": "logistic regression",
    "network": "a small CNN trained from scratch",
    "mobilenet_v2": "MobileNetV2 fine-tuned from ImageNet weights",
}
# Variants of a config that stand for an entry of Table 5.
STANDS_FOR = {"mvg-sqrt": "mvg"}


@drawing("tldp2025_fig1", kind="figures", needs=[STUDY])
def figure_1(results: Results) -> Drawn:
    """F1 over epsilon, one row of panels per data set, one column per calibration."""
    rows = results.rows
    spread = drawn_scores(rows, STUDY, "classifier")
    classifiers = spread.groupby("dataset")["classifier"].first()
    trained = "; ".join(
        f"{dataset_title(dataset)}: {shared_number(rows, STUDY, dataset, 'records'):,.0f} training "
        f"images, {CLASSIFIER_WORDS[classifier]}"
        for dataset, classifier in classifiers.items()
    )
    caption = (
        "tldp2025 Figure 1 (type I): weighted F1 of classifiers that are trained on released "
        f"images and tested on clean ones, {trials_and_delta(spread)}. "
        f"Data: {sources(rows, STUDY)}. Adjacency local. Left: noise as published. Right: noise "
        "rescaled until its true delta at epsilon is the budget's."
    )
    note = (
        f"{trained}. The paper trains MobileNetV2, pre-trained on ImageNet, on all images. Any "
        "image may become any other, all pixels lie in [0, 1], and labels are public. TLDP claims "
        "pure epsilon and Laplace noise gives it; the other mechanisms have delta, and the classic "
        "Gaussian is stated for epsilon < 1 only. TLDP with and without weights coincide where "
        "hardly any value is kept. A classifier that always answers one of ten equally frequent "
        "classes has an F1 of 0.018. Training on large noise often ends there, below the line of "
        "random images, whose classifier guesses among all classes. Small noise can raise the F1 "
        "above the line without noise, as it keeps a classifier from overfitting few images. The "
        "figure has the paper's mechanisms, its CSV file all that were run."
        f"{failed_mechanisms(rows, STUDY, *classifiers.index)}"
    )
    return Drawn(caption, spread, score_figure(spread, "F1 on clean images of"), note)


@drawing("tldp2025_table5", kind="tables", needs=[STUDY])
def table_5(results: Results) -> Drawn:
    """Error of one released image: stated, in closed form, and as measured."""
    rows = results.rows
    rows = rows[(rows["experiment"] == STUDY) & (rows["status"] == OK)]
    rows = rows[rows["calibration"] == "published"]
    if rows.empty:
        raise DrawingError(f"the results hold no published calibration of {STUDY}; run it first")
    keys = ["dataset", "shape", "mechanism", "epsilon"]
    means = rows.pivot_table(index=keys, columns="metric", values="value", aggfunc="mean")
    records = []
    for (dataset, shape, mechanism, epsilon), row in means.iterrows():
        axes = tuple(int(n) for n in shape.split("x"))
        entries = stated_errors(axes, epsilon, PIXELS[1] - PIXELS[0])
        stated = entries.get(STANDS_FOR.get(mechanism, mechanism))
        if stated is None:
            continue
        measured = math.sqrt(row["squared_error"])
        records.append(
            {
                "dataset": dataset,
                "mechanism": mechanism,
                "epsilon": epsilon,
                "stated error": stated,
                "closed form": math.sqrt(row["expected_loss"]),
                "measured": measured,
                "stated / measured": stated / measured,
            }
        )
    if not records:
        raise DrawingError("Table 5 needs one of laplace, gaussian, mvg, idn, tldp-l, tldp-g")
    table = pd.DataFrame(records)
    order = table["mechanism"].map(in_order(table["mechanism"]).index)
    table = table.assign(order=order).sort_values(["dataset", "order", "epsilon"])
    caption = (
        "tldp2025 Table 5 for one image with pixels in [0, 1] (Delta = 1), noise as published: the "
        "error that the paper states, sqrt(E||Z||^2) of the noise in closed form, and the root of "
        "the mean ||Z||^2 over all released images. Adjacency local."
    )
    note = (
        "The paper states Gaussian, MVG and IDN without a delta; here they have delta "
        f"{rows['delta'].iloc[0]:g}, and MVG has the zeta of mgm2021."
    )
    return Drawn(caption, table.drop(columns="order").reset_index(drop=True), note=note)


def _conditions(rows: pd.DataFrame, scores: OfficialScores, dataset: str) -> str:
    """Which classifier was trained on how many images."""
    classifier = CLASSIFIER_WORDS[scores.rows["classifier"].iloc[0]]
    return (
        f"Weighted F1 on the clean test images by {classifier}, trained on "
        f"{shared_number(rows, STUDY, dataset, 'records'):,.0f} released images (the paper: "
        "MobileNetV2, pre-trained on ImageNet, on all)"
    )


@judge(experiments=(STUDY,))
def trained_score(claim: Claim, results: Results) -> Finding:
    """The best F1 of TLDP below an epsilon, and that no other mechanism comes near it.

    Arguments: dataset; below, the bound on epsilon (none where absent); stated, the F1; others, the
    mechanisms whose F1 may exceed that of random images by `margin` at most.
    """
    a = claim.arguments
    scores = official_scores(results.rows, STUDY, a["dataset"])
    counted = scores.within(below=a.get("below", math.inf))
    epsilons = sorted(counted.rows[counted.rows["mechanism"].isin(TLDP)]["epsilon"].unique())
    if not epsilons:
        raise CannotJudge(f"The results have no TLDP below epsilon {a['below']}")
    best = {key: counted.best([key]) for key in TLDP}
    highest = {key: counted.best([key]) for key in a["others"]}
    chance, clean = scores.level("random-answer"), scores.level("non-private")
    low = all(value <= chance + a["margin"] for value in highest.values())
    number = verdict_on_numbers([(max(best.values()), a["stated"])], claim.tolerance)
    exact = official_scores(results.rows, STUDY, a["dataset"], "exact").at(epsilons[-1])
    return Finding(
        ours=", ".join(f"{value:.3g} ({key})" for key, value in best.items())
        + f" up to epsilon {epsilons[-1]:g}; others at most {max(highest.values()):.3g}",
        verdict=verdict_of_parts(number, REPRODUCED if low else NOT_REPRODUCED),
        detail=(
            f"{_conditions(results.rows, scores, a['dataset'])}; without noise it reaches "
            f"{clean:.3g}, on random images {chance:.3g}. Others: {listed(a['others'])}, each at "
            f"its published calibration. The part about TLDP alone: {number}. At equal true "
            f"privacy at epsilon {epsilons[-1]:g} (noise rescaled until its true delta is the "
            f"budget's) it has {listed(f'{exact.best([key]):.3g} ({key})' for key in TLDP)}."
        ),
        calibration="both",
        trials=int(scores.of("tldp-g", epsilons[-1])["trial"].nunique()),
    )


@judge(experiments=(STUDY,))
def variant_order(claim: Claim, results: Results) -> Finding:
    """TLDP-G above TLDP-L, TLDP-L-w about TLDP-L, TLDP-G-w below TLDP-G, at every epsilon given.

    Arguments: epsilons; alike, the largest mean difference of two scores that count as about the
    same.
    """
    a = claim.arguments
    scores = official_scores(results.rows, STUDY, "mnist")
    pairs = {
        "G - L": ("tldp-g", "tldp-l"),
        "L-w - L": ("tldp-l-w", "tldp-l"),
        "G - G-w": ("tldp-g", "tldp-g-w"),
    }
    found = {
        name: [
            paired_difference(scores.of(larger, epsilon), scores.of(smaller, epsilon))
            for epsilon in a["epsilons"]
        ]
        for name, (larger, smaller) in pairs.items()
    }
    alike = all(abs(each.mean) <= a["alike"] for each in found["L-w - L"])
    shape = tuple(int(axis) for axis in scores.rows["shape"].iloc[0].split("x"))
    query = box_query(shape, *PIXELS)
    kept = max(
        calibrated("tldp-g", query, Budget(epsilon=e)).profile().log_atom_mass
        for e in a["epsilons"]
    )
    # Where no value is ever kept the two noises are one, and an interval off zero is chance.
    same = kept < math.log(1e-9)
    parts = {
        "G - L": verdict_on_order(*found["G - L"]),
        "L-w - L": REPRODUCED if alike else NOT_REPRODUCED,
        "G - G-w": NOT_REPRODUCED if same else verdict_on_order(*found["G - G-w"]),
    }
    return Finding(
        ours="; ".join(
            f"{name} {listed(str(each) for each in intervals)}" for name, intervals in found.items()
        ),
        verdict=verdict_of_parts(*parts.values()),
        detail=(
            f"{_conditions(results.rows, scores, 'mnist')}; mean differences and their 95% "
            f"intervals at epsilon {listed(f'{e:g}' for e in a['epsilons'])}. Part by part: "
            f"{listed(f'{name} {verdict}' for name, verdict in parts.items())}. Weights change "
            "only how often a value is kept: the probability that an image keeps any value is at "
            f"most e^{kept:.0f} here."
        ),
        calibration="published",
        trials=found["G - L"][0].trials,
    )
