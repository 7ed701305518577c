"""The sampled audit against pairs whose delta is known in closed form.

Coverage is tested exactly if outcomes can be enumerated, and otherwise over many seeded runs.
"""

import dataclasses
import math

import numpy as np
import pytest
from known_losses import (
    gaussian_delta,
    gaussian_losses,
    laplace_losses,
    randomised_response_losses,
)
from scipy.stats import norm

from mechanisms.check.audit_statistics import (
    DirectedAudit,
    Interval,
    familywise_confidence,
)
from mechanisms.verification import sampled_audit as audit
from mechanisms.verification.sampled_audit import audit_losses
from tests.peak_memory import peak_of

MU_CALIBRATED = 0.2680511246  # analytic Gaussian at epsilon 1, delta 1e-5


# --- audits by losses ----------------------------------------------------------------------------


@pytest.mark.parametrize(("mu", "epsilon", "samples"), [(1.0, 0.5, 300), (0.8, 2.0, 1000)])
def test_null_is_covered(mu, epsilon, samples):
    """In 120 audits at 95%, no kind of bound errs in more than 5% of the runs."""
    delta = gaussian_delta(mu, epsilon)
    # Test the epsilon bounds at a delta below and one above the pair's own.
    small, large = gaussian_delta(mu, epsilon + 0.3), gaussian_delta(mu, epsilon - 0.3)
    runs = [
        audit_losses(gaussian_losses(mu), epsilon, samples=samples, seed=seed, confidence=0.95)
        for seed in range(120)
    ]
    directions = [d for run in runs for d in (run.forward, run.reverse)]
    for interval in ([d.two_sample for d in directions], [d.one_sample for d in directions]):
        lower, upper = np.array([(i.lower, i.upper) for i in interval]).T
        assert np.mean(lower > delta) <= 0.05 and np.mean(upper < delta) <= 0.05
        assert upper.min() < 1 and upper.mean() < 0.8
    assert sum(run.refutes(delta) for run in runs if run.consistent) <= 6
    assert sum(not run.delta_lower <= delta <= run.delta_upper for run in runs) <= 6
    assert sum(run.epsilon_lower_bound(delta) > epsilon for run in runs) <= 6
    assert sum(run.epsilon_lower_bound(small) > epsilon + 0.3 for run in runs) <= 6
    assert sum(run.epsilon_lower_bound(large) > epsilon - 0.3 for run in runs) <= 6


def test_calibrated_gaussian_is_not_refuted_and_bounded_from_both_sides():
    run = audit_losses(gaussian_losses(MU_CALIBRATED), 1.0, samples=1_000_000, seed=1)
    assert not run.refutes(1e-5)
    assert 0.5e-5 < run.delta_lower < 1e-5 < run.delta_upper < 3e-5
    assert 0.95 < run.epsilon_lower_bound(1e-5) < 1.0


def test_planted_violation_is_detected():
    """At 0.8 sigma and epsilon 1, delta is 2.2e-4, not 1e-5; 10,000 samples show it at 99.9%."""
    draw = gaussian_losses(MU_CALIBRATED / 0.8)
    runs = [audit_losses(draw, 1.0, samples=10_000, seed=seed) for seed in range(60)]
    assert sum(run.refutes(1e-5) for run in runs) >= 57
    assert all(run.epsilon_lower_bound(1e-5) > 1 for run in runs if run.refutes(1e-5))
    # Counting alone finds nothing with 100 times as many samples.
    run = audit_losses(draw, 1.0, samples=1_000_000, seed=0)
    assert max(run.forward.two_sample.lower, run.reverse.two_sample.lower) < 1e-5


