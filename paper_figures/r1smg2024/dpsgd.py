"""Learning with noisy gradients, r1smg2024 Section 7.3: Figures 7 and 8, and their verdicts.

The paper does not state its learning rate, so every claim is judged at each rate that was run.
dpsgd_budgets.py judges the claims about budgets, which read no study.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
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
from datasets.titles import dataset_title
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, published_only, size_of
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    look,
    mechanism_title,
    title_in,
)
from papers.r1smg2024 import (
    CLIPPING_NORM,
    PASSED_ACCURACY,
    REACHED_ACCURACY,
    REACHED_EPOCHS,
    TRAINING,
)
from runs.results import Results

STUDY = "dpsgd"
RATES, MULTIPLIERS = "dpsgd_rates", "dpsgd_multipliers"
Beside = tuple[Literal["dpsgd_rates", "dpsgd_multipliers"], ...]
# The rows keep the mechanism's key, although its noise here is not that of its theorem.
DPSGD = "gaussian"
# The control without privacy, which does not clip.
PUBLIC = "non-private"
# The accuracy of guessing one of ten classes.
RANDOM = 0.1
TEST, TRAIN = "test_accuracy", "train_accuracy"
DIVERGED = "diverged_epoch"
STATED_NOISE = "the stated noise multipliers"


def official_runs(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the rows of `dpsgd` and of `dpsgd_rates` on one official data set, as of one study.

    Raises:
        CannotJudge: The run has no such rows.
    """
    rows = rows.assign(study=rows["study"].replace(RATES, STUDY))
    return pick(rows, study=STUDY, dataset=dataset, data_source="official")


