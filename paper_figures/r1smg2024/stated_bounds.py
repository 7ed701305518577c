"""The lower bounds on the expected loss that r1smg2024 states: constants times s^2.

Apart from numbers.py, which cells read: these need the formulas of two mechanisms, and an edit
there should rerun no cell of another mechanism.
"""

import math

import scipy

from mechanisms.catalogue.mvg import harmonic
from mechanisms.catalogue.r1smg import log_psi


def stated_constant(
    mechanism: str, m: int, n: int, epsilon: float, delta: float
) -> tuple[str, float]:
    """Name and value of C_C, C_A, C_M (Theorem 4) or C_R (Theorem 7) for an m x n query.

    The paper states C s^2, with s the l2 sensitivity, as a lower bound on the expected loss.

    Raises:
        KeyError: The paper states no constant for the mechanism.
    """
    size, r = m * n, min(m, n)
    if mechanism == "gaussian":
        return "C_C", 2 * math.log(1.25 / delta) / epsilon**2 * size
    if mechanism == "gaussian-analytic":
        return "C_A", (scipy.special.ndtri(delta) ** 2 + epsilon) / epsilon**2 * size
    if mechanism == "mvg":
        return "C_M", (1.25 * harmonic(r) + 0.25 * harmonic(r, 0.5)) / (2 * epsilon) * size
    if mechanism == "r1smg":
        return "C_R", 2 / epsilon * math.exp(-log_psi(size, delta))
    raise KeyError(mechanism)