def test_directions_of_an_asymmetric_pair():
    """Half N(0, 1), half N(1, 1) against N(0, 1): both deltas in closed form."""
    epsilon = 0.3

    def draw(rng, n, reverse):
        x = rng.standard_normal(n) + (0 if reverse else rng.random(n) < 0.5)
        return np.log(0.5 + 0.5 * np.exp(x - 0.5))

    def mixture_tail(x):
        return 0.5 * norm.sf(x) + 0.5 * norm.sf(x - 1)

    above = math.log(2 * math.exp(epsilon) - 1) + 0.5  # where the loss is epsilon
    below = math.log(2 * math.exp(-epsilon) - 1) + 0.5  # where the loss is -epsilon
    forward = mixture_tail(above) - math.exp(epsilon) * norm.sf(above)
    reverse = norm.cdf(below) - math.exp(epsilon) * (1 - mixture_tail(below))
    run = audit_losses(draw, epsilon, samples=400_000, seed=2)
    for direction, delta in ((run.forward, forward), (run.reverse, reverse)):
        for interval in (direction.two_sample, direction.one_sample):
            assert interval.lower < delta < interval.upper
    assert run.forward.delta.lower > run.reverse.delta.upper
    assert run.delta_lower == run.forward.delta.lower
    assert run.delta_upper == run.forward.delta.upper


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 50.0])
def test_atoms(epsilon):
    """A value kept with probability 0.3 is recognised at any epsilon, so delta is 0.3."""
    run = audit_losses(randomised_response_losses(0.3), epsilon, samples=100_000, seed=1)
    for direction in (run.forward, run.reverse):
        assert direction.hits_b == 0
        assert 0.29 < direction.one_sample.lower < 0.3 < direction.one_sample.upper < 0.31
        assert direction.two_sample.lower < 0.3 < direction.two_sample.upper < 0.31
    assert run.refutes(0.29) and not run.refutes(0.3)


@pytest.mark.parametrize("samples", [1, 1000])
def test_disjoint_supports(samples):
    run = audit_losses(randomised_response_losses(1.0), 1.0, samples=samples, seed=1)
    assert run.forward.hits_a == run.reverse.hits_a == samples
    assert run.delta_upper == 1
    best = 12_000 ** (-1 / samples)  # what Clopper-Pearson gives at a twelfth of 0.001
    assert best**1.5 < run.delta_lower < best * (1 + 1e-9)
    assert run.epsilon_lower_bound(run.delta_lower * 0.999) > 1


@pytest.mark.parametrize("samples", [1, 1000])
def test_equal_distributions(samples):
    run = audit_losses(randomised_response_losses(0.0), 0.0, samples=samples, seed=1)
    assert run.forward.hits_a == run.forward.hits_b == 0
    assert run.delta_lower == 0 and run.epsilon_lower_bound(0.0) == 0
    assert 0 < run.delta_upper < 1 and not run.refutes(0.0)


def test_ties_are_not_in_the_event():
    """Half of the losses of Laplace noise equal epsilon, so (epsilon, 0) holds with equality."""
    epsilon = 0.7
    at = audit_losses(laplace_losses(epsilon), epsilon, samples=100_000, seed=1)
    assert at.forward.hits_a == at.forward.hits_b == at.reverse.hits_a == 0
    assert at.delta_lower == 0 and not at.refutes(0.0)
    below = audit_losses(laplace_losses(epsilon), epsilon - 0.1, samples=100_000, seed=1)
    delta = 1 - math.exp(-0.05)  # of Laplace noise: 1 - e^((eps - s/b) / 2)
    assert below.delta_lower < delta < below.delta_upper < 1.05 * delta
    assert below.refutes(0.0)
    assert 0.65 < below.epsilon_lower_bound(0.0) < epsilon


def test_rounding_of_ties_is_no_violation():
    """The textbook formula for the Laplace loss misses the tie by rounding, half the time above."""
    epsilon = 0.7

    def draw(rng, n, reverse):
        x = rng.laplace(size=n) + (epsilon if reverse else 0.0)
        return np.abs(x - epsilon) - np.abs(x)

    assert np.mean(draw(np.random.default_rng(1), 1000, False) > epsilon) > 0.1
    run = audit_losses(draw, epsilon, samples=100_000, seed=1)
    assert run.delta_lower == 0 and not run.refutes(0.0)
    assert run == audit_losses(laplace_losses(epsilon), epsilon, samples=100_000, seed=1)


