"""Events that distinguish two sides, chosen on some scores and judged by others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.audit.audit_statistics import clopper_pearson, hockey_stick

# The probability of a false alarm of one check: that of a thousand checks together is 0.1%.
ERROR = 1e-6
# One-sided bounds that share it: three for each of four means and three variances of the loss, two
# for each of two multiples of seven changes, three for each change of a grid, two for the noise of
# two values along each of eight directions, seven for atoms and neighbours, two for norms, eight
# for signs, one for exact answers, and those for the losses of the profile.
TAIL = ERROR / 128
# Where a delta is compared with what is claimed; counts show none at a large epsilon.
EPSILONS = np.array([0.0, 1.0])
# Relative excess over a claim that is put down to rounding.
ROUNDING = 1e-6
# Quantiles of the scores at which an event may begin.
QUANTILES = (0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98)


@dataclass(frozen=True)
class Contradiction:
    """A lower bound of delta at `epsilon`, above what is claimed there."""

    epsilon: float
    lower: float
    claim: float


def contradiction(
    trained: Sequence[np.ndarray],
    tested: Sequence[np.ndarray],
    claims: np.ndarray,
) -> Contradiction | None:
    """A lower bound of a pair's delta above what is claimed, from scores of both sides, or None.

    The event is the one that stands out most in `trained`, over all thresholds, directions and
    epsilons. `tested` alone judges it, by two bounds that err with probability at most `TAIL` each.

    Args:
        trained, tested: For each, the scores (n,) of either side.
        claims: The largest delta that is claimed at each of `EPSILONS`.
    """
    thresholds = np.unique(np.quantile(np.concatenate(trained), QUANTILES))
    best = (-math.inf, None)
    for order in ((0, 1), (1, 0)):
        for above in (True, False):
            lower, upper = event_bounds(trained, order, thresholds, above=above)
            for epsilon, claim in zip(EPSILONS, claims, strict=True):
                gains = hockey_stick(lower, upper, epsilon) - claim
                choice = int(np.argmax(gains))
                event = order, thresholds[choice : choice + 1], above, epsilon, float(claim)
                best = max(best, (float(gains[choice]), event), key=lambda found: found[0])
    order, threshold, above, epsilon, claim = best[1]
    lower, upper = event_bounds(tested, order, threshold, above=above)
    proved = float(hockey_stick(lower, upper, epsilon)[0])
    if proved <= claim * (1 + ROUNDING):
        return None
    return Contradiction(float(epsilon), proved, claim)


def event_bounds(
    scores: Sequence[np.ndarray],
    order: tuple[int, int],
    thresholds: np.ndarray,
    *,
    above: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """A lower bound of A(event) and an upper one of B(event) for scores beyond each threshold."""
    hits = []
    for side in order:
        ordered = np.sort(scores[side])
        place = np.searchsorted(ordered, thresholds, side="right" if above else "left")
        hits.append(len(ordered) - place if above else place)
    lower, _ = clopper_pearson(hits[0], len(scores[order[0]]), TAIL)
    _, upper = clopper_pearson(hits[1], len(scores[order[1]]), TAIL)
    return lower, upper


def best_event(
    scores_a: np.ndarray, scores_b: np.ndarray, epsilon: float, tail: float
) -> tuple[float, int, float]:
    """(bound, sign, t) of the event {sign * score > t} with the largest bound on these samples."""
    best = (-1.0, 1, 0.0)
    for sign in (1, -1):
        a, b = np.sort(sign * scores_a), np.sort(sign * scores_b)
        pooled = np.sort(np.concatenate((a, b)))
        # Events that hold 1, 2, 3, ... and then, by steps of 3%, up to nearly all samples.
        ranks = np.unique(np.geomspace(1, len(pooled) - 1, 500).astype(int))
        thresholds = np.unique(pooled[-1 - ranks])
        hits_a, hits_b = (len(s) - np.searchsorted(s, thresholds, side="right") for s in (a, b))
        lower, _ = clopper_pearson(hits_a, len(a), tail)
        _, upper = clopper_pearson(hits_b, len(b), tail)
        deltas = hockey_stick(lower, upper, epsilon)
        choice = int(np.argmax(deltas))
        best = max(best, (float(deltas[choice]), sign, float(thresholds[choice])))
    return best


def projected(draws: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return draws.reshape(len(draws), -1) @ direction.ravel()


def scores_of(change: np.ndarray) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Scores that distinguish answers to two values: along the change, and across it squared."""
    unit = change / np.linalg.norm(change)
    scores = [lambda draws: projected(draws, unit)]
    if change.ndim == 2:
        scores.append(lambda draws: squared_products(unit, draws))
    return scores


def squared_products(unit: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """||unit^T A||^2 of every draw A, by products of the size of the shorter axis."""
    rows, columns = unit.shape
    if rows >= columns:
        return np.sum((unit.T @ draws) ** 2, axis=(1, 2))
    return np.sum((unit @ unit.T) * (draws @ draws.transpose(0, 2, 1)), axis=(1, 2))
