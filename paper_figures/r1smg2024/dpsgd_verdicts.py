"""Verdicts on learning with noisy gradients, r1smg2024 Section 7.3, Figures 7 and 8.

The paper does not state its learning rate: every claim is judged at each rate that was run. The
figures are in dpsgd.py, the rows of both in dpsgd_runs.py, the claims about budgets, which read no
study, in dpsgd_budgets.py.
"""

from dataclasses import replace
from typing import Literal

import pandas as pd

from claims.comparisons import Signal, beyond, order
from claims.intervals import paired
from claims.judged_rows import listed, pick
from claims.judges import Epsilon, Probability, judge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, Finding, Outcome, Part, Sizes
from paper_figures.r1smg2024.dpsgd_runs import (
    DIVERGED,
    DPSGD,
    PUBLIC,
    RANDOM,
    STUDY,
    TEST,
    TRAIN,
    accuracies,
    at_best_rates,
    at_rate,
    official_runs,
    public_rate,
    rates_of,
    size_of_runs,
)
from paper_figures.r1smg2024.numbers import TRAINING
from runs.results import Results

COMPARED = ("r1smg", DPSGD)
CHOICE = "the learning rate"
# Accuracies are counted in steps of one of 10,000 test records.
RESOLUTION = 1e-4


def sizes_of_runs(rows: pd.DataFrame, epsilons: list[float]) -> Sizes:
    """What the runs of one data set rest on."""
    size = size_of_runs(rows)
    return Sizes(
        records=int(size.records),
        epochs=size.epochs,
        trials=int(pick(accuracies(rows, TEST), mechanism="r1smg")["trial"].nunique()),
        epsilons=listed(f"{epsilon:g}" for epsilon in epsilons),
    )


def setting_words(rows: pd.DataFrame, dataset: str) -> str:
    """How the runs of one data set were made, as a sentence."""
    size = size_of_runs(rows)
    rates = listed(f"{value:g}" for value in rates_of(rows))
    own = public_rate(rows)
    public = "" if own is None else f" ({own:g} without privacy)"
    return (
        f"Learning rate {rates}{public}, sampling rate {size.rate:.4g}, {size.steps:.0f} steps, "
        "Poisson sampling, a record added or removed; the paper trains for "
        f"{TRAINING[dataset].epochs} epochs."
    )


@judge(studies=(STUDY,))
def epochs_until(
    results: Results,
    *,
    dataset: str,
    epsilons: list[Epsilon],
    metric: Literal["test_accuracy", "train_accuracy"],
    level: Probability,
    margin: float,
) -> Finding:
    """Whether R1SMG reaches an accuracy by more epochs than the margin earlier, as published."""
    rows = official_runs(results.rows, dataset)
    outcomes = [
        Outcome(
            choice=choice,
            parts=tuple(
                part for e in epsilons for part in _earlier(runs, e, metric, level, margin)
            ),
        )
        for choice, runs in _by_rate(pick(rows, calibration="published")).items()
    ]
    return Finding(
        choice=CHOICE,
        outcomes=outcomes,
        detail=(
            "Epochs until a run first reaches the accuracy, DPSGD's minus R1SMG's, run by run. "
            f"{setting_words(rows, dataset)}"
        ),
        calibration="published",
        sizes=sizes_of_runs(rows, epsilons),
    )


