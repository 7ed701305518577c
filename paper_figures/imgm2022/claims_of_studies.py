"""imgm2022 Section 5: learning from noisy features and gradients, judged on official data only."""

from __future__ import annotations

import pandas as pd

from paper_figures.ledger import (
    NOT_REPRODUCED,
    NOT_RUN,
    REPRODUCED,
    CannotJudge,
    Claim,
    Finding,
    judge,
)
from paper_figures.results import Results
from paper_figures.selections import LEVELS
from paper_figures.verdict_rules import (
    listed,
    mean_interval,
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_order,
)

ACCURACIES = {"features": "test_accuracy", "gradients": "final_test_accuracy"}


def official_accuracies(rows: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Accuracies at the end of a study's trials, on official data.

    Raises:
        CannotJudge: The run has none.
    """
    wanted = {"experiment": experiment, "metric": ACCURACIES[experiment]}
    return pick(rows, data_source="official", **wanted)


def over_epsilons(rows: pd.DataFrame, mechanism: str, calibration: str, epsilons) -> pd.DataFrame:
    """One row per trial: a mechanism's mean accuracy over some epsilons."""
    own = pick(rows, mechanism=mechanism, calibration=calibration)
    return own[own["epsilon"].isin(epsilons)].groupby("trial")["value"].mean().reset_index()


def common_epsilons(*frames: pd.DataFrame) -> list[float]:
    """Those that every frame has, in order."""
    return sorted(set.intersection(*(set(frame["epsilon"]) for frame in frames)))


@judge(experiments=("features",))
def features_order(claim: Claim, results: Results) -> Finding:
    """IMGM above the analytic Gaussian above MVG, and MVG near random answers, as published.

    Arguments: datasets; margin, how far above random answers is almost random.
    """
    a = claim.arguments
    rows = official_accuracies(results.rows, "features")
    present = [dataset for dataset in a["datasets"] if dataset in set(rows["dataset"])]
    if not present:
        raise CannotJudge(f"The results have no features of {listed(a['datasets'])}")
    missing = [dataset for dataset in a["datasets"] if dataset not in present]
    verdicts, gaps, words, exact, above = [], [], [], [], []
    for dataset in present:
        own = rows[rows["dataset"] == dataset]
        keys = ("imgm", "gaussian-analytic", "mvg")
        epsilons = common_epsilons(
            *(pick(own, mechanism=key, calibration="published") for key in keys)
        )
        imgm, analytic, mvg = (over_epsilons(own, k, "published", epsilons) for k in keys)
        first, second = paired_difference(imgm, analytic), paired_difference(analytic, mvg)
        # Where the two noises are one, an interval off zero is chance.
        one = _one_noise(results.rows, dataset, "imgm", "gaussian-analytic")
        verdicts += [NOT_REPRODUCED] * one
        gaps += [second] if one else [first, second]
        chance = float(
            pick(own, mechanism="random-answer", calibration="published")["value"].mean()
        )
        above.append(mean_interval(mvg["value"]).mean - chance)
        verdicts.append(REPRODUCED if above[-1] <= a["margin"] else NOT_REPRODUCED)
        words.append(f"{dataset}: IMGM - analytic {first}, analytic - MVG {second}")
        exact.append(
            f"{dataset} "
            + ", ".join(
                f"{mean_interval(over_epsilons(own, k, 'exact', epsilons)['value']).mean:.3g}"
                for k in keys
            )
        )
    absent = f" Not run: {listed(missing)}." if missing else ""
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*gaps), *verdicts, *[NOT_RUN] * bool(missing)),
        detail=(
            "Differences of accuracies averaged over the epsilons of the run, with 95% intervals "
            "over trials, all mechanisms at (epsilon / q, delta / q). IMGM's noise and the "
            "analytic Gaussian's have the same standard deviation. MVG is above random answers "
            f"by {listed(f'{gap:+.3g}' for gap in above)}. With the noise rescaled until the "
            "release's true delta is the claimed one, IMGM, the analytic Gaussian and MVG reach "
            f"{listed(exact)}.{absent}"
        ),
        calibration="both",
        trials=int(rows["trial"].nunique()),
    )


def _one_noise(rows: pd.DataFrame, dataset: str, first: str, second: str) -> bool:
    """Whether two i.i.d. Gaussian noises have one standard deviation at every epsilon."""
    wanted = {"experiment": "features", "dataset": dataset, "calibration": "published"}
    deviations = (
        pick(rows, mechanism=key, metric="noise_deviation", **wanted).set_index("epsilon")["value"]
        for key in (first, second)
    )
    ratio = next(deviations) / next(deviations)
    return bool(((ratio.dropna() - 1).abs() < 1e-9).all())


@judge(experiments=("gradients", "features"))
def gradients_beside_features(claim: Claim, results: Results) -> Finding:
    """Accuracies with private gradients, and whether they exceed those with private features.

    Arguments: datasets, those of either study; mechanism.
    """
    a = claim.arguments
    frames = {name: official_accuracies(results.rows, name) for name in ACCURACIES}
    found = {"published": [], "exact": []}
    words = []
    for dataset in a["datasets"]:
        both = [frame[frame["dataset"] == dataset] for frame in frames.values()]
        if any(frame.empty for frame in both):
            continue
        for calibration, gaps in found.items():
            own = [
                f[(f["mechanism"] == a["mechanism"]) & (f["calibration"] == calibration)]
                for f in both
            ]
            epsilons = common_epsilons(*own)
            if not epsilons:
                continue
            features, gradients = (
                over_epsilons(f, a["mechanism"], calibration, epsilons) for f in own
            )
            gaps.append(paired_difference(gradients, features))
            if calibration == "published":
                at = listed(f"{epsilon:g}" for epsilon in epsilons)
                words.append(f"{dataset}, epsilon {at}: {gaps[-1]}")
    if not found["published"]:
        raise CannotJudge("No official data set has both studies at a common epsilon")
    return Finding(
        ours=f"gradients - features {'; '.join(words)}",
        verdict=verdict_on_order(*found["published"]),
        detail=(
            f"Differences of test accuracies with {a['mechanism']}, averaged over the epsilons, "
            f"with 95% intervals over trials. {_levels(frames['gradients'], a['mechanism'])} The "
            "features' noise is that of (epsilon / q, delta / q), though every record is released. "
            "With both rescaled until their true delta is the claimed one the differences are "
            f"{listed(map(str, found['exact'])) if found['exact'] else 'not known'}. The two "
            f"studies differ in networks, steps and records. {_extent(frames['gradients'])}"
        ),
        calibration="both",
        trials=found["published"][0].trials,
    )


def _levels(rows: pd.DataFrame, mechanism: str) -> str:
    """Accuracies of one mechanism with private gradients at the largest epsilon."""
    own = pick(rows, mechanism=mechanism)
    words = []
    for (dataset, calibration), part in own.groupby(["dataset", "calibration"]):
        top = part["epsilon"].max()
        level = part[part["epsilon"] == top]["value"].mean()
        words.append(f"{dataset} {level:.3g} ({calibration}, epsilon {top:g})")
    return f"With private gradients it reaches {listed(words)}."


def _extent(rows: pd.DataFrame) -> str:
    """Which mechanisms and data sets the study of gradients has."""
    mechanisms = [m for m in rows["mechanism"].unique() if m not in LEVELS]
    return f"Gradients were run for {listed(mechanisms)} on {listed(rows['dataset'].unique())}."
