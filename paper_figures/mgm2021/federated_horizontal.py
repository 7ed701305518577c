"""Figure 2 of mgm2021, private gradients of several participants, and the verdicts on it."""

from __future__ import annotations

from paper_figures.drawings import Drawn, drawing
from paper_figures.ledger import NOT_REPRODUCED, REPRODUCED, CannotJudge, Claim, Finding, judge
from paper_figures.mgm2021.federated_accuracies import (
    draw_accuracies,
    gain,
    judge_order,
    missing_sentence,
    official_datasets,
    published_finals,
    size_sentence,
    verdict_on_closeness,
)
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    paired_difference,
    pick,
    verdict_of_parts,
    verdict_on_order,
)

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
        "whole training at epsilon is delta; Gaussian noises then differ only by their shares "
        "among the layers. Training without privacy does not clip.",
    )


@judge(experiments=(STUDY,))
def horizontal_order(claim: Claim, results: Results) -> Finding:
    """The order of mechanisms with private gradients; arguments as in `judge_order`."""
    return judge_order(claim, results.rows, STUDY)


@judge(experiments=(STUDY,))
def horizontal_trend(claim: Claim, results: Results) -> Finding:
    """Accuracy rises with epsilon, and mechanisms come close at large epsilon, as published.

    Arguments: datasets; mechanisms. Rising: the largest budget of the run less the smallest one,
    paired by trial. Close: the means of all but one of them at the largest budget lie within the
    tolerance.
    """
    a = claim.arguments
    datasets = official_datasets(results.rows, STUDY, a["datasets"])
    verdicts, words, rises = [], [], []
    for dataset in datasets:
        finals = published_finals(results.rows, STUDY, dataset)
        ends = []
        for mechanism in a["mechanisms"]:
            own = pick(finals, mechanism=mechanism)
            low, high = own["epsilon"].min(), own["epsilon"].max()
            if low == high:
                raise CannotJudge(f"One budget of {mechanism} on {dataset} shows no trend")
            rise = paired_difference(own[own["epsilon"] == high], own[own["epsilon"] == low])
            rises.append(rise)
            words.append(f"{dataset}: {mechanism} {rise} from {low:g} to {high:g}")
            ends.append(own[own["epsilon"] == high]["value"].mean())
        ends = sorted(ends)
        spread = min(ends[-1] - ends[1], ends[-2] - ends[0])
        verdicts.append(REPRODUCED if spread <= claim.tolerance else NOT_REPRODUCED)
        words.append(f"{dataset}: {spread:.3g} between all but one at the largest")
    return Finding(
        ours="; ".join(words),
        verdict=verdict_of_parts(verdict_on_order(*rises), *verdicts),
        detail=" ".join(
            [
                "Gains of the final test accuracy with 95% intervals.",
                *(size_sentence(results.rows, STUDY, dataset) for dataset in datasets),
                missing_sentence(a["datasets"], datasets),
            ]
        ).strip(),
        calibration="published",
        trials=min(rise.trials for rise in rises),
    )


@judge(experiments=(STUDY,))
def matrix_mechanism_on_adult(claim: Claim, results: Results) -> Finding:
    """The matrix mechanism against the paper's Gaussian (close) and UDN (better) on Adult.

    Arguments: matrix, gaussian, udn: names of the three.
    """
    a = claim.arguments
    (dataset,) = official_datasets(results.rows, STUDY, ["adult"])
    finals = published_finals(results.rows, STUDY, dataset)
    near = gain(finals, a["matrix"], a["gaussian"])
    better = gain(finals, a["matrix"], a["udn"])
    return Finding(
        ours=f"MM less Gaussian {near}; MM less UDN {better}",
        verdict=verdict_of_parts(
            verdict_on_closeness(near, claim.tolerance), verdict_on_order(better)
        ),
        detail=(
            "Paired differences of final test accuracies with 95% intervals, means over the run's "
            f"budgets. {size_sentence(results.rows, STUDY, dataset)} The matrix mechanism "
            "answers the identity of a whole layer, where it is the classic Gaussian; the paper "
            "takes the sensitivity of single elements for its Gaussian, and in Type II also for "
            "the matrix mechanism."
        ),
        calibration="published",
        trials=near.trials,
    )
