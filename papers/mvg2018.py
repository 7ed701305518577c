"""mvg2018 (Chanyaswad, Dytso, Poor, Mittal; CCS 2018): its queries and budgets."""

from __future__ import annotations

import math

from mechanisms import Budget, Query
from papers.paper_setting import PaperSetting

NO_GAMMA = "gamma is not stated: "


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


SETTINGS = (
    PaperSetting(
        name="mvg2018-regression",
        where="Section 7.1, Liver Disorders",
        query=scaled_records(6, 248),
        budget=Budget(epsilon=1.0, delta=1 / 248),
        choice=NO_GAMMA + "sqrt(6 x 248), its largest value on [-1, 1]",
    ),
    PaperSetting(
        name="mvg2018-component",
        where="Section 7.2, Movement",
        query=record_covariance(4, 2021),
        budget=Budget(epsilon=1.0, delta=1 / 2021),
        choice=NO_GAMMA + "4, its largest value on [-1, 1]; the stated sensitivity, 2 m / N, is "
        "sqrt(2) times what one record changes",
    ),
    PaperSetting(
        name="mvg2018-covariance",
        where="Section 7.3, Cardiotocography",
        query=scaled_records(21, 2126),
        budget=Budget(epsilon=1.0, delta=1 / 2126),
        choice=NO_GAMMA + "sqrt(21 x 2126), its largest value on [-1, 1]",
    ),
)
