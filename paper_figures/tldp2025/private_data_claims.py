"""tldp2025 type I: classifiers trained on protected images, judged on official data only."""

from __future__ import annotations

import math

import pandas as pd

from experiments.private_data import query_for
from mechanisms import Budget
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    calibrated,
    listed,
    mean_interval,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_numbers,
    verdict_on_order,
)

CLASSIFIERS = {
    "f1_logistic": "logistic regression",
    "f1_network": "a small CNN from scratch",
    "f1_mobilenet_v2": "MobileNetV2 from ImageNet weights",
}


def official_scores(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """F1 scores on an official data set, by one classifier.

    Raises:
        CannotJudge: The run has none.
    """
    rows = rows[rows["metric"].isin(CLASSIFIERS)]
    return pick(rows, experiment="private_data", dataset=dataset, data_source="official")


def score(rows: pd.DataFrame, mechanism: str, epsilon: float, calibration: str) -> float:
    """Mean over the trials."""
    chosen = {"mechanism": mechanism, "epsilon": epsilon, "calibration": calibration}
    return mean_interval(pick(rows, **chosen)["value"]).mean


def study_words(results: Results, rows: pd.DataFrame, dataset: str) -> str:
    """How the scores came about."""
    kept = pick(results.rows, experiment="private_data", dataset=dataset, metric="records")
    return (
        f"Weighted F1 on the clean test images by {CLASSIFIERS[rows['metric'].iloc[0]]}, trained "
        f"on {int(kept['value'].iloc[0]):,} released images (the paper: MobileNetV2, pre-trained "
        "on ImageNet, on all)"
    )


@judge(experiments=("private_data",))
def trained_score(claim: Claim, results: Results) -> Finding:
    """The best F1 of TLDP in a range of epsilon, and that nothing else comes near.

    Arguments: dataset; below, the largest epsilon that counts (any where absent); stated; others,
    whose F1 may exceed that of random images by `margin` at most.
    """
    a = claim.arguments
    rows = official_scores(results.rows, a["dataset"])
    published = rows[rows["calibration"] == "published"]
    tldp = published[published["mechanism"].isin(("tldp-l", "tldp-g"))]
    epsilons = [e for e in sorted(tldp["epsilon"].unique()) if e < a.get("below", math.inf)]
    if not epsilons:
        raise CannotJudge(f"The results have no TLDP below epsilon {a['below']}")
    found = {
        key: {e: score(rows, key, e, "published") for e in epsilons}
        for key in ("tldp-l", "tldp-g", *a["others"])
    }
    best = {key: max(found[key].values()) for key in ("tldp-l", "tldp-g")}
    chance = float(pick(published, mechanism="random-answer")["value"].mean())
    highest = {key: max(found[key].values()) for key in a["others"]}
    low = all(value <= chance + a["margin"] for value in highest.values())
    number = verdict_on_numbers([(max(best.values()), a["stated"])], claim.tolerance)
    exact = {key: score(rows, key, epsilons[-1], "exact") for key in ("tldp-l", "tldp-g")}
    clean = float(pick(published, mechanism="non-private")["value"].mean())
    return Finding(
        ours=", ".join(f"{value:.3g} ({key})" for key, value in best.items())
        + f" up to epsilon {epsilons[-1]:g}; others at most {max(highest.values()):.3g}",
        verdict=verdict_of_parts(number, REPRODUCED if low else NOT_REPRODUCED),
        detail=(
            f"{study_words(results, rows, a['dataset'])}; without noise it reaches {clean:.3g}, on "
            f"random images {chance:.3g}. Others: {listed(a['others'])}, at their own "
            "calibrations. The part about TLDP alone: "
            f"{number}. At the exact calibration at epsilon {epsilons[-1]:g} (noise rescaled until "
            "its true delta is the budget's) it has "
            f"{listed(f'{value:.3g} ({key})' for key, value in exact.items())}."
        ),
        calibration="both",
        trials=int(pick(published, mechanism="tldp-g", epsilon=epsilons[-1])["trial"].nunique()),
    )


@judge(experiments=("private_data",))
def variant_order(claim: Claim, results: Results) -> Finding:
    """TLDP-G above TLDP-L, TLDP-L-w about TLDP-L, TLDP-G-w below TLDP-G, at every epsilon given.

    Arguments: epsilons; alike, the largest difference of two scores that are about the same.
    """
    a = claim.arguments
    rows = official_scores(results.rows, "mnist")

    def difference(larger: str, smaller: str, epsilon: float):
        chosen = {"epsilon": epsilon, "calibration": "published"}
        return paired_difference(
            pick(rows, mechanism=larger, **chosen), pick(rows, mechanism=smaller, **chosen)
        )

    found = {
        name: [difference(*pair, epsilon) for epsilon in a["epsilons"]]
        for name, pair in {
            "G - L": ("tldp-g", "tldp-l"),
            "L-w - L": ("tldp-l-w", "tldp-l"),
            "G - G-w": ("tldp-g", "tldp-g-w"),
        }.items()
    }
    alike = all(abs(each.mean) <= a["alike"] for each in found["L-w - L"])
    kept = max(
        calibrated("tldp-g", query_for((28, 28)), Budget(epsilon=e)).profile().log_atom_mass
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
            f"{study_words(results, rows, 'mnist')}; mean differences and their 95% intervals at "
            f"epsilon {listed(f'{e:g}' for e in a['epsilons'])}. Part by part: "
            f"{listed(f'{name} {verdict}' for name, verdict in parts.items())}. Weights change "
            "only how often a value is kept: the probability that an image keeps any is at most "
            f"e^{kept:.0f} here."
        ),
        calibration="published",
        trials=found["G - L"][0].trials,
    )
