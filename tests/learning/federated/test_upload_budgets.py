"""Budgets of repeated uploads: shares, composition, the exact calibration, and what is spent."""

import functools
import math

import numpy as np
import pytest

from learning.federated.upload_budgets import Spent, Uploads, joint_profile
from mechanisms import Budget, Unsupported, get_mechanism
from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling import kairouz
from mechanisms.query.box_query import box_query

TOTAL = Budget(epsilon=300.0, delta=1e-5)
QUERIES = [box_query(shape, -0.1, 0.1, adjacency="replace") for shape in ((5, 4), (3, 2))]


def test_uses_share_the_total_by_composition_and_sampling():
    use = Uploads(rounds=10).use_budget(TOTAL, 2)
    assert use == kairouz.share(TOTAL, 20)
    sampled = Uploads(rounds=10, rate=0.2).use_budget(TOTAL, 2)
    assert sampled.epsilon == kairouz.before_sampling(use.epsilon, 0.2)
    assert sampled.delta == use.delta
    assert Uploads(rounds=10, composed=False).use_budget(TOTAL, 2) == TOTAL


def test_gaussian_noise_composes_over_layers_and_rounds_by_its_squares():
    uploads = Uploads(rounds=7)
    made = uploads.calibrate_round(get_mechanism("idn").calibrate, QUERIES, TOTAL, "published")
    # Between opposite corners of both boxes: the change over the noise, element by element.
    squares = sum(
        np.sum((0.2 / m.parameters()["sigma_min"]) ** 2 * np.ones(q.shape))
        for m, q in zip(made, QUERIES, strict=True)
    )
    expected = GaussianProfile(mu=math.sqrt(7 * squares))
    spent = uploads.spent(made)
    assert spent.delta(20.0) == pytest.approx(expected.delta(20.0).value, rel=1e-9)
    assert spent.epsilon(1e-5) == pytest.approx(expected.epsilon(1e-5).value, rel=1e-9)


def test_other_noise_composes_if_all_releases_are_equal():
    laplace = LaplaceProfile(l1_sensitivity=1.0, scale=2.0)
    assert joint_profile([laplace, laplace]) == laplace.compose(2)
    assert joint_profile([laplace, GaussianProfile(mu=1.0)]) is None
    assert joint_profile([laplace, None]) is None
    spent = Spent(round=laplace, uploads=Uploads(rounds=3))
    exact = ComposedProfile(base=laplace, times=3).delta(1.0).value
    assert exact <= spent.delta(1.0) <= exact * 1.02


@pytest.mark.parametrize("key", ["idn", "udn"])
@pytest.mark.parametrize("rate", [1.0, 0.1])
@pytest.mark.parametrize("epsilon", [2.0, 100.0])
def test_at_the_exact_calibration_the_run_spends_its_budget(key, rate, epsilon):
    uploads, total = Uploads(rounds=10, rate=rate), Budget(epsilon=epsilon, delta=1e-5)
    made = uploads.calibrate_round(get_mechanism(key).calibrate, QUERIES, total, "exact")
    published = uploads.calibrate_round(get_mechanism(key).calibrate, QUERIES, total, "published")
    # If samples are secret, the factor is within 1e-3, on the private side.
    assert 0.97e-5 <= uploads.spent(made).delta(epsilon) <= 1e-5 * (1 + 1e-9)
    factors = [
        math.sqrt(m.expected_loss() / p.expected_loss())
        for m, p in zip(made, published, strict=True)
    ]
    assert factors[0] == pytest.approx(factors[1])
    assert all(m.calibration == "exact" for m in made)


def test_nothing_is_amplified_where_uploads_remember_earlier_samples():
    sampled, whole = Uploads(rounds=3, rate=0.1, fresh=False), Uploads(rounds=3)
    for profile in (GaussianProfile(mu=0.5), LaplaceProfile(l1_sensitivity=1.0, scale=2.0)):
        found, expected = (Spent(round=profile, uploads=u) for u in (sampled, whole))
        assert found.delta(1.0) == expected.delta(1.0)
        assert found.epsilon(1e-5) == expected.epsilon(1e-5)
        assert found.scale_factor(1.0, 1e-5) == expected.scale_factor(1.0, 1e-5)
    # The claim is still amplified.
    assert sampled.use_budget(TOTAL, 2) == Uploads(rounds=3, rate=0.1).use_budget(TOTAL, 2)


def test_the_published_claim_holds_for_matrix_gaussian_noise():
    """Composition and Theorem 6 are bounds, so the truth stays within the total."""
    for rate in (1.0, 0.3):
        uploads = Uploads(rounds=10, rate=rate)
        made = uploads.calibrate_round(get_mechanism("idn").calibrate, QUERIES, TOTAL, "published")
        assert uploads.spent(made).epsilon(1e-5) < TOTAL.epsilon


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
        Uploads(rounds=3).calibrate_round(get_mechanism(key).calibrate, QUERIES, TOTAL, "exact")


def test_secret_samples_set_the_scale_where_known_ones_spend_much_more():
    """If the bound for secret samples sets the scale, the reported bound equals the budget."""
    uploads, total = Uploads(rounds=300, rate=0.0625), Budget(epsilon=10.0, delta=1e-5)
    query = [box_query((4, 4), -1.0, 1.0, adjacency="replace")]
    made = uploads.calibrate_round(get_mechanism("idn").calibrate, query, total, "exact")
    assert uploads.spent(made).epsilon(1e-5) == pytest.approx(10.0, rel=0.01)


def test_every_gaussian_noise_spends_one_total_at_the_exact_calibration():
    """The layers have different shares, but their squares always add up to those of the budget."""
    uploads, shares = Uploads(rounds=7), {}
    for name, key, options in (
        ("mvg-sqrt", "mvg", {"zeta": "sqrt"}),
        ("idn", "idn", {}),
        ("gaussian-per-element", "gaussian-per-element", {}),
    ):
        chosen = functools.partial(get_mechanism(key).calibrate, **options)
        made = uploads.calibrate_round(chosen, QUERIES, TOTAL, "exact")
        shares[name] = [mechanism.profile().mu for mechanism in made]
        whole = GaussianProfile(mu=math.sqrt(7) * math.hypot(*shares[name]))
        assert whole.delta(TOTAL.epsilon).value == pytest.approx(TOTAL.delta, rel=1e-5)
    parts = {name: mu[0] / mu[1] for name, mu in shares.items()}
    assert parts["mvg-sqrt"] < 0.9 * parts["idn"]
