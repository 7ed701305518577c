"""r1smg2024 (Ji, Li; USENIX Security 2024): its queries, budgets and stated constants."""

from __future__ import annotations

import math

from scipy import special

from mechanisms import Budget, Query
from mechanisms.mvg import harmonic
from mechanisms.r1smg import log_psi
from papers.mvg2018 import NO_GAMMA
from papers.paper_setting import PaperSetting


def count_query(pickups: float, shape: tuple[int, int] = (89, 89)) -> Query:
    """The count query under replacement of one pickup (Section 7.1); the total is public.

    Two cells change by one each: l2 sensitivity sqrt(2), l1 sensitivity 2. `pickups` bounds the
    Frobenius norm (all pickups in one cell): gamma for MVG, which the paper does not state.
    """
    return Query(
        shape=shape,
        l2_sensitivity=math.sqrt(2),
        l1_sensitivity=2.0,
        linf_sensitivity=1.0,
        frobenius_bound=float(pickups),
        adjacency="replace",
    )


SWARM = Query(
    shape=(2400, 2400),
    l2_sensitivity=2400 * math.sqrt(2) / 24016,
    frobenius_bound=2400.0,
    adjacency="replace",
    structure="gram",
    record_bound=math.sqrt(2400 / 24016),
)
GRADIENT = Query(shape=(26_010,), l2_sensitivity=1.0, adjacency="add-remove")

SETTINGS = (
    *(
        PaperSetting(
            name=f"r1smg2024-count-{epsilon:g}",
            where="Section 7.1, Figures 4 and 5",
            query=count_query(52_692),
            budget=Budget(epsilon=epsilon, delta=1e-7),
            choice=NO_GAMMA + "52,692, the pickups of the window",
        )
        for epsilon in (0.5, 1e-5)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-pca-{epsilon:g}",
            where="Section 7.2, Figure 6",
            query=SWARM,
            budget=Budget(epsilon=epsilon, delta=1e-7),
            choice=NO_GAMMA + "2400, its largest value on [-1, 1]",
        )
        for epsilon in (1.6, 1.6e-7)
    ),
    *(
        PaperSetting(
            name=f"r1smg2024-sgd-{epsilon:g}",
            where="Section 7.3, one step, eq. (16)",
            query=GRADIENT,
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
)


def stated_constant(
    mechanism: str, m: int, n: int, epsilon: float, delta: float
) -> tuple[str, float]:
    """Name and value of C_C, C_A, C_M (Theorem 4) or C_R (Theorem 7) for an m x n query.

    Raises:
        KeyError: The paper states no constant for this mechanism.
    """
    size, r = m * n, min(m, n)
    if mechanism == "gaussian":
        return "C_C", 2 * math.log(1.25 / delta) / epsilon**2 * size
    if mechanism == "gaussian-analytic":
        return "C_A", (special.ndtri(delta) ** 2 + epsilon) / epsilon**2 * size
    if mechanism == "mvg":
        return "C_M", (1.25 * harmonic(r) + 0.25 * harmonic(r, 0.5)) / (2 * epsilon) * size
    if mechanism == "r1smg":
        return "C_R", 2 / epsilon * math.exp(-log_psi(size, delta))
    raise KeyError(mechanism)
