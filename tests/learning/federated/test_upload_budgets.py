"""Budgets of repeated uploads: shares, composition, the exact calibration, and what is spent."""

import math

import numpy as np
import pytest

from learning.federated.upload_budgets import calibrated_uploads, joint_profile, spent
from mechanisms import Budget, Unsupported, get_mechanism
from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.finite_profile import WishartProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling import kairouz
from mechanisms.query.box_query import box_query

TOTAL = Budget(epsilon=300.0, delta=1e-5)
QUERIES = [box_query(shape, -0.1, 0.1, adjacency="replace") for shape in ((5, 4), (3, 2))]


def calibrated(key, rounds=7, calibration="exact", total=TOTAL):
    use = kairouz.share(total, rounds * len(QUERIES))
    published = get_mechanism(key).calibrate
    return calibrated_uploads(published, QUERIES, use, rounds, total, calibration)


def test_gaussian_noise_composes_over_layers_and_rounds_by_its_squares():
    made = calibrated("idn", calibration="published")
    # Between opposite corners of both boxes: the change over the noise, element by element.
    squares = sum(
        np.sum((0.2 / m.parameters()["sigma_min"]) ** 2 * np.ones(q.shape))
        for m, q in zip(made, QUERIES, strict=True)
    )
    expected = GaussianProfile(mu=math.sqrt(7 * squares))
    run = spent(made, 7)
    assert run.delta(20.0).upper == pytest.approx(expected.delta(20.0).value, rel=1e-9)
    assert run.epsilon(1e-5).upper == pytest.approx(expected.epsilon(1e-5).value, rel=1e-9)
    # Composition is a bound, so the truth stays within the claimed total.
    assert run.epsilon(1e-5).upper < TOTAL.epsilon


def known(profile):
    """A mechanism with this profile."""
    return type("Known", (), {"profile": lambda: profile})


def test_other_noise_composes_if_all_releases_are_equal():
    laplace = LaplaceProfile(l1_sensitivity=1.0, scale=2.0)
    assert joint_profile([laplace, laplace]) == laplace.compose(2)
    assert joint_profile([laplace, GaussianProfile(mu=1.0)]) is None
    assert joint_profile([laplace, None]) is None
    exact = ComposedProfile(base=laplace, times=3).delta(1.0).value
    assert exact <= spent([known(laplace)], 3).delta(1.0) <= exact * 1.02
    # No bounds are known for a pair that is not symmetric.
    assert spent([known(WishartProfile(kappa=1.0))], 3) is None


@pytest.mark.parametrize("epsilon", [2.0, 100.0])
def test_at_the_exact_calibration_one_factor_makes_the_run_spend_its_budget(epsilon):
    total = Budget(epsilon=epsilon, delta=1e-5)
    made, published = (
        calibrated("udn", calibration=each, total=total) for each in ("exact", "published")
    )
    assert spent(made, 7).delta(epsilon).upper == pytest.approx(1e-5, rel=1e-6)
    factors = [
        math.sqrt(m.expected_loss() / p.expected_loss())
        for m, p in zip(made, published, strict=True)
    ]
    assert factors[0] == pytest.approx(factors[1])
    assert all(m.calibration == "exact" for m in made)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("random-answer", "adds no noise"),
        ("non-private", "the exact total privacy loss is not known"),
        ("r1smg", "the exact total privacy loss is not known"),
        ("laplace", "the exact total privacy loss is not known|has no exact calibration"),
    ],
)
def test_unsupported_exact_calibrations_give_a_reason(key, words):
    with pytest.raises(Unsupported, match=words):
        calibrated(key)
