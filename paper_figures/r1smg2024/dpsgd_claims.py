"""r1smg2024 Section 7.3: learning with noisy gradients, judged on official data only."""

from __future__ import annotations

import pandas as pd

from paper_figures.ledger import NOT_REPRODUCED, CannotJudge, Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    Interval,
    listed,
    mean_interval,
    paired_difference,
    pick,
    verdict_on_numbers,
    verdict_on_order,
)


def official_runs(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Rows of dpsgd on one official data set; CannotJudge where the run has none."""
    return pick(rows, experiment="dpsgd", dataset=dataset, data_source="official")


def setting_words(rows: pd.DataFrame) -> str:
    """Records, rate and steps of the runs, as a sentence."""
    records, rate, steps = (
        float(pick(rows, metric=metric)["value"].iloc[0])
        for metric in ("records", "sampling_rate", "steps")
    )
    epochs = int(pick(rows, metric="test_accuracy")["element"].max())
    return (
        f"{records:.0f} training records, sampling rate {rate:.4g}, {epochs} epochs ({steps:.0f} "
        "steps), Poisson sampling, a record added or removed."
    )


@judge(experiments=("dpsgd",))
def epochs_until(claim: Claim, results: Results) -> Finding:
    """Epochs until the test accuracy of a run first reaches a level, as published.

    Arguments: dataset; records, those of the paper; epsilon; level; stated, epochs by mechanism.
    """
    a = claim.arguments
    rows = official_runs(results.rows, a["dataset"])
    records = float(pick(rows, metric="records")["value"].iloc[0])
    if records != a["records"]:
        raise CannotJudge(
            f"A claim about training on {a['records']} records; this run has {records:.0f}"
        )
    found: dict[str, Interval] = {}
    never = []
    for mechanism in a["stated"]:
        chosen = {"metric": "test_accuracy", "mechanism": mechanism, "calibration": "published"}
        runs = pick(rows, epsilon=a["epsilon"], **chosen)
        first = runs[runs["value"] >= a["level"]].groupby("trial")["element"].min()
        if len(first) < runs["trial"].nunique():
            never.append(f"{mechanism} in {len(first)} of {runs['trial'].nunique()} runs only")
        else:
            found[mechanism] = mean_interval(first.astype(float))
    words = [f"{mechanism} {interval}" for mechanism, interval in found.items()] + never
    pairs = [(interval.mean, a["stated"][mechanism]) for mechanism, interval in found.items()]
    return Finding(
        ours=listed(words),
        verdict=NOT_REPRODUCED if never else verdict_on_numbers(pairs, claim.tolerance),
        detail=f"Mean over runs with its 95% interval. {setting_words(rows)}",
        calibration="published",
        trials=int(runs["trial"].nunique()),
    )


@judge(experiments=("dpsgd",))
def learning_order(claim: Claim, results: Results) -> Finding:
    """R1SMG against DPSGD by paired differences of accuracies, means over the epochs of a run.

    Arguments: dataset; epsilons; floor, a test accuracy that training without noise must end above
    for anything to be told by it.
    """
    a = claim.arguments
    rows = official_runs(results.rows, a["dataset"])
    public = pick(rows, metric="test_accuracy", mechanism="non-private")
    ends = public[public["element"] == public["element"].max()]["value"].mean()
    if ends < a["floor"]:
        raise CannotJudge(
            f"Training without noise ends at a test accuracy of {ends:.3g}, below {a['floor']:g}: "
            "too little is learned in this run to tell mechanisms apart. "
            f"{setting_words(rows).removesuffix('.')}"
        )
    gains: dict[str, list[Interval]] = {"published": [], "exact": []}
    closer, words = [], []
    for epsilon in a["epsilons"]:
        for metric in ("test_accuracy", "train_accuracy"):
            public = _along_epochs(rows, "non-private", epsilon, metric, "published")
            for calibration, found in gains.items():
                r1smg, dpsgd = (
                    _along_epochs(rows, mechanism, epsilon, metric, calibration)
                    for mechanism in ("r1smg", "gaussian")
                )
                found.append(paired_difference(r1smg, dpsgd))
                if calibration == "published":
                    closer.append(paired_difference(_gap(dpsgd, public), _gap(r1smg, public)))
                    words.append(f"{found[-1]} ({metric.split('_')[0]}, epsilon {epsilon:g})")
    exact = listed(f"{gain.mean:+.3g}" for gain in gains["exact"])
    norms = {
        mechanism: listed(f"{_noise_norm(rows, mechanism, e):.3g}" for e in a["epsilons"])
        for mechanism in ("gaussian", "r1smg")
    }
    return Finding(
        ours=f"R1SMG less DPSGD {listed(words)}",
        verdict=verdict_on_order(*gains["published"], *closer),
        detail=(
            "Differences of accuracies with 95% intervals; also judged is which is nearer to "
            f"non-private training: gains of {listed(f'{c.mean:+.3g}' for c in closer)}. "
            f"{setting_words(rows)} DPSGD's multiplier comes from the total by Renyi accounting, "
            "R1SMG's noise from eq. (16); a step's has the root mean square norm "
            f"{norms['gaussian']} (DPSGD), {norms['r1smg']} (R1SMG). With both rescaled until the "
            f"run's true delta is the claimed one the differences are {exact}."
        ),
        calibration="both",
        trials=gains["published"][0].trials,
    )


def _noise_norm(rows: pd.DataFrame, mechanism: str, epsilon: float) -> float:
    chosen = {"mechanism": mechanism, "epsilon": epsilon, "calibration": "published"}
    return float(pick(rows, metric="noise_norm", **chosen)["value"].iloc[0])


def _along_epochs(
    rows: pd.DataFrame, mechanism: str, epsilon: float, metric: str, calibration: str
) -> pd.DataFrame:
    """One row per trial: the mean of an accuracy over its epochs."""
    chosen = {
        "mechanism": mechanism,
        "epsilon": epsilon,
        "metric": metric,
        "calibration": calibration,
    }
    return pick(rows, **chosen).groupby("trial")["value"].mean().reset_index()


def _gap(frame: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Distance to non-private training, trial by trial."""
    gap = (frame.set_index("trial")["value"] - public.set_index("trial")["value"]).abs()
    return gap.reset_index()
