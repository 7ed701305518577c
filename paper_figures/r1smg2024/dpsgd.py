"""Learning with noisy gradients, r1smg2024 Section 7.3: Figures 7 and 8.

Figure 7 is drawn on digits if the run has no MNIST. dpsgd_verdicts.py judges both figures.
"""

from __future__ import annotations

import itertools

import pandas as pd

from claims.judged_rows import ok_rows, required, select
from datasets.titles import dataset_title
from mechanisms.query.words import rounded_down, rounded_up
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.r1smg2024.dpsgd_verdicts import (
    DIVERGED,
    DPSGD,
    PUBLIC,
    RANDOM,
    STUDY,
    TEST,
    TRAIN,
    at_stated_multipliers,
    public_rate,
    rates_of,
    runs_at_rate,
    size_of_runs,
)
from paper_figures.selections import SOURCE_WORDS, failed_mechanisms, published_only
from paper_figures.style import (
    CALIBRATION_LINES,
    CALIBRATION_TITLES,
    PAGE,
    legend_order,
    look,
    title_in,
)
from papers.r1smg2024 import (
    PASSED_ACCURACY,
    REACHED_ACCURACY,
    REACHED_EPOCHS,
    TRAINING,
)
from runs.results import Results

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


@drawing("r1smg2024_fig7", kind="figures", needs=["dpsgd"])
def figure_7(results: Results) -> Drawn:
    """Draw accuracy over epochs on MNIST, or on digits if the run has no MNIST."""
    return _figure_7(results.rows, "r1smg2024 Figure 7")


@drawing("r1smg2024_rates", kind="figures", needs=["dpsgd_rates"])
def figure_7_at_more_rates(results: Results) -> Drawn:
    """Draw the same at the learning rates of another study."""
    return _figure_7(results.rows.assign(study=STUDY), "r1smg2024 Figure 7 at more learning rates")


def _figure_7(rows: pd.DataFrame, name: str) -> Drawn:
    present = set(rows[rows["study"] == STUDY]["dataset"])
    dataset = next((d for d in ("mnist", "digits") if d in present), None)
    if dataset is None:
        raise DrawingError(f"{name} needs its study on mnist or digits; run it first")
    return _accuracies(rows, dataset, name)


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
    rows = rows[rows["dataset"] == dataset]
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
    epochs = f" (the paper: {TRAINING[dataset].epochs})" if dataset in TRAINING else ""
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
            f"{size['records']:,.0f} training records, {size['epochs']} epochs{epochs}, sampling "
            f"rate {size['sampling_rate']:.4g}, {size['steps']:,.0f} steps. A legend bounds the "
            "true epsilon at the claimed delta from above, or, where that is infinite, the true "
            "delta at the claimed epsilon: from below by one step, from above for all steps. As "
            "published, DPSGD's noise multiplier comes from the total budget by Renyi DP "
            "accounting, and all other noise from the step budget of eq. (16). At equal true "
            "privacy, noise is rescaled until the run's true delta is the budget's, and all i.i.d. "
            "Gaussian noise is the same. The released sum of clipped gradients is one vector, "
            "whose l2 sensitivity is the clipping norm. Training without privacy does not clip. "
            "The axis is logit where accuracies come near 1. "
            f"{STATED.get(dataset, '')}The paper does not state its learning rate. A curve that "
            f"cannot be seen is hidden by another one.{lone}"
            f"{failed_mechanisms(rows, STUDY, dataset)}"
        ),
    )


def _write_diverged(axis: plt.Axes, rows: pd.DataFrame) -> None:
    """Name the mechanisms of which runs diverged; these have no part in a curve."""
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
    stated, epochs = TRAINING.get(rows["dataset"].iloc[0]), means["epoch"].max()
    papers = f" (paper: {stated.epochs} epochs)" if stated and stated.epochs != epochs else ""
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
                own = panel[panel["mechanism"] == mechanism]
                _draw_curve(axis, own, mechanism, label, number / len(labels))
            _draw_paper(axis, rows["dataset"].iloc[0], calibration, epsilon)
            _finish(axis, means)
            runs = runs_at_rate(rows, rate)
            own = (runs["calibration"] == calibration) & (runs["epsilon"] == epsilon)
            _write_diverged(axis, runs[own])
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
    own_rate = public_rate(rows)
    if mechanism == PUBLIC and own_rate is not None:
        title += f" at learning rate {own_rate:g}"
    return title + _true_budget(rows, mechanism, calibration, epsilon)


def _finish(axis: plt.Axes, means: pd.DataFrame) -> None:
    """Draw the floor and set the accuracy axis; a logit axis ends at the tick above all means."""
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
        shift: The offset of the markers, in [0, 1), by which those of equal curves alternate.
    """
    style = look(DPSGD if mechanism == AT_STATED else mechanism)
    test, train = (rows[rows["accuracy"] == which] for which in ("test", "train"))
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
    chosen = (rows["mechanism"] == mechanism) & (rows["calibration"] == calibration)
    values = rows[chosen & (rows["epsilon"] == epsilon)].set_index("metric")["value"]
    if "true_epsilon_upper" in values:
        # Five digits keep the bound from passing a claim that has five.
        return rf": true $\epsilon\leq${rounded_up(values['true_epsilon_upper'], 5)}"
    if "true_delta_lower" in values and values["true_delta_upper"] > RESOLVED:
        low, high = values["true_delta_lower"], values["true_delta_upper"]
        return rf": true $\delta$ from {rounded_down(low, 2)} to {rounded_up(high, 2)}"
    return ""
