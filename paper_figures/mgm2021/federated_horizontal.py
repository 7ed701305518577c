"""Figure 2 of mgm2021, private gradients of several participants, and the verdicts on it."""

import itertools
import math
from typing import Literal

import pandas as pd

from claims.comparisons import equal, order, statement
from claims.intervals import Mean, paired
from claims.judged_rows import over_budgets, pick, required, shared_budgets, tally
from claims.judges import CannotJudge, judge
from claims.verdicts import NOT_RUN, Finding, Outcome, Part
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.mgm2021.federated_accuracies import (
    draw_accuracies,
    official_datasets,
    published_finals,
)
from paper_figures.mgm2021.federated_comparisons import (
    finding_of,
    floor_of,
    missing_sentence,
    rise_of,
    shared_trials,
    signal_of,
    size_sentence,
    sizes_by_dataset,
)
from paper_figures.mgm2021.numbers import HORIZONTAL_ROUNDS
from paper_figures.mgm2021.same_noise import same_noise_on_elements, same_noise_on_whole
from paper_figures.mgm2021.upload_noise import noise_norm
from paper_figures.style import mechanism_title
from runs.results import Results
from studies.federated_horizontal import NETWORKS

STUDY = "federated_horizontal"


@drawing("mgm2021_fig2", kind="figures", needs=[STUDY])
def figure_2(results: Results) -> Drawn:
    """Accuracy over epsilon with private gradients."""
    return draw_accuracies(
        results.rows,
        STUDY,
        "mgm2021 Figure 2, horizontal federated learning",
        "Every participant clips its accumulated gradient to a box of half-width C (the paper's "
        "clip value) and uploads it layer by layer. Adjacency: all records of one participant may "
        "change, which moves a layer of m x n by 2 C sqrt(mn) in l2. As published, the composition "
        "theorem of Kairouz, Oh and Viswanath shares epsilon among rounds and layers; the Gaussian "
        "per element splits its share once more over the elements, as the paper's Table 4 does. "
        "(Read literally, its Section 8.2 gives every element the whole share, with far less noise "
        "than IDN's.) At equal true privacy the noise is rescaled until the true delta of the "
        "whole training at epsilon is delta. Training without privacy does not clip.",
        scope="the whole training",
        equal="At equal true privacy all noise is Gaussian and differs only in how the budget is "
        "split among layers.",
    )


@judge(studies=(STUDY,))
def horizontal_trend(
    results: Results, *, datasets: list[str], mechanisms: list[str], close: float, margin: float
) -> Finding:
    """Accuracy rises with epsilon, and mechanisms come close at large epsilon, as published.

    Rising: the largest budget of the run less the smallest one, paired by trial. Close: all
    mechanisms but one, the one farthest off, at the largest budget.
    """
    present = official_datasets(results.rows, STUDY, datasets)
    finals = {name: published_finals(results.rows, STUDY, name) for name in present}
    parts = []
    for dataset, own in finals.items():
        title = dataset_title(dataset)
        for mechanism in mechanisms:
            rise = {f"{title}, {mechanism_title(mechanism)} rises": rise_of(own, mechanism)}
            signal = signal_of(own, [mechanism], margin)
            parts += order(rise, margin=margin, signal=signal)
        parts += equal(_gaps_of_most(own, mechanisms, title), margin=close)
    return Finding(
        parts=tuple(parts),
        because=tally(parts, shared_trials(finals)),
        detail=" ".join(
            [
                "Gains of the final test accuracy with intervals.",
                *(size_sentence(results.rows, STUDY, dataset) for dataset in present),
                missing_sentence(datasets, present),
            ]
        ).strip(),
        calibration="published",
        **sizes_by_dataset(results.rows, STUDY, present, finals),
    )


