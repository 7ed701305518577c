"""The guesses of one-run audits at the corners of a ROC curve, as jax_privacy makes them.

The number of corners depends on the scores, so these bounds are customary rather than proven. The
tests need them for a comparison with values that jax_privacy publishes.
"""

import numpy as np
import scipy

from learning.training.one_run_audit import Guesses, epsilon_by_count


def guesses_at_corners(with_canary: np.ndarray, without: np.ndarray) -> list[Guesses]:
    """The guesses "in" above each threshold that is a corner of the ROC curve's convex hull.

    with_canary, without: scores of the canaries that are in and that are not; large where the
    attacker believes them to be in. Divide the error by the number of corners to use the best of
    them.
    """
    thresholds = np.append(np.union1d(with_canary, without), np.inf)
    missed = np.searchsorted(np.sort(with_canary), thresholds, side="left")
    spared = np.searchsorted(np.sort(without), thresholds, side="left")
    kept: list[int] = []
    for point in range(len(thresholds)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            turn = (int(missed[b]) - int(missed[a])) * (int(spared[point]) - int(spared[a])) - (
                int(spared[b]) - int(spared[a])
            ) * (int(missed[point]) - int(missed[a]))
            if turn < 0:
                break
            kept.pop()
        kept.append(point)
    canaries = len(with_canary) + len(without)
    return [
        Guesses(
            canaries=canaries,
            guesses=int(canaries - missed[corner] - spared[corner]),
            correct=int(len(with_canary) - missed[corner]),
        )
        for corner in kept
    ]


def best_at_corners(
    with_canary: np.ndarray, without: np.ndarray, delta: float, error: float
) -> float:
    """The largest bound over the corners of the ROC curve, each with its share of the error."""
    corners = guesses_at_corners(with_canary, without)
    best = 0.0
    # The most promising first, so that the others fall at one comparison with it.
    for found in sorted(corners, key=_promise, reverse=True):
        if found.correct > scipy.special.expit(best) * found.guesses:
            best = max(best, epsilon_by_count(found, delta, error / len(corners)))
    return best


def _promise(found: Guesses) -> float:
    """A lower bound of the share of correct guesses."""
    if not found.correct:
        return 0.0
    wrong = found.guesses - found.correct
    return float(scipy.special.betaincinv(found.correct, wrong + 1, 0.001))
