"""One-run audits: values that others published, exact small cases, and how often they err."""

import numpy as np
import pytest
from roc_corners import best_at_corners, guesses_at_corners
from scipy import special, stats

from learning.training.one_run_audit import Guesses, epsilon_by_count, p_value
from mechanisms.privacy.gaussian_profile import GaussianProfile

# The quantiles of 10,000 normal scores.
QUANTILES = special.ndtri((np.arange(10_000) + 0.5) / 10_000)


@pytest.mark.parametrize(("shift", "published"), [(1.0, 1.13346), (2.0, 2.311945), (4.0, 4.395568)])
def test_jax_privacy_finds_the_same(shift, published):
    """google-deepmind/jax_privacy 2.2.0, tests/auditing_test.py: test_epsilon_one_run_close.

    10,000 canaries are in and 10,000 are not, delta = 1e-6, an error of 0.05 for all thresholds.
    """
    found = best_at_corners(QUANTILES + shift, QUANTILES, 1e-6, 0.05)
    assert found == pytest.approx(published, rel=1e-5)
    assert found < GaussianProfile(mu=shift).epsilon(1e-6).value


def test_equal_scores_show_nothing():
    assert len(guesses_at_corners(QUANTILES, QUANTILES)) == 2
    assert best_at_corners(QUANTILES, QUANTILES, 1e-6, 0.05) == 0


@pytest.mark.parametrize(("correct", "guesses"), [(0, 0), (3, 5), (17, 20), (20, 20)])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_p_values_by_their_definition(correct, guesses, epsilon, delta):
    canaries = 50
    binomial = stats.binom(guesses, special.expit(epsilon))
    tail = sum(binomial.pmf(k) for k in range(correct, guesses + 1))
    worst = max(
        (
            sum(binomial.pmf(k) for k in range(correct - i, correct)) / i
            for i in range(1, correct + 1)
        ),
        default=0.0,
    )
    expected = min(1.0, tail + 2 * canaries * delta * worst)
    found = p_value(Guesses(canaries=canaries, guesses=guesses, correct=correct), epsilon, delta)
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_bound_ends_where_its_p_value_is_the_error():
    found = Guesses(canaries=1000, guesses=100, correct=90)
    epsilon = epsilon_by_count(found, 1e-5, 0.05)
    assert p_value(found, epsilon, 1e-5) == pytest.approx(0.05, rel=1e-4)


def test_bounds_of_gaussian_scores_hold():
    """200 runs at an error of 10%; each canary has noise of its own, and half are guessed."""
    rng, mu, delta = np.random.default_rng(1), 1.5, 1e-3
    truth = GaussianProfile(mu=mu).epsilon(delta).value
    known, bounds = {}, []
    for _ in range(200):
        coins = rng.random(200) < 0.5
        scores = rng.standard_normal(200) + mu * coins
        chosen = np.argsort(-np.abs(scores - mu / 2))[:100]
        right = int(np.sum(coins[chosen] == (scores[chosen] > mu / 2)))
        if right not in known:
            found = Guesses(canaries=200, guesses=100, correct=right)
            known[right] = epsilon_by_count(found, delta, 0.1)
        bounds.append(known[right])
    assert np.mean(np.array(bounds) > truth) <= 0.1
    assert np.mean(bounds) > 0.3 * truth


def test_more_correct_guesses_prove_more():
    found = [
        epsilon_by_count(Guesses(canaries=500, guesses=100, correct=correct), 1e-5, 0.05)
        for correct in (50, 70, 90, 100)
    ]
    assert found[0] == 0 and found[1] < found[2] < found[3] < 50


def test_the_corners_are_those_of_the_hull():
    corners = guesses_at_corners(np.array([1.5, 2.5, 0.5, 3.5]), np.array([0.0, 3.0, 2.0, 1.0]))
    assert [(each.guesses, each.correct) for each in corners] == [(8, 4), (7, 4), (1, 1), (0, 0)]


def test_bad_counts_and_levels_are_named():
    with pytest.raises(ValueError, match="at most as many correct guesses"):
        Guesses(canaries=10, guesses=5, correct=6)
    with pytest.raises(ValueError, match="canaries must be at least 1"):
        Guesses(canaries=0, guesses=0, correct=0)
    found = Guesses(canaries=10, guesses=5, correct=5)
    with pytest.raises(ValueError, match="error must lie in"):
        epsilon_by_count(found, 0.1, 0.0)
    with pytest.raises(ValueError, match="delta must satisfy"):
        epsilon_by_count(found, 1.0, 0.1)
