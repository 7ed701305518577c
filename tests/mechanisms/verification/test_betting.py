"""Bets: fair where the claim is true, and as fast as the theory says where it is false."""

import math

import numpy as np
import pytest
from scipy import optimize

from mechanisms.verification.betting import EventBet, growth, nearest_in_claim

CLAIMS = [(0.0, 0.0), (1.0, 1e-5), (0.5, 0.2), (5.0, 1e-3)]
GUESSES = [(0.6, 0.01), (0.9, 0.2), (0.3, 1e-6), (0.999, 1e-3)]


def expected_gain(bet, a, b):
    """Over the four outcomes of a pair."""
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    return np.where(x, a, 1 - a) * np.where(y, b, 1 - b) @ np.exp(bet.log_gains(x, y))


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("guess", GUESSES)
def test_no_true_claim_lets_wealth_grow(claim, guess):
    """On a grid of all pairs of probabilities that the claim allows, its boundary included."""
    epsilon, delta = claim
    bet = EventBet.on_guess(*claim, *guess)
    worst = 0.0
    for b in np.concatenate(([0.0, 1e-6], np.linspace(1e-3, 1.0, 40))):
        top = min(1.0, math.exp(epsilon) * b + delta)
        worst = max(worst, *(expected_gain(bet, a, b) for a in np.linspace(0.0, top, 9)))
    assert worst <= 1 + 1e-12
    if bet.stake:
        assert expected_gain(bet, *guess) > 1


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("guess", GUESSES)
def test_the_bet_is_the_fastest_for_its_guess(claim, guess):
    """Growth is the least relative entropy to the claim, by a search of scipy."""
    epsilon, delta = claim
    if guess[0] <= math.exp(epsilon) * guess[1] + delta:
        assert growth(*map(np.array, guess), *claim) == 0
        assert EventBet.on_guess(*claim, *guess).stake == 0
        return

    def entropy(b):
        a = math.exp(epsilon) * b + delta
        return sum(
            p * math.log(p / q) + (1 - p) * math.log((1 - p) / (1 - q))
            for p, q in zip(guess, (a, b), strict=True)
        )

    top = (1 - delta) * math.exp(-epsilon)
    least = optimize.minimize_scalar(entropy, bounds=(0, top), options={"xatol": 1e-13})
    rate = growth(*map(np.array, guess), *claim)
    assert rate == pytest.approx(least.fun, rel=1e-6)
    bet = EventBet.on_guess(*claim, *guess)
    x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
    weights = np.where(x, guess[0], 1 - guess[0]) * np.where(y, guess[1], 1 - guess[1])
    mean = weights @ bet.log_gains(x, y)
    assert mean == pytest.approx(rate, rel=1e-6)


def test_a_probability_of_zero_is_nearest_in_closed_form():
    """B(E) = 0 at epsilon = 0: the nearest point minimises -log(1 - b) + the entropy of A(E)."""
    b = nearest_in_claim(np.array([1.0]), np.array([0.0]), 0.0, 0.0)
    assert b == pytest.approx(0.5)  # -log(1 - b) - log b
