"""Tests by betting: wealth that grows if a claim is false, and cannot be expected to if it is true.

Bets against a true claim have an expected wealth of at most 1 at any time, so the probability that
the wealth ever reaches w is at most 1/w (Ville's inequality). A test may therefore check the wealth
after every sample and stop at any time. A bet may depend on earlier samples, but not on those that
settle it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

# Halvings of an interval of probabilities.
_HALVINGS = 50
# Claims beyond it are not bet against: no number of samples shows a probability below e^-700.
LARGEST_EPSILON = 700.0


@dataclass(frozen=True, kw_only=True)
class EventBet:
    """A bet on an event E against the claim A(E) <= e^epsilon B(E) + delta, for pairs of draws.

    A draw x of A and a draw y of B multiply the wealth by
    (1 + s (1[x in E] - a)) (1 - e^epsilon s (1[y in E] - b)), where (a, b) with
    a = e^epsilon b + delta is the point of the claim's boundary nearest to the bettor's guess of
    (A(E), B(E)) in relative entropy. Where the claim is true the expectation is
    (1 + u)(1 - v) with u <= v, so at most 1; at the guess the logarithm grows fastest.
    Source: Turner, Ly and Gruenwald, Generic E-variables for exact sequential k-sample tests
    (J. Stat. Plan. Inference 230, 2024), Section 3; here for the claim of (epsilon, delta)-DP.

    Args:
        epsilon, delta: The claim; finite >= 0, and in [0, 1).
        a, b: The point of the boundary, 0 < a < 1.
        stake: s >= 0, such that no factor is negative; 0 does not bet.
    """

    epsilon: float
    delta: float
    a: float
    b: float
    stake: float

    @classmethod
    def on_guess(cls, epsilon: float, delta: float, in_a: float, in_b: float) -> EventBet:
        """The bet for a guess of A(E) and B(E), both in (0, 1); none if the guess is no breach."""
        if epsilon > LARGEST_EPSILON or in_a <= math.exp(epsilon) * in_b + delta:
            return cls(epsilon=epsilon, delta=delta, a=0.5, b=0.0, stake=0.0)
        b = float(nearest_in_claim(np.array([in_a]), np.array([in_b]), epsilon, delta)[0])
        a = math.exp(epsilon) * b + delta
        stake = (in_a - a) / (a * (1 - a))
        # Rounding must not make a factor negative.
        limit = min(1 / a, math.exp(-epsilon) / (1 - b)) * (1 - 1e-12)
        return cls(epsilon=epsilon, delta=delta, a=a, b=b, stake=min(max(stake, 0.0), limit))

    def log_gains(self, in_a: np.ndarray, in_b: np.ndarray) -> np.ndarray:
        """Logarithms of what each pair multiplies the wealth by.

        in_a, in_b: whether the draws of A and of B lie in E, boolean (n,).
        """
        against = math.exp(min(self.epsilon, LARGEST_EPSILON)) * self.stake
        return np.log1p(self.stake * (in_a - self.a)) + np.log1p(-against * (in_b - self.b))


def nearest_in_claim(
    in_a: np.ndarray, in_b: np.ndarray, epsilon: float, delta: float
) -> np.ndarray:
    """B(E) of the point of a = e^epsilon b + delta that is nearest to (in_a, in_b), (n,).

    Nearest in the relative entropy of one draw of each; in_a > e^epsilon in_b + delta.
    """
    low, high = in_b.astype(float), (in_a - delta) * math.exp(-epsilon)
    for _ in range(_HALVINGS):
        b = (low + high) / 2
        a = math.exp(epsilon) * b + delta
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (b - in_b) / (b * (1 - b)) - math.exp(epsilon) * (in_a - a) / (a * (1 - a))
        rising = slope > 0
        low, high = np.where(rising, low, b), np.where(rising, b, high)
    return (low + high) / 2


def growth(in_a: np.ndarray, in_b: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    """Expected logarithm of a pair's gain at a guess that is true, (n,); 0 for no breach.

    in_a, in_b: A(E) and B(E), (n,), in [0, 1]. About log(1 / error) / growth pairs refute.
    """
    in_a, in_b = np.broadcast_arrays(in_a, in_b)
    result = np.zeros(in_a.shape)
    if epsilon > LARGEST_EPSILON:
        return result
    breach = in_a > math.exp(epsilon) * in_b + delta
    a_seen, b_seen = in_a[breach], in_b[breach]
    b = nearest_in_claim(a_seen, b_seen, epsilon, delta)
    result[breach] = _entropy(a_seen, math.exp(epsilon) * b + delta) + _entropy(b_seen, b)
    return result


def _entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Relative entropy of two coins."""
    return scipy.special.rel_entr(p, q) + scipy.special.rel_entr(1 - p, 1 - q)