def _by_rate(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The runs at every learning rate, which the paper does not state, and at each one's best."""
    runs = {f"learning rate {rate:g}": at_rate(rows, rate) for rate in rates_of(rows)}
    if len(runs) > 1:
        runs["each at its best learning rate"] = at_best_rates(rows)
    return runs


def _earlier(
    rows: pd.DataFrame, epsilon: float, metric: str, level: float, margin: float
) -> list[Part]:
    """The part about one budget: epochs of DPSGD less those of R1SMG."""
    known = accuracies(rows, metric)
    first, never, last = {}, {}, float(known["epoch"].max())
    for mechanism in COMPARED:
        runs = pick(known, epsilon=epsilon, mechanism=mechanism)
        reached = runs[runs["value"] >= level].groupby("trial")["epoch"].min().astype(float)
        best = runs.groupby("trial")["value"].max()
        trials = best.index.union(_diverged(rows, mechanism, epsilon)["trial"]).rename("trial")
        if len(reached) < len(trials):
            never[mechanism] = (
                f"{_title(mechanism)} in {len(reached)} of {len(trials)}, best {best.mean():.3g}"
            )
        # A run that does not reach it, or diverges, would need more epochs than it has.
        reached = reached.reindex(trials, fill_value=last + 1)
        first[mechanism] = reached.rename("value").reset_index()
    name = f"R1SMG earlier at epsilon {epsilon:g}"
    effect = paired(first[DPSGD], first["r1smg"], resolution=0.5)
    means = " and ".join(
        f"{'at least ' * (key in never)}{first[key]['value'].mean():.3g} ({_title(key)})"
        for key in COMPARED
    )
    bound = " at least" if DPSGD in never else " at most" if never else ""
    # Far earlier: by more than the margin.
    part = beyond(name, effect, margin=margin)
    # One that is earlier stays so where the other one would need still more epochs.
    if never.keys() <= {CONFIRMED: {DPSGD}, CONTRADICTED: {"r1smg"}}.get(part.verdict, set()):
        return [replace(part, found=f"epochs {means}, by{bound} {part.found}")]
    return [Part(name, INCONCLUSIVE, f"{level:g} reached by {' and '.join(never.values())}")]


def _title(mechanism: str) -> str:
    return {"r1smg": "R1SMG", DPSGD: "DPSGD"}[mechanism]


@judge(studies=(STUDY,))
def learning_order(
    results: Results, *, dataset: str, epsilons: list[Epsilon], margin: float
) -> Finding:
    """R1SMG against DPSGD by paired differences of accuracies, means over the epochs of a run."""
    rows = official_runs(results.rows, dataset)
    outcomes = [
        Outcome(choice=choice, parts=tuple(_leads(chosen, epsilons, margin)))
        for choice, chosen in _by_rate(rows).items()
    ]
    norms = {
        mechanism: listed(f"{_noise_norm(rows, mechanism, e):.3g}" for e in epsilons)
        for mechanism in COMPARED
    }
    return Finding(
        choice=CHOICE,
        outcomes=outcomes,
        detail=(
            "Accuracies are means over the epochs of a run; differences between runs of one trial, "
            f"with intervals. {setting_words(rows, dataset)} DPSGD's multiplier comes "
            "from the total by Renyi accounting, R1SMG's noise from eq. (16); the noise of a step "
            f"has the root mean square norm {norms[DPSGD]} (DPSGD), {norms['r1smg']} (R1SMG). With "
            "both rescaled until the run's true delta is the claimed one, "
            f"{_exact_leads(rows, epsilons)}."
        ),
        calibration="both",
        sizes=sizes_of_runs(rows, epsilons),
    )


def _leads(rows: pd.DataFrame, epsilons: list[float], margin: float) -> list[Part]:
    """More accurate, and closer to training without privacy: a part per accuracy and budget."""
    effects, means, ceilings = {}, [], []
    for epsilon in epsilons:
        for metric in (TEST, TRAIN):
            public = _along_epochs(rows, PUBLIC, epsilon, metric, "published")
            r1smg, dpsgd = (
                _along_epochs(rows, key, epsilon, metric, "published") for key in COMPARED
            )
            name = f"{metric.split('_')[0]} accuracy at epsilon {epsilon:g}"
            lead = paired(r1smg, dpsgd, resolution=RESOLUTION)
            means += [frame["value"].mean() for frame in (r1smg, dpsgd)]
            ceiling = public["value"].mean()
            if ceiling <= 2 * RANDOM:
                # Training without privacy, which does not clip, fails at this learning rate (below
                # twice the accuracy of guessing): there is nothing to be close to.
                effects[f"lead in {name}"] = lead
                continue
            ceilings.append(ceiling)
            gaps = [_gap(dpsgd, public), _gap(r1smg, public)]
            if all((gap["value"] >= 0).all() for gap in gaps):
                # Below non-private training the lead is what its distance shrinks by: one effect.
                effects[f"lead in {name}, and as much closer to non-private"] = lead
            else:
                distances = (gap.assign(value=gap["value"].abs()) for gap in gaps)
                closer = paired(*distances, resolution=RESOLUTION)
                effects |= {f"lead in {name}": lead, f"closer to non-private in {name}": closer}
    ceiling = min(ceilings, default=None)
    signal = Signal(means=tuple(means), floor=RANDOM, ceiling=ceiling, margin=margin)
    return order(effects, margin=margin, signal=signal)


def _exact_leads(rows: pd.DataFrame, epsilons: list[float]) -> str:
    """R1SMG less DPSGD at the exact calibration, at the first learning rate, as a clause."""
    rate = rates_of(rows)[0]
    exact = pick(at_rate(rows, rate), calibration="exact")
    leads = listed(_exact_lead(exact, each) for each in epsilons)
    return f"at learning rate {rate:g} and with {exact['trial'].nunique()} trials, {leads}"


def _exact_lead(rows: pd.DataFrame, epsilon: float) -> str:
    at = f"at epsilon {epsilon:g}"
    diverged = _diverged(rows, "r1smg", epsilon)
    if len(diverged):
        epochs = listed(f"{epoch:.0f}" for epoch in sorted(diverged["value"].unique()))
        runs = "run of R1SMG diverges" if len(diverged) == 1 else "runs of R1SMG diverge"
        return f"{len(diverged)} {runs} in epoch {epochs} {at}"
    leads = [
        paired(*(_along_epochs(rows, key, epsilon, metric, "exact") for key in COMPARED))
        for metric in (TEST, TRAIN)
    ]
    return f"R1SMG minus DPSGD is {listed(f'{lead.value:+.3g}' for lead in leads)} {at}"


def _diverged(rows: pd.DataFrame, mechanism: str, epsilon: float) -> pd.DataFrame:
    """The runs without accuracies because their gradients were no longer finite; may be none."""
    chosen = (rows["mechanism"] == mechanism) & (rows["epsilon"] == epsilon)
    return rows[chosen & (rows["metric"] == DIVERGED)]


def _noise_norm(rows: pd.DataFrame, mechanism: str, epsilon: float) -> float:
    chosen = {"mechanism": mechanism, "epsilon": epsilon, "calibration": "published"}
    return float(pick(rows, metric="noise_norm", **chosen)["value"].iloc[0])


def _along_epochs(
    rows: pd.DataFrame, mechanism: str, epsilon: float, metric: str, calibration: str
) -> pd.DataFrame:
    """One row per trial: the mean of an accuracy over its epochs."""
    chosen = {"mechanism": mechanism, "epsilon": epsilon, "calibration": calibration}
    own = pick(accuracies(rows, metric), **chosen)
    return own.groupby("trial")["value"].mean().reset_index()


def _gap(frame: pd.DataFrame, public: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of non-private training less that of `frame`, trial by trial."""
    gap = public.set_index("trial")["value"] - frame.set_index("trial")["value"]
    return gap.reset_index()
