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
def test_the_bound_of_theorem_3_by_two_formulas(setting):
    ours = theorems.theorem_3_bound(setting)
    assert ours == pytest.approx(precision_bound(setting.query, setting.budget, "published"))
    assert np.isfinite(ours) and ours > 0
