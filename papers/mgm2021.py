"""mgm2021 (Yang, Xiang, Li, Zhou, Zhou; IEEE TMC): its queries and budgets."""

from __future__ import annotations

from mechanisms import Budget
from papers.box_query import box_query
from papers.paper_setting import PaperSetting

NO_EPSILON = "the values of epsilon are only in a figure: 1 is used"

SETTINGS = (
    *(
        PaperSetting(
            name=f"mgm2021-{data}",
            where="Table 2",
            query=box_query((m, n), -clip, clip),
            budget=Budget(epsilon=1.0, delta=1e-5),
            choice=NO_EPSILON,
        )
        for data, m, n, clip in (
            ("mnist", 120, 400, 0.01),
            ("cifar10", 4608, 512, 0.05),
            ("imdb", 20_002, 128, 0.3),
            ("adult", 105, 12, 0.015),
        )
    ),
)
