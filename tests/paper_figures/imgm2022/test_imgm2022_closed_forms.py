"""Verdicts on imgm2022 that closed forms decide, and numbers that would reverse them."""

import numpy as np

from claims.claim import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.imgm2022 import theorems

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "imgm2022"}


def test_the_equality_of_eq_52_and_its_bound_are_two_parts(monkeypatch):
    claim = CLAIMS["imgm-rdp"]
    # If B is at most 1, the expression is below the bound.
    small = theorems.renyi_divergence(**claim.arguments | {"large_epsilon": 4.0})
    assert [p.verdict for p in small.parts] == [CONTRADICTED] * 3 + [CONFIRMED] * 2
    monkeypatch.setattr(theorems, "rdp_bound", lambda orders, mu: 0.999 * orders * mu**2 / 2)
    assert theorems.renyi_divergence(**claim.arguments).verdict == CONTRADICTED


def test_the_bound_of_eq_52_is_above_the_divergence_everywhere():
    orders, mus = np.meshgrid(np.geomspace(1.01, 64, 60), np.geomspace(0.01, 20, 60))
    with np.errstate(over="ignore"):
        assert np.all(theorems.rdp_bound(orders, mus) > orders * mus**2 / 2)


def test_eq_16_holds_but_for_a_logarithm():
    found = theorems.mvg_limit(**CLAIMS["imgm-mvg-limit"].arguments | {"exponent": -2.7})
    assert found.verdict == CONTRADICTED
    # H_r^2 grows as ln^2 r: at r = 8e5 to 2.5e6 by a factor of 10^0.068.
    assert "exponent of mn, square matrices: -2.568" in found.numbers
