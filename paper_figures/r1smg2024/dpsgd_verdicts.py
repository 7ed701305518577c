"""Runs of DP-SGD, r1smg2024 Section 7.3: selections of rows, and verdicts on Figures 7 and 8.

The paper does not state its learning rate, so every claim is judged at each rate that was run.
dpsgd.py has the figures; dpsgd_budgets.py judges the claims about budgets, which read no study.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import pandas as pd

from claims.comparisons import Signal, beyond, order
from claims.implied_epsilon import StatedNumber, implies, on_curve
from claims.intervals import Mean
from claims.judged_rows import listed, listed_numbers, ok_rows, pick, required, select
from claims.judges import CannotJudge, Epsilon, Probability, judge
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    INCONCLUSIVE,
    NOT_RUN,
    Finding,
    Outcome,
    Part,
    Sizes,
)
from paper_figures.selections import size_of
from paper_figures.style import mechanism_title
from papers.r1smg2024 import (
    CLIPPING_NORM,
    REACHED_ACCURACY,
    REACHED_EPOCHS,
    TRAINING,
)
from runs.results import Results

STUDY = "dpsgd"
MULTIPLIERS = "dpsgd_multipliers"
Beside = tuple[Literal["dpsgd_rates", "dpsgd_multipliers"], ...]
# The rows keep the mechanism's key, although its noise here is not that of its theorem.
DPSGD = "gaussian"
# The control without privacy, which does not clip.
PUBLIC = "non-private"
# The accuracy of guessing one of ten classes.
RANDOM = 0.1
TEST, TRAIN = "test_accuracy", "train_accuracy"
DIVERGED = "diverged_epoch"


def official_runs(rows: pd.DataFrame, dataset: str, beside: Iterable[str] = ()) -> pd.DataFrame:
    """Return the study's rows on one official data set, and those of studies with other rates.

    Raises:
        CannotJudge: The run has none.
    """
    others = [study for study in beside if study != MULTIPLIERS]
    rows = rows.assign(study=rows["study"].replace(others, STUDY))
    return pick(rows, study=STUDY, dataset=dataset, data_source="official")


def at_stated_multipliers(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the runs of DPSGD at the paper's noise multipliers, as rows of `dpsgd`.

    Their epsilon is the total that the paper states for the multiplier. There may be none.
    """
    found = rows[(rows["study"] == MULTIPLIERS) & (rows["dataset"] == dataset)]
    totals = {}
    for run in ok_rows(found, MULTIPLIERS, "noise_norm").itertuples():
        multiplier = run.value / (CLIPPING_NORM * math.sqrt(size_of(run.shape)))
        for budget in TRAINING[dataset].budgets:
            if math.isclose(multiplier, budget.multiplier, rel_tol=1e-4):
                totals[run.epsilon] = budget.total
    kept = found[found["epsilon"].isin(list(totals))]
    return kept.assign(study=STUDY, epsilon=kept["epsilon"].map(totals))


def rates_of(rows: pd.DataFrame) -> list[float]:
    """Return the learning rates of the runs with clipping, in ascending order."""
    clipped = rows[rows["mechanism"] != PUBLIC]
    return sorted(clipped["learning_rate"].dropna().unique())


def public_rate(rows: pd.DataFrame) -> float | None:
    """Return the rate of training without privacy if the clipped runs have others, else None."""
    found = rows[rows["mechanism"] == PUBLIC]["learning_rate"].dropna().unique()
    return float(found[0]) if len(found) == 1 and list(found) != rates_of(rows) else None