def _gaps_of_most(rows: pd.DataFrame, mechanisms: list[str], title: str) -> dict[str, Mean]:
    """Differences at the largest budget between neighbours in accuracy, without the odd one out.

    Of three or more mechanisms, the one whose mean is farthest from the middle one is left out.
    """
    own = rows[rows["mechanism"].isin(mechanisms)]
    top = own[own["epsilon"] == own["epsilon"].max()]
    means = {m: pick(top, mechanism=m)["value"].mean() for m in mechanisms}
    ranked = sorted(means, key=means.get)
    middle = means[ranked[len(ranked) // 2]]
    odd = max(ranked, key=lambda m: abs(means[m] - middle))
    most = [m for m in ranked if m != odd]
    return {
        f"{title}, {mechanism_title(high)} close to {mechanism_title(low)} at epsilon "
        f"{top['epsilon'].iloc[0]:g}": paired(pick(top, mechanism=high), pick(top, mechanism=low))
        for low, high in itertools.pairwise(most)
    }


@judge(studies=(STUDY,))
def matrix_mechanism_on_adult(
    results: Results,
    *,
    choice: str,
    readings: dict[Literal["element", "whole"], str],
) -> Finding:
    """The matrix mechanism against the paper's Gaussian, to which it is close, on Adult.

    With one sensitivity the matrix mechanism of the identity and the Gaussian are one noise, which
    closed forms show at the shape of the run.
    """
    (dataset,) = official_datasets(results.rows, STUDY, ["adult"])
    finals = published_finals(results.rows, STUDY, dataset)
    name, shape = "MM close to Gaussian", finals["shape"].iloc[0]
    by_reading = {
        "element": (same_noise_on_elements(name, shape),),
        "whole": (same_noise_on_whole(name, shape),),
    }
    return finding_of(
        [Outcome(choice=readings[key], parts=parts) for key, parts in by_reading.items()],
        choice=choice,
        detail=f"Expected squared noise. {size_sentence(results.rows, STUDY, dataset)}",
        calibration="published",
        trials=shared_trials({dataset: finals}),
        **sizes_by_dataset(results.rows, STUDY, [dataset], {dataset: finals}),
    )


@judge(studies=(STUDY,))
def harder_tasks_need_more(
    results: Results, *, hard: list[str], easy: list[str], mechanism: str, margin: float
) -> Finding:
    """Whose uploads get more noise, and who learns more at one epsilon, of the gain without it."""
    noise, words = _noise_of_uploads(hard, easy, mechanism)
    try:
        slow, fast = (official_datasets(results.rows, STUDY, names) for names in (hard, easy))
    except CannotJudge:
        parts = [*noise, Part("accuracy of a valid model", NOT_RUN)]
        return Finding(parts=parts, detail=words, calibration="published")
    finals = {name: published_finals(results.rows, STUDY, name) for name in (*slow, *fast)}
    effects = {}
    for one in fast:
        for other in slow:
            both = (pick(finals[name], mechanism=mechanism) for name in (one, other))
            shared = required(
                shared_budgets(*both),
                CannotJudge(f"{one} and {other} share no budget of {mechanism}"),
            )
            shares = (_learned(finals[name], mechanism, shared) for name in (one, other))
            effects[f"{dataset_title(one)} learns more than {dataset_title(other)}"] = paired(
                *shares
            )
    parts = [*noise, *order(effects, margin=margin)]
    absent = [name for name in (*hard, *easy) if name not in finals]
    parts += [Part(f"accuracy on {dataset_title(name)}", NOT_RUN) for name in absent]
    return Finding(
        parts=parts,
        because=tally(parts, shared_trials(finals)),
        detail=f"{words} Accuracies: shares of the gain over what needs no information (random "
        "answers or the majority class, whichever scores more) that training without noise has.",
        calibration="published",
        **sizes_by_dataset(results.rows, STUDY, [*slow, *fast], finals),
    )


def _noise_of_uploads(hard: list[str], easy: list[str], mechanism: str) -> tuple[list[Part], str]:
    """Whose uploads get more noise, in units of their clip C, with the paper's networks."""
    names = (*hard, *easy)
    deviations = {
        name: noise_norm(mechanism, NETWORKS[name], HORIZONTAL_ROUNDS[name], 1.0)
        / math.sqrt(NETWORKS[name].size)
        for name in names
    }
    parts = [
        statement(
            f"noise on {dataset_title(one)} above {dataset_title(other)},",
            deviations[one] > deviations[other],
            f"{deviations[one] / deviations[other]:.3g} times",
        )
        for one in hard
        for other in easy
    ]
    shown = ", ".join(f"{dataset_title(name)} {value:.2g}" for name, value in deviations.items())
    return parts, (
        f"Root mean square of {mechanism_title(mechanism)}'s noise on an element of an upload over "
        "the clip C, at a total epsilon of 1, delta 1e-5, with the paper's networks and rounds: "
        f"{shown}. It falls as 1/epsilon while the epsilon of a release is far below the number of "
        "its elements, so that there these ratios are those of the epsilons of equal noise."
    )


def _learned(rows: pd.DataFrame, mechanism: str, epsilons: list[float]) -> pd.DataFrame:
    """By trial, how much of the gain without noise a mechanism keeps, averaged over budgets."""
    (floor, _), ceiling = floor_of(rows), pick(rows, mechanism="non-private")["value"].mean()
    means = over_budgets(pick(rows, mechanism=mechanism), epsilons)
    return means.assign(value=(means["value"] - floor) / (ceiling - floor))