@pytest.mark.parametrize("error", [-0.02, 0.02])
def test_bounds_hold_for_losses_within_the_stated_rounding(monkeypatch, error):
    """Tested without an allowance, and with one so large that its effect shows."""
    delta = gaussian_delta(1.0, 1.0)

    def draw(rng, n, reverse):
        return gaussian_losses(1.0)(rng, n, reverse) + error

    wrong = audit_losses(draw, 1.0, samples=1_000_000, seed=1).forward.one_sample
    assert wrong.upper < delta if error < 0 else wrong.lower > delta
    monkeypatch.setattr(audit, "LOSS_ROUNDING", abs(error))
    run = audit_losses(draw, 1.0, samples=1_000_000, seed=1)
    for direction in (run.forward, run.reverse):
        for interval in (direction.two_sample, direction.one_sample):
            assert interval.lower < delta < interval.upper


@pytest.mark.parametrize("delta", [0.0, 0.01, 0.05, 0.15])
def test_epsilon_lower_bound_is_the_least_over_the_intervals(delta):
    """It is the least x with A(E) - e^x B(E) = delta over all A(E), B(E) within the bounds."""
    found = DirectedAudit(
        epsilon=1.0,
        event="E",
        trials=100,
        hits_a=0,
        hits_b=0,
        probability_a=Interval(0.3, 0.4),
        probability_b=Interval(0.05, 0.12),
        two_sample=Interval(0.0, 1.0),
        one_sample=Interval(0.1, 0.3),
    )
    a = np.linspace(0.3, 0.4, 101)
    by_counts = np.log((a[:, None] - delta) / np.linspace(0.05, 0.12, 101)).min()
    b_from_mean = np.exp(-1.0) * (a - 0.1)  # the largest B(E) that the mean allows
    by_mean = np.log((a - delta) / b_from_mean).min()
    assert found.epsilon_lower_bound(delta) == pytest.approx(max(by_counts, by_mean), rel=1e-12)


def test_draws_that_do_not_belong_to_the_losses_are_noticed():
    def draw(rng, n, reverse):
        return rng.normal(0.5, 1.0, n)  # x ~ P in both directions

    run = audit_losses(draw, 1.0, samples=10_000, seed=1)
    assert not run.consistent and run.to_dict(0.1)["refuted"] is None
    # Bounds that meet leave one possible delta: here the upper bound of the counts is zero too.
    zero = DirectedAudit.from_hits(
        epsilon=1.0,
        event="E",
        trials=100,
        hits=(0, 100),
        tail=0.01,
        one_sample=Interval(0.0, 0.1),
    )
    assert zero.delta == Interval(0.0, 0.0)
    assert dataclasses.replace(run, forward=zero, reverse=zero).consistent
    with pytest.raises(ValueError, match="contradict"):
        run.refutes(0.1)


# --- sampling ------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_samples():
    peaks = [
        peak_of(audit_losses, gaussian_losses(1.0), 1.0, samples=samples, seed=1)[1]
        for samples in (200_000, 1_000_000)
    ]
    assert peaks[1] < 1.05 * peaks[0]
    assert peaks[1] < 8_000_000  # a million float64


# --- results and arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(("confidence", "count", "wrong"), [(0.999, 1, 1e-3), (0.95, 100, 5e-4)])
def test_familywise_confidence(confidence, count, wrong):
    assert 1 - familywise_confidence(confidence, count) == pytest.approx(wrong)


def test_nan_and_shapes_are_errors():
    def one_nan(rng, n, reverse):
        return np.where(np.arange(n) == 5, np.nan, 0.0)

    with pytest.raises(ValueError, match="NaN, got 1 among 100"):
        audit_losses(one_nan, 1.0, samples=100, seed=1)
    with pytest.raises(ValueError, match="shape"):
        audit_losses(lambda rng, n, reverse: np.zeros((n, 1)), 1.0, samples=100, seed=1)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"epsilon": -1.0}, ValueError, "epsilon"),
        ({"epsilon": math.inf}, ValueError, "epsilon"),
        ({"samples": 0}, ValueError, "samples"),
        ({"samples": 1e6}, TypeError, "samples"),
        ({"seed": -1}, ValueError, "seed"),
        ({"seed": None}, TypeError, "seed"),
        ({"confidence": 1.0}, ValueError, "confidence"),
        ({"confidence": 0.0}, ValueError, "confidence"),
    ],
)
def test_bad_arguments(arguments, error, message):
    good = {"epsilon": 1.0, "samples": 10, "seed": 1}
    with pytest.raises(error, match=message):
        audit_losses(gaussian_losses(1.0), **good | arguments)
