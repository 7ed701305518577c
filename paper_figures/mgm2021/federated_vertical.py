"""Figure 3 of mgm2021, private features of two participants, and the verdict on it."""

from __future__ import annotations

import pandas as pd

from paper_figures.drawings import Drawn, drawing
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.mgm2021.federated_accuracies import draw_accuracies, judge_order
from paper_figures.results import Results
from paper_figures.selections import ok_rows

STUDY = "federated_vertical"


@drawing("mgm2021_fig3", kind="figures", needs=[STUDY])
def figure_3(results: Results) -> Drawn:
    """Accuracy over epsilon with private features of two participants."""
    return draw_accuracies(
        results.rows,
        STUDY,
        "mgm2021 Figure 3, vertical federated learning",
        "In every iteration both participants release their features of a batch; test features "
        "carry no noise. Adjacency: one record is replaced, and the paper's sensitivity lets all "
        f"features of its batch change. As published, epsilon is that of {_scope(results.rows)}, "
        "amplified by the paper's Theorem 6. At equal true privacy the noise is rescaled until a "
        "bound on the true delta of the whole training at epsilon is delta. The bound composes all "
        "releases without amplification, because local models carry what they learned from a "
        "record into later batches. Gaussian noises of one size on all elements are then the same.",
    )


def _scope(rows: pd.DataFrame) -> str:
    """What a published budget covers, seen from the budgets of single releases."""
    uses = ok_rows(rows, STUDY, "use_epsilon")
    return "every release" if (uses["value"] >= uses["epsilon"]).all() else "the whole training"


@judge(experiments=(STUDY,))
def vertical_order(claim: Claim, results: Results) -> Finding:
    """The order of mechanisms with private features; arguments as in `judge_order`."""
    return judge_order(claim, results.rows, STUDY)
