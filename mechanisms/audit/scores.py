"""Scores that distinguish outputs for two values; larger if an output seems to be of the first."""

from collections.abc import Callable, Sequence

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]  # (n, *shape) -> (n,)
# Learns a score from outputs for both values, which are not counted.
Learner = Callable[[Sequence[np.ndarray]], Score]

# Exponents of bits are clipped to this range; zero, a multiple of all powers of two, has its end.
_LOWEST_BIT, _HIGHEST_BIT = -160, 64


def lowest_bits(outputs: np.ndarray) -> np.ndarray:
    """Return the exponent of the last bit that is set in each element, in the same shape.

    The value decides which floating-point numbers a rounded sum of value and noise can be. So the
    last bits of the sum reveal what the noise should hide (Mironov, CCS 2012).
    """
    fraction, exponent = np.frexp(outputs)
    digits = (np.abs(fraction) * 2.0**53).astype(np.int64)
    _, place = np.frexp((digits & -digits).astype(float))
    last = np.where(digits == 0, _HIGHEST_BIT, exponent + place - 54)
    return np.clip(last, _LOWEST_BIT, _HIGHEST_BIT).astype(float)


# Functions from flat outputs (n, m) to features (n, m), from which a linear score is learned.
FEATURES = {"mean": np.asarray, "spread": np.square, "bits": lowest_bits}
DISTANCE = "distance"
SCORES = (*FEATURES, DISTANCE)
# The features that are tried if no score is given. The bits are left out: they betray almost every
# sampler that adds floating-point noise, whatever its distribution.
USUAL = ("mean", "spread")


def learners_of(
    score: Score | str | None, values: tuple[np.ndarray, np.ndarray] | None
) -> dict[str, Learner]:
    """Return learners by the names of their scores.

    Args:
        score: A function of outputs, a name of `SCORES`, or None for `USUAL` and, if the values
            are known, the distance.
        values: The two values, or None if only outputs are known.

    Raises:
        ValueError: The name is unknown, or it is the distance and the values are not known.
    """
    if callable(score):
        return {getattr(score, "__name__", "score"): lambda sides: score}
    names = (score,) if score is not None else USUAL if values is None else (*USUAL, DISTANCE)
    return {name: _learner(name, values) for name in names}


def _learner(name: str, values: tuple[np.ndarray, np.ndarray] | None) -> Learner:
    if name in FEATURES:
        return lambda sides: linear_score(FEATURES[name], sides)
    if name != DISTANCE:
        raise ValueError(f"score must be a function or one of {', '.join(SCORES)}; got {name!r}")
    if values is None:
        raise ValueError("the score distance needs the two values; files of outputs have none")
    return lambda sides: distance_score(*values)


def linear_score(features: Callable, sides: Sequence[np.ndarray]) -> Score:
    """Learn Fisher's linear discriminant, with the features taken to be independent.

    The weight of a feature is the difference of its means over its variance.

    Args:
        features: A function from flat outputs (n, m) to features (n, m).
        sides: Outputs (n, *shape) for the first and for the second value.
    """
    found = [features(_flat(outputs)) for outputs in sides]
    means = [each.mean(axis=0) for each in found]
    variance = (found[0].var(axis=0) + found[1].var(axis=0)) / 2
    change, middle = means[0] - means[1], (means[0] + means[1]) / 2
    # A feature that is constant on either side, and differs, tells the sides apart by itself.
    floor = np.where(change == 0, 1.0, np.maximum(change**2, np.finfo(float).tiny) * 1e-6)
    weights = change / np.maximum(variance, floor)
    # Each row is summed by itself: a matrix product would round equal rows differently.
    return lambda outputs: ((features(_flat(outputs)) - middle) * weights).sum(axis=1)


def distance_score(first: np.ndarray, second: np.ndarray) -> Score:
    """Return the score log(|x - second|^2 / |x - first|^2), which suits spherical noise.

    The score is zero for outputs that have another number of elements than the values.
    """

    def score(outputs: np.ndarray) -> np.ndarray:
        if outputs[0].size != first.size:
            return np.zeros(len(outputs))
        flat = _flat(outputs)
        squares = [((flat - value.reshape(-1)) ** 2).sum(axis=1) for value in (second, first)]
        with np.errstate(divide="ignore"):
            logs = np.log(squares)
        return np.where(squares[0] == squares[1], 0.0, logs[0] - logs[1])

    return score


def _flat(outputs: np.ndarray) -> np.ndarray:
    """Return outputs (n, *shape) as rows (n, m)."""
    return outputs.reshape(len(outputs), -1)