def runs_at_rate(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return the rows of one learning rate; training without privacy may have a rate of its own."""
    own = public_rate(rows)
    public = rows["mechanism"] == PUBLIC
    wanted = public.map({True: rate if own is None else own, False: rate})
    return rows[rows["learning_rate"] == wanted]


def best_runs(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of every mechanism, calibration and budget at its best learning rate.

    The best rate has the highest test accuracy, averaged over epochs and trials.
    """
    runs = ["mechanism", "calibration", "epsilon"]
    means = (
        ok_rows(rows, STUDY, TEST).groupby([*runs, "learning_rate"], as_index=False)["value"].mean()
    )
    best = means.sort_values("value").drop_duplicates(runs, keep="last")
    return rows.merge(best[[*runs, "learning_rate"]])


def size_of_runs(rows: pd.DataFrame) -> dict[str, float]:
    """Return the records, sampling rate, steps and epochs that all runs on one data set share."""
    facts = ("records", "sampling_rate", "steps")
    size = {name: float(ok_rows(rows, STUDY, name)["value"].iloc[0]) for name in facts}
    return size | {"epochs": int(ok_rows(rows, STUDY, TEST)["epoch"].max())}


COMPARED = {"r1smg": "R1SMG", DPSGD: "DPSGD"}
# The resolution of an accuracy: one of 10,000 test records.
RESOLUTION = 1e-4


def _finding(
    results: Results,
    dataset: str,
    beside: Beside,
    epsilons: list[float],
    judged: Callable[[pd.DataFrame], list[Part]],
    detail: str,
    calibration: str,
) -> Finding:
    """Judge the published runs under every choice; one without rows of the budgets was not run."""
    rows = pick(official_runs(results.rows, dataset, beside), calibration="published")
    choice, runs = "the learning rate", _runs_by_rate(rows)
    if MULTIPLIERS in beside:
        choice += " and the noise multiplier"
        runs |= _runs_at_stated_multipliers(results.rows, rows, dataset)
    lacking = [Part("its rows", NOT_RUN)]
    size = size_of_runs(rows)
    return Finding(
        choice=choice,
        outcomes=[
            Outcome(choice=words, parts=tuple(judged(chosen) or lacking))
            for words, chosen in runs.items()
        ],
        sizes=Sizes(
            records=int(size["records"]),
            epochs=size["epochs"],
            trials=int(pick(ok_rows(rows, STUDY, TEST), mechanism="r1smg")["trial"].nunique()),
            epsilons=listed_numbers(epsilons),
        ),
        detail=detail,
        calibration=calibration,
    )


@judge
def epochs_until(
    results: Results,
    *,
    study: Literal["dpsgd"],
    beside: Beside = (),
    dataset: str,
    epsilons: list[Epsilon],
    metric: Literal["test_accuracy", "train_accuracy"],
    level: Probability,
    margin: float,
) -> Finding:
    """Judge whether published R1SMG reaches an accuracy earlier, by more epochs than the margin.

    Args:
        beside: A study with more learning rates, or one with the stated noise multipliers.
    """
    judged = partial(_leads_in_epochs, epsilons=epsilons, metric=metric, level=level, margin=margin)
    detail = "Epochs until a run first reaches the accuracy, DPSGD's minus R1SMG's, run by run."
    return _finding(
        results, dataset, beside, epsilons, judged, detail=detail, calibration="published"
    )


def _runs_by_rate(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group the runs by learning rate, which the paper does not state, and add each one's best."""
    rates = required(rates_of(rows), CannotJudge("The run has no private training"))
    runs = {f"learning rate {rate:g}": runs_at_rate(rows, rate) for rate in rates}
    if len(runs) > 1:
        runs["each at its best learning rate"] = best_runs(rows)
    return runs


STATED = "the stated noise multipliers"


def _runs_at_stated_multipliers(
    results: pd.DataFrame, rows: pd.DataFrame, dataset: str
) -> dict[str, pd.DataFrame]:
    """Group the runs by learning rate, with those of the other study in place of DPSGD's."""
    stated = at_stated_multipliers(results, dataset)
    if stated.empty:
        return {STATED: stated}
    others = rows[rows["mechanism"] != DPSGD]
    return {
        f"learning rate {rate:g}, {STATED}": pd.concat([runs_at_rate(others, rate), own])
        for rate, own in stated.groupby("learning_rate")
    }


def _budgets_of(rows: pd.DataFrame, epsilons: list[float]) -> list[float]:
    """Return those of the budgets at which R1SMG and DPSGD were run."""
    run = [set(rows[rows["mechanism"] == key]["epsilon"]) for key in COMPARED]
    return [epsilon for epsilon in epsilons if all(epsilon in own for own in run)]


def _leads_in_epochs(
    rows: pd.DataFrame, epsilons: list[float], metric: str, level: float, margin: float
) -> list[Part]:
    """Judge every budget; there is no part if none of them was run."""
    run = _budgets_of(rows, epsilons)
    if not run:
        return []
    return [
        _lead_in_epochs(rows, each, metric, level, margin)
        if each in run
        else Part(f"R1SMG earlier at epsilon {each:g}", NOT_RUN)
        for each in epsilons
    ]


def _lead_in_epochs(
    rows: pd.DataFrame, epsilon: float, metric: str, level: float, margin: float
) -> Part:
    """Judge one budget by the epochs of DPSGD minus those of R1SMG."""
    known = ok_rows(rows, STUDY, metric)
    first, never, means, last = {}, {}, [], float(known["epoch"].max())
    for mechanism, title in COMPARED.items():
        runs = pick(known, epsilon=epsilon, mechanism=mechanism)
        reached = runs[runs["value"] >= level].groupby("trial")["epoch"].min().astype(float)
        best = runs.groupby("trial")["value"].max()
        # Runs that diverged have no accuracies.
        lost = select(rows, mechanism=mechanism, epsilon=epsilon, metric=DIVERGED)
        trials = best.index.union(lost["trial"]).rename("trial")
        if len(reached) < len(trials):
            count = f"{len(reached)} of {len(trials)}"
            never[mechanism] = f"{title} in {count}, best {best.mean():.3g}"
        # A run that diverges or does not reach the level would need more epochs than it has.
        first[mechanism] = reached.reindex(trials, fill_value=last + 1)
        least = "at least " * (mechanism in never)
        means.append(f"{least}{first[mechanism].mean():.3g} ({title})")
    effect = Mean((first[DPSGD] - first["r1smg"]).dropna().to_numpy(float), resolution=0.5)
    bound = " at least" if DPSGD in never else " at most" if never else ""
    # "Far earlier" means by more than the margin.
    part = beyond(f"R1SMG earlier at epsilon {epsilon:g}", effect, margin=margin)
    # The verdict stands if only the later mechanism would need still more epochs.
    if never.keys() <= {CONFIRMED: {DPSGD}, CONTRADICTED: {"r1smg"}}.get(part.verdict, set()):
        return replace(part, found=f"epochs {' and '.join(means)}, by{bound} {part.found}")
    return Part(part.name, INCONCLUSIVE, f"{level:g} reached by {' and '.join(never.values())}")


@judge
def learning_order(
    results: Results,
    *,
    study: Literal["dpsgd"],
    beside: Beside = (),
    dataset: str,
    epsilons: list[Epsilon],
    margin: float,
) -> Finding:
    """Judge R1SMG against DPSGD by paired differences of accuracies, averaged over the epochs.

    Args:
        beside: A study with more learning rates, which may have some of the budgets and lack
            training without privacy, or one with the stated noise multipliers.
    """
    return _finding(
        results,
        dataset,
        beside,
        epsilons,
        partial(_leads, epsilons=epsilons, margin=margin),
        detail=(
            "Accuracies are means over the epochs of a run; differences between runs of one trial, "
            "or, where rows are of two studies, of one number of trial. "
            "Unless stated, DPSGD's multiplier comes from the total by Renyi accounting; R1SMG's "
            "noise comes from eq. (16). The figure shows both at equal true privacy too, and the "
            "runs that diverge there."
        ),
        calibration="both",
    )


def _leads(rows: pd.DataFrame, epsilons: list[float], margin: float) -> list[Part]:
    """Judge whether R1SMG is more accurate and closer to training without privacy.

    There is a part per accuracy and budget.
    """
    effects, means, ceilings = {}, [], []
    compared = [*COMPARED, *({PUBLIC} & set(ok_rows(rows, STUDY, TEST)["mechanism"]))]
    for epsilon, metric in itertools.product(_budgets_of(rows, epsilons), (TEST, TRAIN)):
        name = f"{metric.split('_')[0]} accuracy at epsilon {epsilon:g}"
        at = pick(ok_rows(rows, STUDY, metric), epsilon=epsilon)
        # Means over the epochs, with a row per trial and a column per mechanism.
        found = pd.DataFrame(
            {key: pick(at, mechanism=key).groupby("trial")["value"].mean() for key in compared}
        )
        lead, ceiling = _lead(found), found[PUBLIC].mean() if PUBLIC in found else 0.0
        means += [found[key].mean() for key in COMPARED]
        if ceiling <= 2 * RANDOM:
            # Training without privacy, which does not clip, was not run at this learning rate or
            # stays below twice the accuracy of guessing. So there is nothing to be close to.
            effects[f"lead in {name}"] = lead
            continue
        ceilings.append(ceiling)
        distances = -found.sub(found[PUBLIC], axis=0)[list(COMPARED)]
        if (distances >= 0).all(axis=None):
            # Below non-private training, a lead shortens the distance by as much: it is one effect.
            effects[f"lead in {name}, and as much closer to non-private"] = lead
        else:
            closer = _lead(-distances.abs())
            effects |= {f"lead in {name}": lead, f"closer to non-private in {name}": closer}
    ceiling = min(ceilings, default=None)
    signal = Signal(means=tuple(means), floor=RANDOM, ceiling=ceiling, margin=margin)
    return order(effects, margin=margin, signal=signal)


def _lead(found: pd.DataFrame) -> Mean:
    """Return R1SMG minus DPSGD, trial by trial."""
    return Mean((found["r1smg"] - found[DPSGD]).dropna().to_numpy(float), RESOLUTION)


@implies("dpsgd")
def epochs(rows: pd.DataFrame) -> Iterator[StatedNumber]:
    """Yield the numbers of Figure 7: MNIST test accuracy after so many epochs, at the best rate."""
    try:
        found = ok_rows(official_runs(rows, "mnist"), STUDY, TEST)
    except CannotJudge:
        return
    for key, epoch in REACHED_EPOCHS.items():
        own = found[(found["mechanism"] == key) & (found["epoch"] == epoch)]
        if own["trial"].nunique() < 2:
            continue
        # The published calibration comes first, then equal true privacy.
        parts = dict(reversed(list(own.groupby("calibration"))))
        trials = listed(dict.fromkeys(str(part["trial"].nunique()) for part in parts.values()))
        yield StatedNumber(
            claim="r1-f7-epochs",
            where="Figure 7",
            mechanism="DPSGD" if key == "gaussian" else mechanism_title(key),
            number=f"accuracy {REACHED_ACCURACY:g} after {epoch} epochs, MNIST",
            epsilon=f"{TRAINING['mnist'].larger_total:g}",
            implied={
                calibration: on_curve(
                    {
                        epsilon: Mean(best["value"].to_numpy(float))
                        for epsilon, best in best_runs(part).groupby("epsilon")
                    },
                    REACHED_ACCURACY,
                )
                for calibration, part in parts.items()
            },
            source=f"dpsgd, {trials} trials, best learning rate",
        )