def at_stated_multipliers(rows: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Return the runs of DPSGD at the paper's noise multipliers, as rows of `dpsgd`.

    Their epsilon is the total that the paper states for the multiplier. There may be no such rows.
    """
    found = select(rows, study=MULTIPLIERS, dataset=dataset)
    totals = {}
    for run in ok_rows(found, MULTIPLIERS, "noise_norm").itertuples():
        multiplier = run.value / (CLIPPING_NORM * math.sqrt(size_of(run.shape)))
        for budget in TRAINING[dataset].budgets:
            if math.isclose(multiplier, budget.multiplier, rel_tol=1e-4):
                totals[run.epsilon] = budget.total
    kept = found[found["epsilon"].isin(totals)]
    return kept.assign(study=STUDY, epsilon=kept["epsilon"].map(totals))


def rates_of(rows: pd.DataFrame) -> list[float]:
    """Return the learning rates of the runs with clipping, in ascending order."""
    clipped = rows[rows["mechanism"] != PUBLIC]
    return sorted(clipped["learning_rate"].dropna().unique())


def public_rate(rows: pd.DataFrame) -> float | None:
    """Return the single rate of training without privacy if clipped runs have others, else None."""
    found = select(rows, mechanism=PUBLIC)["learning_rate"].dropna().unique()
    return float(found[0]) if len(found) == 1 and list(found) != rates_of(rows) else None


def runs_at_rate(rows: pd.DataFrame, rate: float) -> pd.DataFrame:
    """Return the rows of one learning rate; training without privacy may have a rate of its own."""
    public = rows["mechanism"] == PUBLIC
    wanted = public.map({True: public_rate(rows) or rate, False: rate})
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
    size = {
        name: float(ok_rows(rows, STUDY, name)["value"].iloc[0])
        for name in ("records", "sampling_rate", "steps")
    }
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
    """Judge the published runs under every choice that the paper leaves open.

    A choice for which `judged` returns no parts counts as not run.

    Args:
        judged: Returns the parts of the claim, given the runs under one choice.
    """
    rows = pick(official_runs(results.rows, dataset), calibration="published")
    choice, runs = "the learning rate", _runs_by_rate(rows)
    if MULTIPLIERS in beside:
        choice += " and the noise multiplier"
        runs |= _runs_at_stated_multipliers(results.rows, rows, dataset)
    size = size_of_runs(rows)
    return Finding(
        choice=choice,
        outcomes=[
            Outcome(choice=words, parts=tuple(judged(chosen) or [Part("its rows", NOT_RUN)]))
            for words, chosen in runs.items()
        ],
        sizes=Sizes(
            records=int(size["records"]),
            epochs=size["epochs"],
            trials=pick(ok_rows(rows, STUDY, TEST), mechanism="r1smg")["trial"].nunique(),
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
        beside: Studies with more learning rates, or with the stated noise multipliers.
    """

    def judged(rows: pd.DataFrame) -> list[Part]:
        run = _budgets_of(rows, epsilons)
        return [
            _lead_in_epochs(rows, each, metric, level, margin)
            if each in run
            else Part(f"R1SMG earlier at epsilon {each:g}", NOT_RUN)
            for each in epsilons
        ]

    return _finding(
        results,
        dataset,
        beside,
        epsilons,
        judged,
        detail="Epochs until a run first reaches the accuracy, DPSGD's minus R1SMG's, run by run.",
        calibration="published",
    )


def _runs_by_rate(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group the runs by learning rate, and add a group with every run at its best rate."""
    rates = required(rates_of(rows), CannotJudge("The run has no private training"))
    runs = {f"learning rate {rate:g}": runs_at_rate(rows, rate) for rate in rates}
    if len(runs) > 1:
        runs["each at its best learning rate"] = best_runs(rows)
    return runs


def _runs_at_stated_multipliers(
    results: pd.DataFrame, rows: pd.DataFrame, dataset: str
) -> dict[str, pd.DataFrame]:
    """Group the runs by learning rate, with DPSGD at the stated noise multipliers."""
    stated = at_stated_multipliers(results, dataset)
    if stated.empty:
        return {STATED_NOISE: stated}
    others = rows[rows["mechanism"] != DPSGD]
    return {
        f"learning rate {rate:g}, {STATED_NOISE}": pd.concat([runs_at_rate(others, rate), dpsgd])
        for rate, dpsgd in stated.groupby("learning_rate")
    }


def _budgets_of(rows: pd.DataFrame, epsilons: list[float]) -> list[float]:
    """Return the budgets at which both R1SMG and DPSGD were run."""
    run = [set(select(rows, mechanism=key)["epsilon"]) for key in COMPARED]
    return [epsilon for epsilon in epsilons if all(epsilon in budgets for budgets in run)]


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
        beside: Studies with more learning rates, which may lack budgets and training without
            privacy, or with the stated noise multipliers.
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
        reached = select(found, mechanism=key, epoch=epoch)
        if reached["trial"].nunique() < 2:
            continue
        # The published calibration comes first, then equal true privacy.
        parts = dict(reversed(list(reached.groupby("calibration"))))
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


# The axis is logit if the accuracy of a run with clipping exceeds this.
LOGIT_ABOVE = 0.9
# The ticks of the logit axis.
TICKS = (0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99, 0.999)
# The range of accuracies that is drawn, because a logit axis cannot show 0 and 1.
CLIPPED = (0.001, 0.9994)
# The mechanism of DPSGD's runs at the stated noise multipliers in the table of the figure.
AT_STATED = "gaussian at the stated multiplier"
# The smallest delta that the FFT of the accounting resolves.
RESOLVED = 1e-10


# Sentences on the numbers that the paper states for these curves.
STATED = {
    "mnist": f"Stars: the epochs at which the paper reaches {REACHED_ACCURACY:.0%}. ",
    "cifar10": "The paper's noise multipliers, 1.1 and 0.5, spend more than these totals "
    "(r1-f8-eps). The only result that the paper states for this figure is a "
    f"training accuracy of {PASSED_ACCURACY:.0%}, which R1SMG passes in far fewer epochs. ",
}


@drawing("r1smg2024_fig7", kind="figures", needs=["dpsgd/mnist"])
def figure_7(results: Results) -> Drawn:
    """Draw accuracy over epochs on MNIST."""
    return _accuracies(results.rows, "mnist", "r1smg2024 Figure 7")


@drawing("r1smg2024_rates", kind="figures", needs=["dpsgd_rates/mnist"])
def figure_7_at_more_rates(results: Results) -> Drawn:
    """Draw accuracy over epochs on MNIST at the learning rates of `dpsgd_rates`."""
    return _accuracies(
        results.rows.assign(study=STUDY), "mnist", "r1smg2024 Figure 7 at more learning rates"
    )


@drawing("r1smg2024_fig8", kind="figures", needs=["dpsgd/cifar10"])
def figure_8(results: Results) -> Drawn:
    """Draw accuracy over epochs on CIFAR-10."""
    return _accuracies(results.rows, "cifar10", "r1smg2024 Figure 8")


@drawing(
    "r1smg2024_multipliers",
    kind="figures",
    needs=["dpsgd/cifar10", "dpsgd_multipliers/cifar10"],
)
def figure_8_at_stated_multipliers(results: Results) -> Drawn:
    """Draw the published curves with DPSGD at the stated noise multipliers too."""
    rows = select(results.rows, study=STUDY, dataset="cifar10", calibration="published")
    stated = at_stated_multipliers(results.rows, "cifar10").assign(mechanism=AT_STATED)
    beside = (rows["mechanism"] == PUBLIC) | rows["learning_rate"].isin(stated["learning_rate"])
    rows = pd.concat([rows[beside], stated])
    return _accuracies(rows, "cifar10", "r1smg2024 Figure 8 at the stated noise multipliers")


def _accuracies(rows: pd.DataFrame, dataset: str, name: str) -> Drawn:
    rows = select(rows, dataset=dataset)
    frames = {"test": ok_rows(rows, STUDY, TEST), "train": ok_rows(rows, STUDY, TRAIN)}
    required(frames["test"], DrawingError(f"the results hold no accuracies of dpsgd on {dataset}"))
    keys = ["calibration", "learning_rate", "mechanism", "epsilon", "delta", "epoch"]
    means = pd.concat(
        frame.groupby(keys)["value"].agg(["mean", "std", "size"]).assign(accuracy=which)
        for which, frame in frames.items()
    ).reset_index()
    source = SOURCE_WORDS[rows["data_source"].iloc[0]]
    trials = frames["test"].groupby("calibration")["trial"].nunique()
    first, *others = (trials[each] for each in CALIBRATION_LINES if each in trials)
    fewer = f" (at equal true privacy: {others[0]})" if others and others[0] != first else ""
    lone = published_only(rows, STUDY, dataset) if others else ""
    size = size_of_runs(rows)
    return Drawn(
        caption=(
            f"{name} on {dataset_title(dataset)} ({source}): accuracy after every epoch of "
            "gradient descent on Poisson samples, test (solid) and training (dotted), mean over "
            f"{first} trials{fewer}, one standard deviation around the test mean. Titles: "
            "claimed budget of the run, one record added or removed, and whether noise is as "
            "published. Legends: bounds on the true budget."
        ),
        data=means,
        figure=_draw_curves(rows, means),
        note=(
            f"{size['records']:,.0f} training records, {size['epochs']} epochs (the paper: "
            f"{TRAINING[dataset].epochs}), sampling rate {size['sampling_rate']:.4g}, "
            f"{size['steps']:,.0f} steps. A legend bounds the true epsilon at "
            "the claimed delta from above, or, where that is infinite, the true "
            "delta at the claimed epsilon: from below by one step, from above for all steps. As "
            "published, DPSGD's noise multiplier comes from the total budget by Renyi DP "
            "accounting, and all other noise from the step budget of eq. (16). At equal true "
            "privacy, noise is rescaled until the run's true delta is the budget's, and all i.i.d. "
            "Gaussian noise is the same. The released sum of clipped gradients is one vector, "
            "whose l2 sensitivity is the clipping norm. Training without privacy does not clip. "
            "The axis is logit where accuracies come near 1. "
            f"{STATED[dataset]}The paper does not state its learning rate. A curve that "
            f"cannot be seen is hidden by another one.{lone}"
            f"{failed_mechanisms(rows, STUDY, dataset)}"
        ),
    )


def _write_diverged(axis: plt.Axes, rows: pd.DataFrame) -> None:
    """Write which mechanisms had runs that diverged; these runs have no part in a curve."""
    trials = rows.groupby("mechanism")["trial"].nunique()
    found = ok_rows(rows, STUDY, DIVERGED).groupby("mechanism")["trial"].nunique()
    for place, mechanism in enumerate(legend_order(found.index)):
        lost, every = found[mechanism], trials[mechanism]
        some = f"{lost} of {every} runs " if lost < every else ""
        words = f"{look(mechanism).title}: {some}diverged"
        axis.text(
            0.03,
            0.13 + 0.1 * place,
            words,
            fontsize=6,
            color=look(mechanism).colour,
            transform=axis.transAxes,
        )


def _draw_curves(rows: pd.DataFrame, means: pd.DataFrame) -> plt.Figure:
    """Draw a subfigure per calibration and budget, with a panel per learning rate and a legend."""
    calibrations = [each for each in CALIBRATION_LINES if each in set(means["calibration"])]
    rates = rates_of(means)
    epsilons = sorted(means["epsilon"].unique())
    parts = list(itertools.product(calibrations, epsilons))
    # Budgets stand side by side if there is only one rate.
    columns = len(epsilons) if len(rates) == 1 else 1
    lines = len(parts) // columns
    stated = TRAINING[rows["dataset"].iloc[0]].epochs
    papers = "" if stated == means["epoch"].max() else f" (paper: {stated} epochs)"
    figure = plt.figure(figsize=(PAGE, (3.2 if len(rates) == 1 else 2.7) * lines))
    places = figure.subfigures(lines, columns, squeeze=False).ravel()
    for place, (calibration, epsilon) in zip(places, parts, strict=True):
        # The control without privacy has one calibration and is shown at both.
        shown = (means["calibration"] == calibration) | (means["mechanism"] == PUBLIC)
        chosen = means[(means["epsilon"] == epsilon) & shown]
        labels = {
            mechanism: _label(rows, mechanism, calibration, epsilon)
            for mechanism in sorted(legend_order(chosen["mechanism"]), key=AT_STATED.__eq__)
        }
        axes = place.subplots(1, len(rates), sharex=True, sharey=True, squeeze=False)[0]
        for axis, rate in zip(axes, rates, strict=True):
            panel = runs_at_rate(chosen, rate)
            for number, (mechanism, label) in enumerate(labels.items()):
                curve = select(panel, mechanism=mechanism)
                _draw_curve(axis, curve, mechanism, label, number / len(labels))
            _draw_paper(axis, rows["dataset"].iloc[0], calibration, epsilon)
            _set_accuracy_axis(axis, means)
            runs = runs_at_rate(rows, rate)
            _write_diverged(axis, select(runs, calibration=calibration, epsilon=epsilon))
            axis.set_title(f"learning rate {rate:g}", fontsize=8)
            axis.set_xlabel(f"epoch{papers}", labelpad=1)
        axes[0].set_ylabel("accuracy")
        budget = f"({epsilon:g}, {means['delta'].iloc[0]:g})"
        place.suptitle(f"{budget}, {CALIBRATION_TITLES[calibration]}", fontsize=9)
        place.legend(
            *axes[0].get_legend_handles_labels(),
            loc="outside lower center",
            ncols=1 if columns > 1 else 2,
            fontsize=6,
        )
    return figure


def _label(rows: pd.DataFrame, mechanism: str, calibration: str, epsilon: float) -> str:
    if mechanism == AT_STATED:
        multipliers = {each.total: each.multiplier for each in TRAINING["cifar10"].budgets}
        title = f"DPSGD at the paper's noise multiplier {multipliers[epsilon]:g}"
    else:
        title = title_in(STUDY, mechanism, calibration)
    if mechanism == PUBLIC and (rate := public_rate(rows)):
        title += f" at learning rate {rate:g}"
    return title + _true_budget(rows, mechanism, calibration, epsilon)


def _set_accuracy_axis(axis: plt.Axes, means: pd.DataFrame) -> None:
    """Draw the accuracy of guessing and set the axis, which ends above all means if it is logit."""
    floor = look("random-answer")
    axis.axhline(RANDOM, color=floor.colour, linestyle="--", lw=0.8, label=floor.title)
    axis.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
    # Runs with clipping may come so close to 1 that only a logit axis tells them apart.
    if means[means["mechanism"] != PUBLIC]["mean"].max() <= LOGIT_ABOVE:
        axis.set_ylim(0, 1.02)
        return
    axis.set_yscale("logit", one_half="0.5")
    top = next((tick for tick in TICKS if tick > means["mean"].max()), TICKS[-1])
    ticks = [tick for tick in TICKS if tick <= top]
    axis.set_ylim(0.06, top + (1 - top) / 2)
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()


def _draw_paper(axis: plt.Axes, dataset: str, calibration: str, epsilon: float) -> None:
    """Mark the epochs at which the paper says that an accuracy is reached, if it does."""
    stated = ("mnist", "published", TRAINING["mnist"].larger_total)
    if (dataset, calibration, epsilon) != stated:
        return
    for mechanism, epoch in REACHED_EPOCHS.items():
        colour = look(mechanism).colour
        axis.plot(epoch, REACHED_ACCURACY, "*", color=colour, markersize=9, mec="black", mew=0.5)
        axis.annotate(
            f"paper: {epoch}",
            (epoch, REACHED_ACCURACY),
            (0, -20),
            fontsize=6,
            ha="center",
            textcoords="offset points",
        )


def _draw_curve(
    axis: plt.Axes, rows: pd.DataFrame, mechanism: str, label: str, shift: float
) -> None:
    """Draw one curve.

    Args:
        shift: The offset of the markers over their distance, in [0, 1), by which the markers of
            equal curves alternate.
    """
    style = look(DPSGD if mechanism == AT_STATED else mechanism)
    test, train = (select(rows, accuracy=which) for which in ("test", "train"))
    every = max(1, len(test) // 8)
    kind = {"color": style.colour, "markevery": (int(shift * every), every)}
    face = "white" if mechanism == AT_STATED else style.colour
    epoch, mean = test["epoch"].astype(int), test["mean"].clip(*CLIPPED)
    axis.plot(epoch, mean, marker=style.marker, mfc=face, label=label, markersize=3, **kind)
    axis.plot(epoch, train["mean"].clip(*CLIPPED), linestyle=":", **kind)
    spread = test["std"].fillna(0.0)
    low, high = ((mean + sign * spread).clip(*CLIPPED) for sign in (-1, 1))
    axis.fill_between(epoch, low, high, color=style.colour, alpha=0.15, lw=0)


def _true_budget(rows: pd.DataFrame, mechanism: str, calibration: str, epsilon: float) -> str:
    """Return the bounds on the run's true budget as the end of a label, or ""."""
    chosen = select(rows, mechanism=mechanism, calibration=calibration, epsilon=epsilon)
    values = chosen.set_index("metric")["value"]
    if "true_epsilon_upper" in values:
        # Five digits keep the bound from passing a claim that has five.
        return rf": true $\epsilon\leq${rounded_up(values['true_epsilon_upper'], 5)}"
    if "true_delta_lower" in values and values["true_delta_upper"] > RESOLVED:
        low, high = values["true_delta_lower"], values["true_delta_upper"]
        return rf": true $\delta$ from {rounded_down(low, 2)} to {rounded_up(high, 2)}"
    return ""
