"""The epsilons that Table 5 of tldp2025 implies, against formulas derived here."""

import math

import pandas as pd
import pytest

from paper_figures.tldp2025.scores import errors

COUNT = 784


def test_table_5_is_read_with_the_papers_own_noise():
    found = {each.mechanism: each.implied["published"].value for each in errors(pd.DataFrame())}
    # The paper states I sqrt(I) / 2; the Gaussian of Theorem 2 has I sqrt(1 / (2 epsilon)).
    stated = COUNT * math.sqrt(COUNT) / 2
    assert found["Gaussian (Theorem 2)"] == pytest.approx((COUNT / stated) ** 2 / 2, rel=1e-6)
    assert found["Laplace"] == pytest.approx(1, rel=1e-6)
    # MVG with zeta^2 as printed in the paper, and equal precision.
    assert "MVG" not in found
    m = n = 28
    h, halves = (sum(k**-power for k in range(1, m + 1)) for power in (1, 0.5))
    s, gamma = math.sqrt(COUNT), math.sqrt(COUNT)
    log = -math.log(1e-5)
    zeta = math.sqrt(2 * log + 2 * math.sqrt(COUNT * log) + COUNT)
    alpha = (h + halves) * gamma**2 + 2 * h * gamma * s
    beta = 2 * COUNT**0.25 * zeta * h * s

    def error(epsilon):
        bound = (-beta + math.sqrt(beta**2 + 8 * alpha * epsilon)) ** 2 / (4 * alpha**2)
        # P = bound^2 / n is divided among m directions, each with variance 1 / sqrt(P / m).
        return math.sqrt(n * m * math.sqrt(m * n) / bound)

    stated = m * COUNT * math.sqrt(COUNT) * math.log(m + 1) ** 2 / math.sqrt(2)
    assert error(found["MVG (square root)"]) == pytest.approx(stated, rel=1e-3)
