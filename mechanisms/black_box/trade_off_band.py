"""The trade-off curve of a test, estimated from samples, with a band for all thresholds at once."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mechanisms.check.audit_statistics import hockey_stick


@dataclass(frozen=True, kw_only=True)
class TradeOffBand:
    """Errors of the tests "not the first side" where score <= t, for a grid of thresholds t.

    type_one: share of first-side outputs that the test rejects, estimated, rising; (k,).
    type_two: share of second-side outputs that it does not reject, estimated, falling; (k,).
    radius: With the confidence of the audit every estimate lies within `radius` of the truth, for
        all thresholds and both sides at once (Dvoretzky-Kiefer-Wolfowitz with Massart's constant,
        whatever the distributions).
    samples: outputs of each side that were counted.
    score: name of the score.

    The trade-off curve of the pair is the lowest that any test reaches. It lies on or below
    `upper`; nothing that samples show bounds it from below. `lower` bounds the curve of this score
    alone.
    """

    type_one: np.ndarray
    type_two: np.ndarray
    radius: float
    samples: int
    score: str

    @classmethod
    def from_scores(
        cls, first: np.ndarray, second: np.ndarray, *, samples: int, tail: float, score: str
    ) -> Self:
        """The band from how many of `samples` scores of each side lie on or below each threshold.

        first, second: counts (k,), both rising. tail: probability that the band fails.
        """
        return cls(
            type_one=first / samples,
            type_two=1 - second / samples,
            radius=math.sqrt(math.log(4 / tail) / (2 * samples)),
            samples=samples,
            score=score,
        )

    def upper(self, type_one: np.ndarray | float) -> np.ndarray:
        """An upper bound of the pair's least type II error at type I errors in [0, 1].

        The best of all thresholds and of tests that toss a coin between two of them.
        """
        return self._curve(type_one, self.radius)

    def estimate(self, type_one: np.ndarray | float) -> np.ndarray:
        """The estimated type II error of this score's best test at type I errors in [0, 1]."""
        return self._curve(type_one, 0.0)

    def delta_lower(self, epsilon: float) -> float:
        """A lower bound of the pair's delta at epsilon >= 0, in [0, 1).

        Of every threshold and both orders of the pair: an event with probability at most q for one
        value and at least p for the other proves p - e^epsilon q.
        """
        return float(max(hockey_stick(p, q, epsilon).max() for p, q in self._proven()))

    def epsilon_lower(self, delta: float) -> float:
        """A lower bound of the pair's epsilon at delta in [0, 1), >= 0; as `delta_lower`."""
        return max(math.log(((p - delta) / q).max(initial=1.0)) for p, q in self._proven())

    def _proven(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Bounds p of the likelier and q > 0 of the other side, of "rejected" and "not rejected".

        Tests that toss a coin between two thresholds prove no more than the better of the two.
        """
        alpha = np.minimum(self.type_one + self.radius, 1.0)
        beta = np.minimum(self.type_two + self.radius, 1.0)
        return (1 - beta, alpha), (1 - alpha, beta)

    def lower(self, type_one: np.ndarray | float) -> np.ndarray:
        """A lower bound of the type II error of this score's tests, (k,); not of other scores.

        At the thresholds of the grid; between two of them the one with fewer type II errors counts.
        """
        alpha = np.maximum(self.type_one - self.radius, 0.0)
        beta = np.maximum(self.type_two - self.radius, 0.0)
        place = np.searchsorted(alpha, type_one, side="right")
        return np.append(beta, 0.0)[np.minimum(place, len(beta))]

    def _curve(self, type_one: np.ndarray | float, radius: float) -> np.ndarray:
        alpha = np.concatenate(([0.0], np.minimum(self.type_one + radius, 1.0), [1.0]))
        beta = np.concatenate(([1.0], np.minimum(self.type_two + radius, 1.0), [0.0]))
        return np.interp(type_one, *_lower_hull(alpha, beta))

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "score": self.score,
            "samples": self.samples,
            "radius": self.radius,
            "type_one": self.type_one.tolist(),
            "type_two": self.type_two.tolist(),
        }


def _lower_hull(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lower convex hull of points with rising x."""
    kept: list[int] = []
    order = np.lexsort((y, x))
    for point in order:
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            turn = (x[b] - x[a]) * (y[point] - y[a]) - (y[b] - y[a]) * (x[point] - x[a])
            if turn > 0:
                break
            kept.pop()
        if not kept or x[point] > x[kept[-1]]:
            kept.append(int(point))
    return x[kept], y[kept]
