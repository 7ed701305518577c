"""LLAGP and DPHSGD: budgets that add up, noise computed by hand, and clipping."""

import math

import numpy as np
import pytest

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
)
from mechanisms.catalogue.training.training_time import layer_budgets
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.box_query import box_query

BUDGET = Budget(epsilon=3.0, delta=1e-5)
LAYERS = [40, 25, 10, 5]
BOX = box_query((2, 3), -1, 1)


def dphsgd(thresholds=None, query=BOX):
    return get_mechanism("dphsgd").calibrate(query, BUDGET, thresholds=thresholds)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_budgets_of_layers_add_up_and_fall_with_depth(count):
    budgets = layer_budgets(count, BUDGET)
    epsilons = np.array([b.epsilon for b in budgets])
    assert epsilons.sum() == pytest.approx(3.0, rel=1e-12)
    assert sum(b.delta for b in budgets) == pytest.approx(1e-5, rel=1e-12)
    assert (np.diff(epsilons) < 0).all()
    # count : count - 1 : ... : 1
    assert epsilons / epsilons[-1] == pytest.approx(np.arange(count, 0, -1))


def test_every_layer_has_the_noise_of_its_own_budget():
    query = box_query((1, sum(LAYERS)), -0.5, 0.5)
    mechanism = get_mechanism("llagp").calibrate(query, BUDGET, layers=LAYERS)
    by_layer = np.split(mechanism.noise.column_std, np.cumsum(LAYERS)[:-1])
    epsilons = np.array([4, 3, 2, 1]) * 0.3
    for own, size, epsilon in zip(by_layer, LAYERS, epsilons, strict=True):
        sigma = math.sqrt(size) / mu_for(epsilon, 1e-5 / 4)
        assert own == pytest.approx(np.full(size, sigma), rel=1e-12)
    # Gaussian profiles compose by mu^2 = sum of mu_l^2.
    mu = np.linalg.norm([mu_for(epsilon, 1e-5 / 4) for epsilon in epsilons])
    assert mechanism.profile().mu == pytest.approx(mu, rel=1e-9)


def test_without_layers_or_thresholds_both_are_the_analytic_gaussian():
    query = box_query((2, 3), -1.0, 1.0)
    plain = get_mechanism("gaussian-analytic").calibrate(query, BUDGET)
    for key in ("llagp", "dphsgd"):
        found = get_mechanism(key).calibrate(query, BUDGET)
        assert found.parameters()["sigma"] == pytest.approx(plain.parameters()["sigma"], rel=1e-12)


def test_elements_are_clipped_to_their_part_before_the_noise():
    thresholds = [[0.2, 1.0, 0.5], [0.1, 0.0, 1.0]]
    mechanism = dphsgd(thresholds)
    value = np.array([[0.9, 0.9, -0.9], [-0.9, 0.9, -0.3]])
    rng, same = (np.random.default_rng(4) for _ in range(2))
    noise = mechanism.sample(same, 1)[0]
    clipped = [[0.2, 0.9, -0.5], [-0.1, 0.0, -0.3]]
    assert mechanism.release(value, rng) == pytest.approx(clipped + noise)
    # sigma is proportional to the norm of the ranges, so a smaller range means less noise.
    ratio = mechanism.parameters()["sigma"] / dphsgd().parameters()["sigma"]
    assert ratio == pytest.approx(np.linalg.norm(thresholds) / math.sqrt(6), rel=1e-12)
    assert mechanism.release(value.astype(np.float32), rng).dtype == np.float32


def test_the_ends_of_the_ranges_attain_the_sensitivity_after_clipping():
    mechanism = dphsgd([[0.2, 1.0, 0.5], [0.1, 0.0, 1.0]])
    ends = [
        mechanism.release(np.full((2, 3), end), np.random.default_rng(0)) for end in (-1.0, 1.0)
    ]
    change = np.linalg.norm(ends[1] - ends[0])
    assert change == pytest.approx(mechanism.clipped_query.l2_sensitivity, rel=1e-12)
    mu = change / mechanism.parameters()["sigma"]
    assert mechanism.profile().mu == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("width", [0.1, 1.0, 100.0])
def test_a_clipped_query_has_sensitivities_that_fit_together(width):
    query = Query(
        shape=(3, 5),
        l2_sensitivity=1.0 if width > 0.1 else 0.1,
        element_range=(0.0, width),
        adjacency="replace",
    )
    for thresholds in (np.full((3, 5), 0.3), np.linspace(0, 1, 15).reshape(3, 5)):
        clipped = dphsgd(thresholds, query=query).clipped_query
        assert clipped.linf_sensitivity <= clipped.l2_sensitivity <= query.l2_sensitivity
