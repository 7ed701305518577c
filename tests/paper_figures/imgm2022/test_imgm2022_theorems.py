"""Algorithm 2, MVG's and IMGM's regions; and reversed verdicts."""

import math

import numpy as np
import pytest

from claims.claim import all_claims
from claims.verdicts import CONFIRMED, CONTRADICTED
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from paper_figures.imgm2022 import theorems
from paper_figures.imgm2022.theorems import algorithm_2
from papers.imgm2022 import RECORDS

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "imgm2022"}


@pytest.mark.parametrize(
    ("epsilon", "delta", "branch"),
    [(1.0, 0.4, "delta >= delta_0"), (0.1, 0.1, "delta < delta_0"), (1.0, 1e-5, "delta < delta_0")],
)
def test_algorithm_2_takes_either_branch(epsilon, delta, branch):
    root = pytest.approx(mu_for(epsilon, delta), rel=1e-9)
    assert algorithm_2(epsilon, delta) == (branch, root)


def test_what_the_ledger_says_of_an_epsilon_of_1_where_every_record_is_released():
    rate = 256 / RECORDS["mnist"]
    profile = GaussianProfile(mu=float(mu_for(1 / rate, 1e-5 / rate)))
    assert profile.epsilon(1e-5).value == pytest.approx(240, abs=0.5)


@pytest.mark.parametrize("zeta", ["published", "sqrt"])
def test_covariances_at_the_edge_of_mvgs_region_meet_imgms_condition_with_room(zeta):
    """Random pairs, scaled until MVG's theorem holds with equality; gamma is s / 2."""
    rng, budget = np.random.default_rng(3), Budget(epsilon=2.0, delta=1e-3)
    query = Query(shape=(3, 5), l2_sensitivity=1.0, frobenius_bound=0.5)
    allowed = precision_bound(query, budget, zeta)
    for _ in range(50):
        inverses = [np.exp(rng.normal(0, 2, size)) for size in query.shape]
        inverses[0] *= allowed / np.prod([np.linalg.norm(each) for each in inverses])
        least = np.prod([1 / math.sqrt(each.max()) for each in inverses])
        assert mu_for(budget.epsilon, budget.delta) * least > 1


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
