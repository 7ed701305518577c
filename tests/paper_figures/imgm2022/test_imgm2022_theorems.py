"""Verdict on Theorem 2 by made-up rows, a divergence by quadrature, and Algorithm 2."""

import pytest

from mechanisms.privacy.gaussian_profile import mu_for
from paper_figures.imgm2022.branch_functions import algorithm_2
from paper_figures.imgm2022.theorems import renyi_of_gaussian


@pytest.mark.parametrize("alpha", [1.5, 2, 8, 64])
@pytest.mark.parametrize("mu", [1e-3, 0.27, 3.0])
def test_renyi_divergence_of_a_gaussian(alpha, mu):
    # In closed form it is alpha mu^2 / 2.
    assert renyi_of_gaussian(alpha, mu) == pytest.approx(alpha * mu**2 / 2, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "delta", "branch"),
    [(1.0, 0.4, "delta >= delta_0"), (0.1, 0.1, "delta < delta_0"), (1.0, 1e-5, "delta < delta_0")],
)
def test_algorithm_2_takes_either_branch(epsilon, delta, branch):
    found, root = algorithm_2(epsilon, delta)
    assert found == branch
    assert root == pytest.approx(mu_for(epsilon, delta), rel=1e-9)
