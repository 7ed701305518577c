"""Figures 7 and 8 of r1smg2024: learning with noisy gradients."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.ticker import MaxNLocator

from paper_figures.drawings import DrawingError, Drawn, drawing
from paper_figures.results import Results
from paper_figures.selections import (
    SOURCE_WORDS,
    failed_mechanisms,
    ok_rows,
    published_only,
)
from paper_figures.style import CALIBRATION_LINES, PAGE, in_order, look

CALIBRATION_WORDS = {
    "published": "as published",
    "exact": "run rescaled to the budget",
}
# Of the paper's runs.
STATED_EPOCHS = {"mnist": 30, "cifar10": 100}
# Bounds of delta below this are rounded to it: the FFT resolves no less.
RESOLVED = 1e-10


@drawing("r1smg2024_fig7", kind="figures", needs=["dpsgd"])
def figure_7(results: Results) -> Drawn:
    """Accuracy over epochs on MNIST, or on digits where the run has no MNIST."""
    dataset = next((d for d in ("mnist", "digits") if d in _datasets(results.rows)), None)
    if dataset is None:
        raise DrawingError("Figure 7 needs dpsgd on mnist or digits; run it first")
    return _accuracies(results.rows, dataset, "r1smg2024 Figure 7")


@drawing("r1smg2024_fig8", kind="figures", needs=["dpsgd/cifar10"])
def figure_8(results: Results) -> Drawn:
    """Accuracy over epochs on CIFAR-10."""
    return _accuracies(results.rows, "cifar10", "r1smg2024 Figure 8")


def _datasets(rows: pd.DataFrame) -> set[str]:
    return set(rows[rows["experiment"] == "dpsgd"]["dataset"])


def _accuracies(rows: pd.DataFrame, dataset: str, name: str) -> Drawn:
    rows = rows[rows["dataset"] == dataset]
    frames = {m: ok_rows(rows, "dpsgd", f"{m}_accuracy") for m in ("test", "train")}
    if frames["test"].empty:
        raise DrawingError(f"the results hold no accuracies of dpsgd on {dataset}")
    keys = ["calibration", "mechanism", "epsilon", "delta", "element"]
    means = pd.concat(
        frame.groupby(keys)["value"].agg(["mean", "std", "size"]).assign(accuracy=which)
        for which, frame in frames.items()
    ).reset_index()
    calibrations = [f for f in CALIBRATION_LINES if f in set(means["calibration"])]
    epsilons = sorted(means["epsilon"].unique())
    figure, axes = plt.subplots(
        len(calibrations),
        len(epsilons),
        figsize=(PAGE, 3.2 * len(calibrations)),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for row, calibration in zip(axes, calibrations, strict=True):
        for axis, epsilon in zip(row, epsilons, strict=True):
            panel = means[(means["epsilon"] == epsilon) & _shown_at(means, calibration)]
            for mechanism in in_order(panel["mechanism"]):
                budget = _true_budget(rows, mechanism, calibration, epsilon)
                _curves(axis, panel[panel["mechanism"] == mechanism], mechanism, budget)
            axis.set(
                title=f"({epsilon:g}, {means['delta'].iloc[0]:g}), {CALIBRATION_WORDS[calibration]}"
            )
            axis.legend(fontsize=6, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
            axis.set_xlabel("epoch", labelpad=1)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        row[0].set_ylabel("accuracy")
    caption = (
        f"{name} on {dataset} ({SOURCE_WORDS[rows['data_source'].iloc[0]]}): accuracy after every "
        "epoch of gradient descent on Poisson samples, test (solid) and training (dotted), mean "
        f"over {frames['test']['trial'].nunique()} trials, one standard deviation around the test "
        f"mean. {_facts(rows, dataset)} A title gives the claimed budget of the whole run, the "
        "legend its true one: epsilon at the claimed delta, an upper bound; where that is "
        "infinite delta at the claimed epsilon, between that of one step and an upper bound for "
        "all. One record is added or removed; the sum of clipped gradients is one vector. As "
        "published: the classic Gaussian's multiplier comes from the total by Renyi accounting "
        "(DPSGD), all other noise from the step budget of eq. (16). Below: the noise is rescaled "
        "until the bound on the run's true delta is the claimed one; all i.i.d. Gaussian noise is"
        " then the same. "
        "Gradients are clipped to an l2 norm that is the sensitivity, but not without privacy."
        f"{published_only(rows, 'dpsgd', dataset)}{failed_mechanisms(rows, 'dpsgd', dataset)}"
    )
    return Drawn(caption, means, figure)


def _shown_at(means: pd.DataFrame, calibration: str) -> pd.Series:
    """Rows of a calibration, and the control without privacy, which has but one, at either."""
    return (means["calibration"] == calibration) | (means["mechanism"] == "non-private")


def _curves(axis, rows: pd.DataFrame, mechanism: str, budget: str) -> None:
    style = look(mechanism)
    test, train = (rows[rows["accuracy"] == which] for which in ("test", "train"))
    kind = {"color": style.colour, "markevery": max(1, len(test) // 8)}
    epoch, mean = test["element"].astype(int), test["mean"]
    label = f"{style.title}{budget}"
    axis.plot(epoch, mean, marker=style.marker, label=label, markersize=3, **kind)
    axis.plot(epoch, train["mean"], linestyle=":", **kind)
    spread = test["std"].fillna(0.0)
    axis.fill_between(epoch, mean - spread, mean + spread, color=style.colour, alpha=0.15, lw=0)


def _true_budget(rows: pd.DataFrame, mechanism: str, calibration: str, epsilon: float) -> str:
    chosen = (rows["mechanism"] == mechanism) & (rows["calibration"] == calibration)
    values = rows[chosen & (rows["epsilon"] == epsilon)].set_index("metric")["value"]
    if "true_epsilon_upper" in values:
        return rf": $\epsilon\leq${values['true_epsilon_upper']:.3g}"
    if "true_delta_lower" in values and values["true_delta_upper"] > RESOLVED:
        low, high = values["true_delta_lower"], values["true_delta_upper"]
        return rf": $\delta\geq${low:.2g}, $\leq${high:.2g}"
    return ""


def _facts(rows: pd.DataFrame, dataset: str) -> str:
    facts = {m: ok_rows(rows, "dpsgd", m)["value"].iloc[0] for m in ("records", "steps")}
    rate = ok_rows(rows, "dpsgd", "sampling_rate")["value"].iloc[0]
    epochs = int(ok_rows(rows, "dpsgd", "test_accuracy")["element"].max())
    stated = f" (the paper: {STATED_EPOCHS[dataset]})" if dataset in STATED_EPOCHS else ""
    return (
        f"{facts['records']:,.0f} training records, {epochs} epochs{stated}, sampling rate "
        f"{rate:.4g}, {facts['steps']:,.0f} steps."
    )
