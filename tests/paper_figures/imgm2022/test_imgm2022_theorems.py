"""A divergence by quadrature, Algorithm 2, and the regions of MVG and IMGM."""

import math

import numpy as np
import pytest

from claims.verdicts import CONTRADICTED
from mechanisms import Budget, Query
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.privacy.gaussian_profile import mu_for
from paper_figures.imgm2022 import theorems
from paper_figures.imgm2022.lemmas import algorithm_2
from paper_figures.imgm2022.theorems import larger_region, renyi_of_gaussian


@pytest.mark.parametrize("alpha", [1.5, 2, 8, 64])
@pytest.mark.parametrize("mu", [1e-3, 0.27, 3.0])
def test_renyi_divergence_of_a_gaussian(alpha, mu):
    # The closed form is alpha mu^2 / 2.
    assert renyi_of_gaussian(alpha, mu) == pytest.approx(alpha * mu**2 / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "branch"),
    [(1.0, 0.4, "delta >= delta_0"), (0.1, 0.1, "delta < delta_0"), (1.0, 1e-5, "delta < delta_0")],
)
def test_algorithm_2_takes_either_branch(epsilon, delta, branch):
    root = pytest.approx(mu_for(epsilon, delta), rel=1e-9)
    assert algorithm_2(epsilon, delta) == (branch, root)


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


def test_a_region_that_is_not_larger_contradicts(monkeypatch):
    monkeypatch.setattr(theorems, "precision_bound", lambda *given: 100.0)
    found = larger_region(shapes=[(3, 5)], epsilons=[2.0], deltas=[1e-3])
    assert {part.verdict for part in found.parts} == {CONTRADICTED}
