"""Runs of DP-SGD, r1smg2024 Section 7.3: their rows, and the verdicts on Figures 7 and 8.

The paper does not state its learning rate: every claim is judged at each rate that was run. The
figures are in dpsgd.py, the claims about budgets, which read no study, in dpsgd_budgets.py.
"""

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal

import pandas as pd

from claims.comparisons import Signal, beyond, order
from claims.implied_epsilon import StatedNumber, implies, on_curve
from claims.intervals import Effect, Mean
from claims.judged_rows import listed, ok_rows, pick, required
from claims.judges import CannotJudge, Epsilon, Probability, judge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, Finding, Outcome, Part, Sizes
from paper_figures.style import mechanism_title
from papers.r1smg2024 import (
    REACHED_ACCURACY,
    REACHED_EPOCHS,
    TRAINING,
)
from runs.results import Results

STUDY = "dpsgd"
# The rows keep the mechanism's key; in this study its noise is not that of its theorem.
DPSGD = "gaussian"
# The control, which does not clip.
PUBLIC = "non-private"
# Accuracy of guessing one of ten classes.
RANDOM = 0.1
TEST, TRAIN = "test_accuracy", "train_accuracy"
DIVERGED = "diverged_epoch"


def official_runs(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Rows of the study on one official data set.

    Raises:
        CannotJudge: The run has none.
    """
    return pick(rows, study=STUDY, dataset=dataset, data_source="official")


def rates_of(rows: pd.DataFrame) -> list[float]:
    """The learning rates of the runs with clipping, the smallest first."""
    clipped = rows[rows["mechanism"] != PUBLIC]
    return sorted(clipped["learning_rate"].dropna().unique())


def public_rate(rows: pd.DataFrame) -> float | None:
    """The rate of training without privacy, where it is not that of every run with clipping."""
    found = rows[rows["mechanism"] == PUBLIC]["learning_rate"].dropna().unique()
    return float(found[0]) if len(found) == 1 and list(found) != rates_of(rows) else None


def runs_at_rate(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Rows of the runs of one learning rate; training without privacy at its own if it has one."""
    own = public_rate(rows)
    public = rows["mechanism"] == PUBLIC
    wanted = public.map({True: rate if own is None else own, False: rate})
    return rows[rows["learning_rate"] == wanted]


def best_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the runs of every mechanism, calibration and budget at its best learning rate.

    The best has the highest test accuracy, a mean over epochs and trials.
    """
    runs = ["mechanism", "calibration", "epsilon"]
    means = (
        ok_rows(rows, STUDY, TEST).groupby([*runs, "learning_rate"], as_index=False)["value"].mean()
    )
    best = means.sort_values("value").drop_duplicates(runs, keep="last")
    return rows.merge(best[[*runs, "learning_rate"]])


def size_of_runs(rows: pd.DataFrame) -> dict[str, float]:
    """Records, sampling rate, steps and epochs of the runs on one data set, which all share."""
    facts = ("records", "sampling_rate", "steps")
    size = {name: float(ok_rows(rows, STUDY, name)["value"].iloc[0]) for name in facts}
    return size | {"epochs": int(ok_rows(rows, STUDY, TEST)["epoch"].max())}


COMPARED = {"r1smg": "R1SMG", DPSGD: "DPSGD"}
# Accuracies are counted in steps of one of 10,000 test records.
RESOLUTION = 1e-4


def _finding(rows: pd.DataFrame, epsilons: list[float], outcomes: list[Outcome], **said) -> Finding:
    """A finding at every learning rate, with the sizes of the runs."""
    size = size_of_runs(rows)
    sizes = Sizes(
        records=int(size["records"]),
        epochs=size["epochs"],
        trials=int(pick(ok_rows(rows, STUDY, TEST), mechanism="r1smg")["trial"].nunique()),
        epsilons=listed(f"{epsilon:g}" for epsilon in epsilons),
    )
    return Finding(choice="the learning rate", outcomes=outcomes, sizes=sizes, **said)


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
    outcomes = []
    for choice, runs in _runs_by_rate(pick(rows, calibration="published")).items():
        parts = tuple(_lead_in_epochs(runs, epsilon, metric, level, margin) for epsilon in epsilons)
        outcomes.append(Outcome(choice=choice, parts=parts))
    detail = "Epochs until a run first reaches the accuracy, DPSGD's minus R1SMG's, run by run."
    return _finding(rows, epsilons, outcomes, detail=detail, calibration="published")


def _runs_by_rate(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The runs at every learning rate, which the paper does not state, and at each one's best."""
    rates = required(rates_of(rows), CannotJudge("The run has no private training"))
    runs = {f"learning rate {rate:g}": runs_at_rate(rows, rate) for rate in rates}
    if len(runs) > 1:
        runs["each at its best learning rate"] = best_runs(rows)
    return runs


def _lead_in_epochs(
    rows: pd.DataFrame, epsilon: float, metric: str, level: float, margin: float
) -> Part:
    """The part about one budget: epochs of DPSGD less those of R1SMG."""
    known = ok_rows(rows, STUDY, metric)
    first, never, means, last = {}, {}, [], float(known["epoch"].max())
    for mechanism, title in COMPARED.items():
        runs = pick(known, epsilon=epsilon, mechanism=mechanism)
        reached = runs[runs["value"] >= level].groupby("trial")["epoch"].min().astype(float)
        best = runs.groupby("trial")["value"].max()
        trials = best.index.union(_diverged(rows, mechanism, epsilon)["trial"]).rename("trial")
        if len(reached) < len(trials):
            count = f"{len(reached)} of {len(trials)}"
            never[mechanism] = f"{title} in {count}, best {best.mean():.3g}"
        # A run that does not reach it, or diverges, would need more epochs than it has.
        first[mechanism] = reached.reindex(trials, fill_value=last + 1)
        least = "at least " * (mechanism in never)
        means.append(f"{least}{first[mechanism].mean():.3g} ({title})")
    effect = Mean((first[DPSGD] - first["r1smg"]).dropna().to_numpy(float), resolution=0.5)
    bound = " at least" if DPSGD in never else " at most" if never else ""
    # Far earlier: by more than the margin.
    part = beyond(f"R1SMG earlier at epsilon {epsilon:g}", effect, margin=margin)
    # One that is earlier stays so where the other one would need still more epochs.
    if never.keys() <= {CONFIRMED: {DPSGD}, CONTRADICTED: {"r1smg"}}.get(part.verdict, set()):
        return replace(part, found=f"epochs {' and '.join(means)}, by{bound} {part.found}")
    return Part(part.name, INCONCLUSIVE, f"{level:g} reached by {' and '.join(never.values())}")


@judge(studies=(STUDY,))
def learning_order(
    results: Results, *, dataset: str, epsilons: list[Epsilon], margin: float
) -> Finding:
    """R1SMG against DPSGD by paired differences of accuracies, means over the epochs of a run."""
    rows = official_runs(results.rows, dataset)
    outcomes = [
        Outcome(choice=choice, parts=tuple(_leads(chosen, epsilons, margin)))
        for choice, chosen in _runs_by_rate(rows).items()
    ]
    noise, own = pick(rows, metric="noise_norm", calibration="published"), public_rate(rows)
    norms = {
        mechanism: listed(
            f"{pick(noise, mechanism=mechanism, epsilon=e)['value'].iloc[0]:.3g}" for e in epsilons
        )
        for mechanism in COMPARED
    }
    return _finding(
        rows,
        epsilons,
        outcomes,
        detail=(
            "Accuracies are means over the epochs of a run; differences between runs of one trial. "
            "DPSGD's multiplier comes from the total by Renyi accounting, R1SMG's noise from eq. "
            "(16); the noise of a step "
            f"has the root mean square norm {norms[DPSGD]} (DPSGD), {norms['r1smg']} (R1SMG). With "
            "both rescaled until the run's true delta is the claimed one, "
            f"{_exact_leads(rows, epsilons)}."
            + (f" Training without privacy has the learning rate {own:g}." if own else "")
        ),
        calibration="both",
    )


def _leads(rows: pd.DataFrame, epsilons: list[float], margin: float) -> list[Part]:
    """More accurate, and closer to training without privacy: a part per accuracy and budget."""
    effects, means, ceilings = {}, [], []
    for epsilon, metric in itertools.product(epsilons, (TEST, TRAIN)):
        name = f"{metric.split('_')[0]} accuracy at epsilon {epsilon:g}"
        found = _epoch_means(rows, epsilon, metric, "published", (*COMPARED, PUBLIC))
        lead, ceiling = _lead(found), found[PUBLIC].mean()
        means += [found[key].mean() for key in COMPARED]
        if ceiling <= 2 * RANDOM:
            # Training without privacy, which does not clip, fails at this learning rate (below
            # twice the accuracy of guessing): there is nothing to be close to.
            effects[f"lead in {name}"] = lead
            continue
        ceilings.append(ceiling)
        distances = -found.sub(found[PUBLIC], axis=0)[list(COMPARED)]
        if (distances >= 0).all(axis=None):
            # Below non-private training the lead is what its distance shrinks by: one effect.
            effects[f"lead in {name}, and as much closer to non-private"] = lead
        else:
            closer = _lead(-distances.abs())
            effects |= {f"lead in {name}": lead, f"closer to non-private in {name}": closer}
    ceiling = min(ceilings, default=None)
    signal = Signal(means=tuple(means), floor=RANDOM, ceiling=ceiling, margin=margin)
    return order(effects, margin=margin, signal=signal)


def _epoch_means(
    rows: pd.DataFrame,
    epsilon: float,
    metric: str,
    calibration: str,
    mechanisms: Iterable[str] = COMPARED,
) -> pd.DataFrame:
    """The mean of an accuracy over the epochs of a run: a row per trial, a column per mechanism."""
    own = pick(ok_rows(rows, STUDY, metric), epsilon=epsilon, calibration=calibration)
    runs = {key: pick(own, mechanism=key).groupby("trial")["value"] for key in mechanisms}
    return pd.DataFrame({key: trials.mean() for key, trials in runs.items()})


def _lead(found: pd.DataFrame) -> Mean:
    """R1SMG less DPSGD, trial by trial."""
    return Mean((found["r1smg"] - found[DPSGD]).dropna().to_numpy(float), RESOLUTION)


def _exact_leads(rows: pd.DataFrame, epsilons: list[float]) -> str:
    """R1SMG less DPSGD at the exact calibration, at the first learning rate, as a clause."""
    rate = rates_of(rows)[0]
    exact = pick(runs_at_rate(rows, rate), calibration="exact")
    leads = listed(_exact_lead(exact, each) for each in epsilons)
    return f"at learning rate {rate:g} and with {exact['trial'].nunique()} trials, {leads}"


def _exact_lead(rows: pd.DataFrame, epsilon: float) -> str:
    at = f"at epsilon {epsilon:g}"
    diverged = _diverged(rows, "r1smg", epsilon)
    if len(diverged):
        epochs = listed(f"{epoch:.0f}" for epoch in sorted(diverged["value"].unique()))
        runs = "run of R1SMG diverges" if len(diverged) == 1 else "runs of R1SMG diverge"
        return f"{len(diverged)} {runs} in epoch {epochs} {at}"
    leads = [_lead(_epoch_means(rows, epsilon, metric, "exact")) for metric in (TEST, TRAIN)]
    return f"R1SMG minus DPSGD is {listed(f'{lead.value:+.3g}' for lead in leads)} {at}"


def _diverged(rows: pd.DataFrame, mechanism: str, epsilon: float) -> pd.DataFrame:
    """The runs without accuracies because their gradients were no longer finite; may be none."""
    chosen = (rows["mechanism"] == mechanism) & (rows["epsilon"] == epsilon)
    return rows[chosen & (rows["metric"] == DIVERGED)]


@implies("dpsgd")
def epochs(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Figure 7: test accuracy on MNIST after the stated epochs, at the best learning rate."""
    try:
        found = ok_rows(official_runs(rows, "mnist"), STUDY, TEST)
    except CannotJudge:
        return
    for key, epoch in REACHED_EPOCHS.items():
        own = found[(found["mechanism"] == key) & (found["epoch"] == epoch)]
        if own["trial"].nunique() < 2:
            continue
        # As published, then at equal true privacy.
        parts = dict(reversed(list(own.groupby("calibration"))))
        trials = listed(dict.fromkeys(str(part["trial"].nunique()) for part in parts.values()))
        yield StatedNumber(
            claim="r1-f7-epochs",
            where="Figure 7",
            mechanism="DPSGD" if key == "gaussian" else mechanism_title(key),
            number=f"accuracy {REACHED_ACCURACY:g} after {epoch} epochs, MNIST",
            epsilon=f"{TRAINING['mnist'].larger_total:g}",
            implied={
                calibration: on_curve(_at_best_rate(part), REACHED_ACCURACY)
                for calibration, part in parts.items()
            },
            source=f"dpsgd, {trials} trials, best learning rate",
        )


def _at_best_rate(runs: pd.DataFrame) -> dict[float, Effect]:
    """The accuracy at every budget, at the learning rate with the highest mean."""
    means = {
        key: Mean(part["value"].to_numpy(float))
        for key, part in runs.groupby(["epsilon", "learning_rate"])
    }
    return {
        epsilon: max(
            (mean for (other, _), mean in means.items() if other == epsilon),
            key=lambda mean: mean.value,
        )
        for epsilon, _ in means
    }
