"""Correlated noise in training against DP-SGD: accuracy over epsilon and over epochs.

`suite_dpmf` reads the rows of the study dpmf; it has one row of panels for each data set.
"""

import pandas as pd

from claims.judged_rows import required
from datasets.titles import dataset_title
from paper_figures import pyplot as plt
from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.legends import entries_of
from paper_figures.selections import LEVELS, dataset_sources, failed_mechanisms, ok_rows
from paper_figures.style import PAGE, in_order, look
from runs.results import Results

STUDY = "dpmf"
KEYS = ["dataset", "mechanism", "epsilon"]
# How far the true delta of a run may lie from the claimed one, relatively, to be compared at it.
EQUAL = 0.05
# What this study uses mechanisms for, where their titles do not say it.
TITLES = {
    "moments-accountant": "DP-SGD on Poisson samples",
    "factorisation": "Matrix factorisation (square root)",
    "factorisation-identity": "Independent noise, fixed order",
}
NOTE = (
    "Every mechanism spends the same (epsilon, delta) in the whole run. In a fixed order each "
    "record takes part once per epoch, and all steps are one release of Gaussian noise sigma "
    "C^-1 z, calibrated exactly to the sensitivity of that participation; neighbours differ by "
    "replacing one record's gradients with zero. DP-SGD draws every record independently for every "
    "step; its noise is set by an upper bound on the sampled composition, one record added or "
    "removed. The control without privacy is DP-SGD without noise. The learning rate is chosen by "
    "test accuracy, for all mechanisms alike, which no private training could do."
)


@drawing("suite_dpmf", kind="figures", needs=[STUDY])
def correlated_training(results: Results) -> Drawn:
    """Final accuracy and error of the noise over epsilon, and accuracy over epochs at one."""
    rows = at_equal_privacy(results.rows)
    finals = best_finals(rows)
    if finals["mechanism"].isin(LEVELS).all():
        raise DrawingError(f"the results hold no private training of {STUDY}")
    errors = ok_rows(rows, STUDY, "sum_error")
    errors = errors[~errors["mechanism"].isin(LEVELS)].rename(columns={"value": "sum_error"})
    data = finals.merge(errors[[*KEYS, "sum_error"]], how="left", on=KEYS)
    sources = dataset_sources(rows, STUDY)
    height = 0.9 + 2.0 * len(sources)
    figure, axes = plt.subplots(len(sources), 3, figsize=(PAGE, height), squeeze=False)
    facts, edges = [], []
    for panels, (dataset, source) in zip(axes, sources.items(), strict=True):
        own = rows[rows["dataset"] == dataset]
        _draw(panels, own, data[data["dataset"] == dataset])
        records, steps = (
            int(ok_rows(own, STUDY, metric)["value"].iloc[0]) for metric in ("records", "steps")
        )
        panels[0].set_title(dataset_title(dataset))
        best = finals[finals["dataset"] == dataset]
        trials = int(best["trials"].max())
        facts.append(f"{source}: {records:,} records, {steps:,} steps, {trials} trials")
        edges.append(_at_the_edge(own, best, dataset))
    handles = entries_of(axes[:, 0])
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=3)

    delta = ok_rows(rows, STUDY, "steps")["delta"].iloc[0]
    caption = (
        "Training with correlated noise, and with DP-SGD, at equal true privacy, delta "
        f"{delta:g}. {'; '.join(facts)}. Left: final test error, mean and range. Middle: "
        "root mean squared noise on the sum of all steps so far, in closed form. Right: test error "
        "after every epoch. Each at its best learning rate."
    )
    failed = failed_mechanisms(results.rows, STUDY, *sources)
    return Drawn(caption, data, figure, f"{NOTE}{''.join(edges)}{failed}")


