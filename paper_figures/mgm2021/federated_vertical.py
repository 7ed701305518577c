"""Figure 3 of mgm2021, private features of two participants, and the verdicts on it."""

from dataclasses import replace

import pandas as pd

from claims.comparisons import every, order
from claims.intervals import Mean
from claims.judged_rows import gain, ok_rows, pick, required, tally
from claims.judges import CannotJudge, Epsilon, judge
from claims.verdicts import Finding, Part
from datasets.titles import dataset_title
from paper_figures.drawings import Drawn, drawing
from paper_figures.mgm2021.federated_accuracies import (
    draw_accuracies,
    official_datasets,
    published_finals,
)
from paper_figures.mgm2021.federated_comparisons import (
    Pair,
    beside_sentence,
    rise_by_trial,
    shared_trials,
    signal_of,
    sizes_by_dataset,
)
from paper_figures.mgm2021.numbers import VERTICAL_EPSILONS
from paper_figures.style import mechanism_title
from runs.results import Results

STUDY = "federated_vertical"


@drawing("mgm2021_fig3", kind="figures", needs=[STUDY])
def figure_3(results: Results) -> Drawn:
    """Accuracy over epsilon with private features of two participants."""
    drawn = draw_accuracies(
        results.rows,
        STUDY,
        "mgm2021 Figure 3, vertical federated learning",
        "In every iteration both participants release their features of a batch; test features "
        "carry no noise. Adjacency: one record is replaced, and the paper's sensitivity lets all "
        f"features of its batch change. As published, epsilon is that of {_scope(results.rows)}, "
        "amplified by the paper's Theorem 6. At equal true privacy the noise is rescaled until a "
        "bound on the true delta of the whole training at epsilon is delta. The bound composes all "
        "releases without amplification, because local models carry what they learned from a "
        "record into later batches.",
        scope=_scope(results.rows),
        random="training on random features",
        equal="At equal true privacy all mechanisms here add the same Gaussian noise, drawn as one "
        "curve.",
        lone="one curve for all mechanisms:\ntheir noise is the same",
    )
    for axis in drawn.figure.axes:
        if axis.get_subplotspec().is_first_col() and "published" in set(drawn.data["calibration"]):
            axis.axvspan(*VERTICAL_EPSILONS, color="grey", alpha=0.12, lw=0)
            place = {"transform": axis.get_xaxis_transform(), "va": "top", "fontsize": 6}
            axis.text(VERTICAL_EPSILONS[0] * 1.05, 0.98, "paper", **place)
    return drawn


def _scope(rows: pd.DataFrame) -> str:
    """What a published budget covers, seen from the budgets of single releases."""
    uses = ok_rows(rows, STUDY, "use_epsilon")
    return "every release" if (uses["value"] >= uses["epsilon"]).all() else "the whole training"


@judge(studies=(STUDY,))
def vertical_lead(
    results: Results,
    *,
    datasets: list[str],
    epsilons: tuple[Epsilon, Epsilon],
    leader: str,
    others: dict[str, list[str]],
    beside: list[Pair],
    beside_words: str,
    margin: float,
) -> Finding:
    """Whether a mechanism leads at the smallest epsilon of a range, and more than at the largest.

    A lead that grows is one: a mechanism that is behind at both ends has none.

    Raises: CannotJudge: The run has none of the others.
    """
    present = official_datasets(results.rows, STUDY, datasets)
    finals = {name: published_finals(results.rows, STUDY, name, epsilons) for name in present}
    ahead, growth, signals = {}, {}, {}
    for dataset, own in finals.items():
        for other in others.get(dataset, others["default"]):
            if other not in set(own["mechanism"]):
                continue
            name = f"{dataset_title(dataset)}, lead over {mechanism_title(other)} grows"
            least = own[own["epsilon"] == pick(own, mechanism=leader)["epsilon"].min()]
            ahead[name] = gain(least, leader, other)
            growth[name] = _growth_of_lead(own, leader, other)
            signals[name] = signal_of(own, [leader, other], margin)
    required(growth, CannotJudge(f"The results have none of the mechanisms beside {leader}"))
    both = zip(
        order(ahead, margin=margin, signal=signals),
        order(growth, margin=margin, signal=signals),
        strict=True,
    )
    parts = [_one_lead(first, second) for first, second in both]
    sizes = sizes_by_dataset(results.rows, STUDY, present, finals)
    return Finding(
        parts=tuple(parts),
        because=tally(parts, shared_trials(finals)),
        detail=(
            f"The lead of {mechanism_title(leader)} at the smallest epsilon of "
            f"{epsilons[0]:g} to {epsilons[1]:g}, and that lead minus the one at the largest, "
            f"paired by trial. {beside_sentence(beside, beside_words, finals)}"
        ).strip(),
        calibration="published",
        **sizes,
    )


def _one_lead(ahead: Part, grows: Part) -> Part:
    """Of one other mechanism: ahead at the smallest epsilon, and by more than at the largest."""
    return every(
        grows.name,
        [replace(ahead, name="ahead"), replace(grows, name="growth")],
    )


def _growth_of_lead(rows: pd.DataFrame, leader: str, other: str) -> Mean:
    """The lead at the smallest epsilon less that at the largest one."""
    return Mean((rise_by_trial(rows, other) - rise_by_trial(rows, leader)).dropna().to_numpy(float))
