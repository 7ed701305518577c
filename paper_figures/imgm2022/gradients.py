"""Private gradients of imgm2022 (type I), announced there without results: figure and verdict."""

from dataclasses import replace

import pandas as pd

from claims.comparisons import Signal, order
from claims.intervals import Mean, paired, words
from claims.judged_rows import LEVELS, listed, over_budgets, pick, required, shared_budgets, tally
from claims.judges import CannotJudge, judge
from claims.verdicts import CONTRADICTED, INCONCLUSIVE, Finding
from datasets.majority import MAJORITY
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.imgm2022.accuracies import (
    draw_accuracies,
    official_accuracies,
    sizes_of,
)
from paper_figures.style import mechanism_title
from runs.results import Results

STUDY = "gradients"
# Studies with more than so many times the records of each other are not compared.
ALIKE = 2.0


@drawing("imgm2022_gradients", kind="figures", needs=[STUDY])
def accuracy_with_private_gradients(results: Results) -> Drawn:
    """Accuracy after training with noisy gradients, over epsilon."""
    return draw_accuracies(
        results.rows,
        STUDY,
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
        floors=MAJORITY,
    )


@judge(studies=("gradients", "features"))
def gradients_beside_features(
    results: Results, *, datasets: list[str], mechanism: str, epochs: dict[str, int], margin: float
) -> Finding:
    """Whether accuracies with private gradients exceed those with private features.

    Gradients that were descended for fewer epochs than the paper's contradict nothing.
    """
    frames = {name: official_accuracies(results.rows, name) for name in ("features", "gradients")}
    effects: dict[str, Mean] = {}
    signals: dict[str, Signal] = {}
    unlike: dict[str, str] = {}
    fewer: dict[str, str] = {}
    exact, compared = [], []
    for dataset in datasets:
        both = [frame[frame["dataset"] == dataset] for frame in frames.values()]
        if any(frame.empty for frame in both):
            continue
        random = (pick(frame, mechanism="random-answer")["value"].mean() for frame in both)
        floor = max(*random, MAJORITY[dataset])
        sizes = _unlike_sizes(results.rows, dataset, list(frames))
        own_rows = results.rows[results.rows["study"] == STUDY]
        descended = own_rows[own_rows["dataset"] == dataset]["epoch"].fillna(0).max()
        for calibration in ("published", "exact"):
            own = [
                f[(f["mechanism"] == mechanism) & (f["calibration"] == calibration)] for f in both
            ]
            for epsilon in shared_budgets(*own):
                features, gradients = (over_budgets(frame, [epsilon]) for frame in own)
                where = f"{dataset_title(dataset)}, epsilon {epsilon:g}"
                name = f"{where}, gradients above features"
                difference = paired(gradients, features)
                if calibration == "exact":
                    exact.append(f"{where} {words(difference)}")
                    continue
                effects[name] = difference
                unlike[name] = sizes
                if descended < epochs[dataset]:
                    fewer[name] = f"{descended:g} of the paper's {epochs[dataset]} epochs"
                signals[name] = Signal(
                    means=(features["value"].mean(), gradients["value"].mean()),
                    floor=floor,
                    margin=margin,
                    better="larger",
                )
                compared.append(dataset)
    required(effects, CannotJudge("No official data set has both studies at a common epsilon"))
    parts = []
    for part in order(effects, margin=margin):
        reason = unlike[part.name] or signals[part.name].missing
        if not reason and part.verdict == CONTRADICTED:
            reason = fewer.get(part.name)
        parts.append(replace(part, verdict=INCONCLUSIVE, reason=reason) if reason else part)
    sizes, *others = (sizes_of(results.rows, STUDY, [name]) for name in dict.fromkeys(compared))
    return Finding(
        parts=tuple(parts),
        because=tally(parts, sizes.trials),
        detail=(
            f"Gradients minus features with {mechanism_title(mechanism)}. "
            f"{_levels(frames['gradients'], mechanism)} The features' noise is that of "
            "(epsilon / q, delta / q), though every record is released. With both rescaled "
            "until their true delta is the claimed one the differences are "
            f"{listed(exact) if exact else 'not known'}. The two studies differ in networks, "
            "steps, records and adjacency: a record is replaced for features, and added or removed "
            f"for gradients. {_extent(frames['gradients'])}"
        ),
        calibration="both",
        sizes=sizes,
        other_sizes=others,
    )


def _unlike_sizes(rows: pd.DataFrame, dataset: str, studies: list[str]) -> str:
    """Why two studies of a data set cannot be compared: one has far more records. Else nothing."""
    kept = rows[(rows["dataset"] == dataset) & (rows["metric"] == "records")]
    counts = [kept[kept["study"] == study]["value"].max() for study in studies]
    if max(counts) <= ALIKE * min(counts):
        return ""
    return " and ".join(
        f"{count:,.0f} records with private {study}"
        for count, study in zip(counts, studies, strict=True)
    )


def _levels(rows: pd.DataFrame, mechanism: str) -> str:
    """Accuracies of one mechanism with private gradients at the largest epsilon."""
    own = pick(rows, mechanism=mechanism)
    found = []
    for (dataset, calibration), part in own.groupby(["dataset", "calibration"]):
        top = part["epsilon"].max()
        level = part[part["epsilon"] == top]["value"].mean()
        found.append(f"{dataset_title(dataset)} {level:.3g} ({calibration}, epsilon {top:g})")
    return f"With private gradients it reaches {listed(found)}."


def _extent(rows: pd.DataFrame) -> str:
    """Which mechanisms and data sets the study of gradients has."""
    mechanisms = [mechanism_title(m) for m in rows["mechanism"].unique() if m not in LEVELS]
    datasets = [dataset_title(dataset) for dataset in rows["dataset"].unique()]
    return f"Gradients were run for {listed(mechanisms)} on {listed(datasets)}."
