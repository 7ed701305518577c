"""The proof that MVG's releases are noise, and the component by draws of that noise."""

import math

import numpy as np
import pytest

from claims.verdicts import CONTRADICTED, INCONCLUSIVE, NOT_FOUND
from mechanisms import Budget
from paper_figures.mvg2018.component_draws import EXACT, drawn_directions, drawn_error, over_shares
from paper_figures.mvg2018.first_component import RANDOM_COMPONENT
from paper_figures.mvg2018.noise_alone import distance_of_algorithm_1, noise_alone
from paper_figures.mvg2018.numbers import COVARIANCE, FIRST_COMPONENT, REGRESSION
from paper_figures.mvg2018.theorems import norm_bound, sampling_cost


@pytest.mark.parametrize(
    ("setting", "zeta", "distance"),
    [
        (REGRESSION, "published", 3.0961e-5),
        (REGRESSION, "sqrt", 1.2691e-3),
        (COVARIANCE, "published", 5.5773e-7),
        (COVARIANCE, "sqrt", 1.1940e-4),
    ],
)
def test_distances_of_the_studies(setting, zeta, distance):
    found = distance_of_algorithm_1(setting, zeta)
    assert found == pytest.approx(distance, rel=1e-4)
    # For so small a mu, 2 Phi(mu / 2) - 1 is mu / sqrt(2 pi), mu the largest norm over the noise.
    assert 0 < found * math.sqrt(2 * math.pi) < 0.01


def test_noise_alone_contradicts_usefulness_in_both_identity_queries():
    for query in ("regression", "covariance"):
        assert noise_alone(query=query).verdict == CONTRADICTED


def test_a_larger_epsilon_is_farther_from_no_data():
    from dataclasses import replace

    delta = REGRESSION.budget.delta
    at = [replace(REGRESSION, budget=Budget(epsilon=e, delta=delta)) for e in (1.0, 10.0, 1e9)]
    distances = [distance_of_algorithm_1(setting, "published") for setting in at]
    assert distances == sorted(distances)
    assert distances[-1] > 0.5


def test_the_stored_covariance_is_that_of_the_floor():
    assert np.linalg.eigvalsh(EXACT)[-1] - np.trace(EXACT) / 4 == pytest.approx(
        RANDOM_COMPONENT, abs=1e-7
    )
    assert round(1 / FIRST_COMPONENT.budget.delta) == 2021


@pytest.mark.parametrize(
    ("treatment", "mean"),
    # By 1.5 million draws.
    [("anc1-anc2", 0.4909), ("anc3", 0.4983), ("iid", 0.5010), ("anc0-anc3", 0.5127),
     ("anc0", 0.5239)],
)  # fmt: skip
def test_mean_errors_of_the_component(treatment, mean):
    errors = over_shares(treatment, 10_000)
    assert errors.min() >= 0
    assert errors.mean() == pytest.approx(mean, abs=4 * errors.std() / 100)


def test_the_best_share_is_as_bad_as_a_random_component():
    finding = drawn_error(margin=0.037, draws=5000)
    assert finding.verdict == NOT_FOUND
    assert drawn_error(margin=1e-9, draws=5000).verdict != NOT_FOUND


def test_the_norm_bound_against_the_normal_tail():
    finding = norm_bound(sizes=[1], deltas=[0.1])
    assert finding.verdict == "confirmed"
    zeta = 2 * math.sqrt(math.log(10)) + 2 * math.log(10) + 1
    share = math.erfc(math.sqrt(zeta / 2)) / 0.1
    assert float(finding.numbers.split("at most ")[1].split()[0]) == pytest.approx(share, rel=0.01)


def test_products_never_cost_more_than_the_svds():
    assert sampling_cost(shapes=[(1, 1), (2, 1000), (7, 7)]).verdict == "confirmed"


def test_components_worse_than_a_random_one_have_no_order():
    """Anchors 0 and 3, and anchor 0 alone, are above the error of a random component."""
    found = drawn_directions(others=["anc0", "anc3"], margin=5e-5, draws=40_000)
    assert [part.verdict for part in found.parts] == [INCONCLUSIVE, CONTRADICTED]
    assert "no signal" in found.parts[0].reason
