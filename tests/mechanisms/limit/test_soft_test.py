"""Soft tests: an independent integration over the sphere, known limits, and what is refused."""

import math

import numpy as np
import pytest

from mechanisms import Budget, Query, get_mechanism
from mechanisms.limit import soft_search
from mechanisms.limit.pure import PureLimit
from mechanisms.limit.soft_search import soft_test
from mechanisms.limit.soft_test import SoftTest


def value(test: SoftTest, r: float, angles: int = 10_000) -> float:
    """r^2 + sum_j g_j(r) by the midpoint rule over the angle between y and e."""
    angle = (np.arange(angles) + 0.5) * math.pi / angles
    share = np.sin(angle) ** (test.dimension - 2)
    share /= share.sum()
    total = r * r
    for s, weights in zip(test.distances, test.weights, strict=True):
        along, across = r * np.cos(angle), r * np.sin(angle)
        for at, factor in ((along, 1.0), (along + s, -math.exp(test.epsilon))):
            norm = np.hypot(at, across)
            gap = 1 + (norm - np.hypot(at - s, across)) / s
            cell = np.searchsorted(test.gaps, gap, "right") - 1
            for k, at_nodes in enumerate(weights):
                w = np.where(cell == k, np.interp(norm**2, test.radii**2, at_nodes), 0.0)
                total += factor * float(share @ w)
    return total


def random_test(dimension: int, epsilon: float, seed: int) -> SoftTest:
    """Weights at random at two distances."""
    radii, rng = np.linspace(0.0, 3.0, 7), np.random.default_rng(seed)
    weights = rng.uniform(0, 2, (2, 3, 7)) * (radii < 3)
    return SoftTest(
        dimension=dimension,
        epsilon=epsilon,
        distances=np.array([1.0, 0.5]),
        radii=radii,
        gaps=np.array([0.0, 0.1, 0.4, 1.0]),
        weights=weights,
    )


@pytest.mark.slow
@pytest.mark.parametrize(("dimension", "epsilon"), [(2, 1.0), (3, 0.3), (5, 1.5)])
def test_the_bound_of_any_weights_is_just_below_the_integrals(dimension, epsilon):
    for seed in range(2):
        test = random_test(dimension, epsilon, seed)
        least = min(value(test, r) for r in np.linspace(0.001, 4.1, 300))
        bound = test.lower(0.0)
        assert least - 4e-3 <= bound <= least + 3e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dimension", "epsilon", "delta", "share"),
    [(2, 1.0, 1e-10, 0.99), (3, 2.0, 1e-10, 0.99), (2, 5.0, 1e-10, 0.98), (5, 5.0, 1e-10, 0.98)],
)
def test_at_a_tiny_delta_the_limit_of_pure_privacy_is_nearly_reached(
    dimension, epsilon, delta, share
):
    test = soft_test(dimension, epsilon, delta)
    bound, pure = test.lower(delta), PureLimit(dimension, epsilon).lower(0.0)
    assert share * pure <= bound <= pure
    rng, whole = np.random.default_rng(1), test.lower(0.0)
    for r in rng.uniform(0.01, 2.5, 6):
        assert value(test, r) >= whole - 5e-3 * pure


def test_the_radii_of_every_budget_rise():
    """At this one 25 steps are, in floats, a little less than where the next radii begin."""
    epsilon, delta = 1.5209715839249383, 8.910817052657114e-05
    beside = soft_test(3, 1.521, delta).lower(delta)
    assert soft_test(3, epsilon, delta).lower(delta) == pytest.approx(beside, rel=0.01)


def test_a_programme_that_takes_too_many_steps_counts_as_failed(monkeypatch):
    assert soft_test(2, 0.5, 1e-5).weights.any()
    monkeypatch.setattr(soft_search, "_STEPS", 5)
    assert not soft_test(2, 0.5, 1e-5).weights.any()


def test_no_mechanism_with_an_exact_profile_is_below_a_soft_test():
    """One test bounds the error at every delta."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        size, epsilon = int(rng.integers(2, 7)), float(rng.uniform(1.5, 6))
        near, query = float(10 ** rng.uniform(-12, -3)), Query(shape=(size,), l2_sensitivity=1.0)
        test, ratios = soft_test(size, epsilon, near), []
        for delta in near * np.array([0.3, 1.0, 10.0]):
            budget = Budget(epsilon=epsilon, delta=float(delta))
            for key in ("l2", "spherical-gamma"):
                error = get_mechanism(key).calibrate(query, budget, "exact").expected_loss()
                ratios.append(test.lower(float(delta)) / error)
                assert ratios[-1] <= 1, (key, size, epsilon, delta)
        assert max(ratios) > 0.6, (size, epsilon, near)


def test_what_is_no_soft_test_is_refused():
    good = random_test(3, 1.0, 0)
    given = {name: getattr(good, name) for name in good.__dataclass_fields__}
    for changes, words in (
        ({"radii": good.radii + 1}, "increase from 0"),
        ({"gaps": good.gaps * 2}, "gaps at most 1"),
        ({"distances": np.array([1.0, 0.7])}, "distances"),
        ({"weights": -good.weights}, "at least 0"),
        ({"weights": good.weights + 1}, "0 at the last node"),
        ({"weights": good.weights[:1]}, "weights"),
        ({"dimension": 1}, "M >= 2"),
    ):
        with pytest.raises(ValueError, match=words):
            SoftTest(**given | changes)
