"""The verdict on the precision budgets of mvg2018 changes if noise spends too much."""

from dataclasses import replace

import numpy as np
import pytest

from claims.claim import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED, PARTLY
from mechanisms.catalogue.mvg import precision_bound
from paper_figures.mvg2018 import theorems
from papers.mvg2018 import SETTINGS

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "mvg2018"}


@pytest.mark.parametrize(
    ("mode", "factor", "expected"),
    [
        (None, 1.0, CONFIRMED),
        ("unimodal", 0.999, PARTLY),
        ("equimodal", 0.999, PARTLY),
        (("unimodal", "equimodal"), 1.001, CONTRADICTED),
    ],
)
def test_the_budget_is_spent_to_the_last(mode, factor, expected, monkeypatch):
    calibrated = theorems.calibrated

    def louder(key, query, budget, **options):
        mechanism = calibrated(key, query, budget, **options)
        wrong = mode is not None and options["mode"] in mode
        noise = mechanism.noise
        noise = replace(noise, row_std=noise.row_std * (factor if wrong else 1.0))
        return replace(mechanism, noise=noise)

    monkeypatch.setattr(theorems, "calibrated", louder)
    given = CLAIMS["mvg-budgets"].arguments | {"draws": 3}
    assert theorems.precision_budgets(**given).verdict == expected


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_the_bound_of_theorem_3_as_it_is_printed(setting):
    query = setting.query
    (m, n), s, gamma = query.shape, query.l2_sensitivity, query.frobenius_bound
    orders, log = np.arange(1, min(m, n) + 1), np.log(setting.budget.delta)
    harmonic = np.sum(1 / orders)
    alpha = (harmonic + np.sum(orders**-0.5)) * gamma**2 + 2 * harmonic * gamma * s
    beta = 2 * (m * n) ** 0.25 * harmonic * s * (2 * np.sqrt(-m * n * log) - 2 * log + m * n)
    # The difference cancels, so it needs extended precision.
    alpha, beta = np.longdouble(alpha), np.longdouble(beta)
    root = np.sqrt(beta**2 + 8 * alpha * setting.budget.epsilon)
    printed = float((-beta + root) ** 2 / (4 * alpha**2))
    assert precision_bound(query, setting.budget, "published") == pytest.approx(printed)