def _draw(panels, rows: pd.DataFrame, data: pd.DataFrame) -> None:
    """The three panels of one data set."""
    left, middle, right = panels
    epsilons = sorted(data[~data["mechanism"].isin(LEVELS)]["epsilon"].unique())
    shown = epsilons[len(epsilons) // 2]
    epochs = _epochs(rows, data, shown)
    for name in in_order(data["mechanism"]):
        style = look(name)
        label = TITLES.get(name, style.title)
        line = style.line | {"label": label}
        own, curve = (frame[frame["mechanism"] == name] for frame in (data, epochs))
        if name in LEVELS:
            level = {"color": style.colour, "linestyle": ":"}
            left.axhline(1 - own["accuracy"].mean(), label=label, **level)
            right.plot(curve["epoch"].astype(int), 1 - curve["accuracy"], **level)
            continue
        own = own.sort_values("epsilon", kind="stable")
        spread = [own["largest"] - own["accuracy"], own["accuracy"] - own["least"]]
        left.errorbar(own["epsilon"], 1 - own["accuracy"], [each.clip(lower=0) for each in spread],
                      linewidth=1, **line)  # fmt: skip
        middle.plot(own["epsilon"], own["sum_error"], **line)
        right.plot(curve["epoch"].astype(int), 1 - curve["accuracy"], **line)
    for axis in (left, middle):
        axis.set(xscale="log", xlabel=r"claimed and true $\epsilon$ of a run")
        axis.set_xticks(epsilons, [f"{each:g}" for each in epsilons])
        axis.set_xticks([], minor=True)
    for axis in (left, right):
        axis.set_yscale("log")
        axis.set_ylim(top=1.0)
        axis.set_yticks([0.03, 0.1, 0.3, 1.0], ["0.03", "0.1", "0.3", "1"])
        axis.set_yticks([], minor=True)
    left.set(ylabel="final test error")
    middle.set(yscale="log", ylabel="noise on a sum / clipping norm")
    right.set(xlabel="epoch", ylabel="test error", title=rf"$\epsilon$ = {shown:g}")
    right.xaxis.set_major_locator(plt.MaxNLocator(integer=True))


def at_equal_privacy(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the controls, and of runs whose true delta is the claimed one.

    Of both calibrations of a mechanism at one budget those of the exact one.
    """
    own = rows[rows["study"] == STUDY]
    control = own["mechanism"].isin(LEVELS)
    spent = own[~control & (own["metric"] == "true_delta_upper")]
    spent = spent[(spent["value"] / spent["delta"] - 1).abs() <= EQUAL]
    # "exact" comes before "published".
    spent = spent.sort_values("calibration", kind="stable").drop_duplicates(KEYS)
    equal = own.merge(spent[[*KEYS, "calibration"]], on=[*KEYS, "calibration"])
    return pd.concat([equal, own[control]], ignore_index=True)


def best_finals(rows: pd.DataFrame) -> pd.DataFrame:
    """Final test accuracies at the learning rate with the largest mean, one row per KEYS.

    Columns besides KEYS: learning_rate, accuracy (mean over the trials), least, largest, trials. Of
    equal means the smaller rate counts.

    Raises:
        DrawingError: The results hold no final accuracies.
    """
    found = required(
        ok_rows(rows, STUDY, "final_test_accuracy"),
        DrawingError(f"the results hold no accuracies of {STUDY}; run it first"),
    )
    means = found.groupby([*KEYS, "learning_rate"])["value"].agg(
        accuracy="mean", least="min", largest="max", trials="size"
    )
    means = means.reset_index()
    return means.loc[means.groupby(KEYS)["accuracy"].idxmax()].reset_index(drop=True)


def _at_the_edge(rows: pd.DataFrame, finals: pd.DataFrame, dataset: str) -> str:
    """A sentence on mechanisms whose best learning rate is the least or the largest of the sweep.

    Another rate might be better for them.
    """
    rates = ok_rows(rows, STUDY, "final_test_accuracy")["learning_rate"]
    private = finals[~finals["mechanism"].isin(LEVELS)]
    edge = private[private["learning_rate"].isin([rates.min(), rates.max()])]
    if edge.empty or rates.nunique() == 1:
        return ""
    named = "; ".join(
        f"{TITLES.get(name, look(name).title)} at epsilon "
        + ", ".join(f"{each:g}" for each in sorted(own["epsilon"]))
        for name, own in edge.groupby("mechanism")
    )
    return (
        f" On {dataset_title(dataset)} the rates run from {rates.min():g} to {rates.max():g}. "
        f"Where the best is one of these two, a rate beyond might be better: {named}."
    )


def _epochs(rows: pd.DataFrame, finals: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    """Mean test accuracies after every epoch at the chosen rates, at one epsilon.

    Controls ignore epsilon: their curve is that of any.
    """
    chosen = finals[(finals["epsilon"] == epsilon) | finals["mechanism"].isin(LEVELS)]
    chosen = chosen[[*KEYS, "learning_rate"]]
    found = ok_rows(rows, STUDY, "test_accuracy").merge(chosen, on=[*KEYS, "learning_rate"])
    means = found.groupby(["mechanism", "epoch"])["value"].mean()
    return means.rename("accuracy").reset_index()
