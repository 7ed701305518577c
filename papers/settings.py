"""The settings at which the papers use their mechanisms, with the papers' own numbers.

Where a paper leaves a number open, the choice made here is said in `choice`. Sensitivities are the
papers'; the largest norm of a record follows from its features lying in [-1, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechanisms import Budget, Query


@dataclass(frozen=True, kw_only=True)
class PaperSetting:
    """One query and budget of a paper.

    Args:
        name: "<paper>-<study>".
        where: Place in the paper.
        query, budget: As the paper states them.
        choice: What the paper leaves open and how it is filled here; empty where nothing is.
    """

    name: str
    where: str
    query: Query
    budget: Budget
    choice: str = ""


def scaled_records(features: int, records: int) -> Query:
    """X in [-1, 1]^{features x records}; one record, a column, is replaced (mvg2018)."""
    return Query(
        shape=(features, records),
        l2_sensitivity=2 * math.sqrt(features),
        l1_sensitivity=2.0 * features,
        element_range=(-1.0, 1.0),
        frobenius_bound=math.sqrt(features * records),
        adjacency="replace",
        structure="records",
        record_bound=math.sqrt(features),
    )


def record_covariance(features: int, records: int) -> Query:
    """X X^T / N of N records, columns of X in [-1, 1]^features; one is replaced (mvg2018).

    The sensitivities are those of all records x with ||x||^2 <= features, a ball that holds the
    box: an element changes by at most features / N. The l2 sensitivity is the paper's,
    2 features / N; the least one is `Query.gram_change`, sqrt(2) features / N, which opposite signs
    in half of the features attain in the box.
    """
    bound = math.sqrt(features / records)
    return Query(
        shape=(features, features),
        l2_sensitivity=2 * features / records,
        l1_sensitivity=2 * features**2 / records,
        linf_sensitivity=bound**2,
        element_range=(-1.0, 1.0),
        frobenius_bound=float(features),
        adjacency="replace",
        structure="gram",
        record_bound=bound,
    )


def _clipped_matrix(m: int, n: int, clip: float) -> Query:
    """A matrix with elements in [-clip, clip], any of which may change."""
    return Query(
        shape=(m, n),
        l2_sensitivity=2 * clip * math.sqrt(m * n),
        l1_sensitivity=2 * clip * m * n,
        element_range=(-clip, clip),
        frobenius_bound=clip * math.sqrt(m * n),
        adjacency="local",
    )


_COUNT = Query(
    shape=(89, 89),
    l2_sensitivity=math.sqrt(2),
    l1_sensitivity=2.0,
    linf_sensitivity=1.0,
    frobenius_bound=52_692.0,
    adjacency="replace",
)
_SWARM = Query(
    shape=(2400, 2400),
    l2_sensitivity=2400 * math.sqrt(2) / 24016,
    frobenius_bound=2400.0,
    adjacency="replace",
    structure="gram",
    record_bound=math.sqrt(2400 / 24016),
)
_GRADIENT = Query(shape=(26_010,), l2_sensitivity=1.0, adjacency="add-remove")
_NO_GAMMA = "gamma is not stated: "
_NO_EPSILON = "the values of epsilon are only in a figure: 1 is used"

PAPER_SETTINGS = (
    PaperSetting(
        name="mvg2018-regression",
        where="Section 7.1, Liver Disorders",
        query=scaled_records(6, 248),
        budget=Budget(epsilon=1.0, delta=1 / 248),
        choice=_NO_GAMMA + "sqrt(6 x 248), its largest value on [-1, 1]",
    ),
    PaperSetting(
        name="mvg2018-component",
        where="Section 7.2, Movement",
        query=record_covariance(4, 2021),
        budget=Budget(epsilon=1.0, delta=1 / 2021),
        choice=_NO_GAMMA + "4, its largest value on [-1, 1]; the stated sensitivity, 2 m / N, is "
        "sqrt(2) times what one record changes",
    ),
    PaperSetting(
        name="mvg2018-covariance",
        where="Section 7.3, Cardiotocography",
        query=scaled_records(21, 2126),
        budget=Budget(epsilon=1.0, delta=1 / 2126),
        choice=_NO_GAMMA + "sqrt(21 x 2126), its largest value on [-1, 1]",
    ),
    *(
        PaperSetting(
            name=f"mgm2021-{data}",
            where="Table 2",
            query=_clipped_matrix(m, n, clip),
            budget=Budget(epsilon=1.0, delta=1e-5),
            choice=_NO_EPSILON,
        )
        for data, m, n, clip in (
            ("mnist", 120, 400, 0.01),
            ("cifar10", 4608, 512, 0.05),
            ("imdb", 20_002, 128, 0.3),
            ("adult", 105, 12, 0.015),
        )
    ),
    PaperSetting(
        name="imgm2022-features",
        where="Section 5, Table 1, MNIST features",
        query=_clipped_matrix(256, 400, 1.0),
        budget=Budget(epsilon=1.0, delta=1e-5),
        choice=_NO_EPSILON + "; the sensitivity is that of tanh features, 2 sqrt(mn)",
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-count-{epsilon:g}",
            where="Section 7.1, Figures 4 and 5",
            query=_COUNT,
            budget=Budget(epsilon=epsilon, delta=1e-7),
            choice=_NO_GAMMA + "52,692, the pickups of the window",
        )
        for epsilon in (0.5, 1e-5)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-pca-{epsilon:g}",
            where="Section 7.2, Figure 6",
            query=_SWARM,
            budget=Budget(epsilon=epsilon, delta=1e-7),
            choice=_NO_GAMMA + "2400, its largest value on [-1, 1]",
        )
        for epsilon in (1.6, 1.6e-7)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-sgd-{epsilon:g}",
            where="Section 7.3, one step, eq. (16)",
            query=_GRADIENT,
            budget=Budget(epsilon=epsilon, delta=3.33e-7),
        )
        for epsilon in (0.71, 5.42)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-figure9-{side * side}",
            where="Appendix B, Figure 9",
            query=Query(shape=(side, side), l2_sensitivity=1.0),
            budget=Budget(epsilon=1e-7, delta=1e-10),
        )
        for side in (10, 1000)
    ),
    PaperSetting(
        name="tldp2025-mnist",
        where="Section 6, type I, MNIST",
        query=Query(
            shape=(28, 28),
            l2_sensitivity=28.0,
            l1_sensitivity=784.0,
            element_range=(0.0, 1.0),
            frobenius_bound=28.0,
            adjacency="local",
        ),
        budget=Budget(epsilon=1.0),
        choice="one value of epsilon out of the figure's grid",
    ),
)
