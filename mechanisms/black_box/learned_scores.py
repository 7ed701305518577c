"""Scores that distinguish the outputs for two values, learned from outputs that are not counted.

A learner sees outputs of both sides and returns scores, large where an output seems to come from
the first side. Where a score allows it, only sums are kept, so that it can learn from millions of
long outputs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

Score = Callable[[np.ndarray], np.ndarray]  # (n, *shape) -> (n,)
Rows = Callable[[np.ndarray], np.ndarray]  # (n, m) -> (n, m), or sums (m,)

# Exponents of bits lie between these: a zero is a multiple of every power of two.
_LOWEST_BIT, _HIGHEST_BIT = -160, 64
# Log-likelihood ratios are rounded to so many bits below the size of the log densities.
_DENSITY_BITS = 30
# Numbers of outputs that a classifier holds of each side.
_HELD_NUMBERS = 1 << 21
# Numbers that are worked on at once, 2 MB: a cache holds them, and the calls cost little for each.
_CHUNK_NUMBERS = 1 << 18
# Longer products may be shared by threads, and then depend on their number.
_PRODUCT_NUMBERS = 1 << 13
# Means so many standard deviations from zero leave a sum of products ten digits of the noise.
_NEAR_ZERO = 1e3


def lowest_bits(outputs: np.ndarray) -> np.ndarray:
    """For each element the exponent of its last bit that is set, of the same shape.

    A sum of a value and noise in floating point is a multiple of the last bit of the larger one, so
    the last bits reveal of the value what the noise should hide (Mironov, CCS 2012).
    """
    fraction, exponent = np.frexp(outputs)
    digits = (np.abs(fraction) * 2.0**53).astype(np.int64)
    _, place = np.frexp((digits & -digits).astype(float))
    last = np.where(digits == 0, _HIGHEST_BIT, exponent + place - 54)
    return np.clip(last, _LOWEST_BIT, _HIGHEST_BIT).astype(float)


def rows_at_once(size: int) -> int:
    """How many outputs of `size` elements are processed at once."""
    return max(1, _CHUNK_NUMBERS // max(1, size))


def _chunks(outputs: np.ndarray) -> list[np.ndarray]:
    """The outputs (n, *shape) as flat rows (k, m), a few at a time."""
    flat = outputs.reshape(len(outputs), -1)
    rows = rows_at_once(flat.shape[1])
    return [flat[start : start + rows] for start in range(0, len(flat), rows)]


def _scored(outputs: np.ndarray, score: Score) -> np.ndarray:
    """The scores of outputs (n, *shape) by a score of flat rows, (n,)."""
    scores = [score(flat) for flat in _chunks(outputs)]
    return scores[0] if len(scores) == 1 else np.concatenate(scores)


def _products(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The product of each row (n, m) with a vector (m,), or with its row of (n, m).

    Row by row: in a product of matrices equal rows need not give equal numbers.
    """
    product = np.vecdot(rows[:, :_PRODUCT_NUMBERS], others[..., :_PRODUCT_NUMBERS])
    for start in range(_PRODUCT_NUMBERS, rows.shape[1], _PRODUCT_NUMBERS):
        part = slice(start, start + _PRODUCT_NUMBERS)
        product += np.vecdot(rows[:, part], others[..., part])
    return product


@dataclass
class Sums:
    """Sums of the features of some outputs; of the first of them also of their squares.

    count: Outputs in all.
    first: Number of the first ones.
    first_sums: Their sums and sums of squares around an origin, (2, m).
    other_sums: Sums of the others, around zero, (m,).
    """

    count: int
    first: int
    first_sums: np.ndarray
    other_sums: np.ndarray


class LinearLearner:
    """The linear score of independent features: differences of the means over the variances.

    Means are learned from all outputs. Variances, which need not be known as well and take more
    time, are learned from those that are added and from the first ones of every lesson.

    Args:
        features: Flat outputs (n, m) -> (n, m).
        totals: Flat outputs (n, m) -> the sums (m,) of their features, where that takes less time.
    """

    # What it learns from outputs are sums, which may be taken apart from each other.
    adds_up = True

    def __init__(self, features: Rows, totals: Rows | None = None) -> None:
        self._features = features
        self._totals = totals or (lambda flat: features(flat).sum(axis=0))
        self._origin: np.ndarray | None = None
        self._known: list[Sums] = []

    def add(self, side: int, outputs: np.ndarray) -> None:
        """Learn from outputs (n, *shape) of side 0 or 1."""
        if self._origin is None:
            self._origin = self._features(_chunks(outputs)[0]).mean(axis=0)
            self._known = [self._nothing(), self._nothing()]
        self.learn(side, self.lesson(outputs))

    def lesson(self, outputs: np.ndarray, before: Sums | None = None) -> Sums:
        """A summary of outputs for `learn`, and of those in the summary `before`.

        Some outputs must have been added before.
        """
        if before is not None:
            before.count += len(outputs)
            for flat in _chunks(outputs):
                before.other_sums += self._totals(flat)
            return before
        sums = self._nothing()
        sums.count = sums.first = len(outputs)
        for flat in _chunks(outputs):
            features = self._features(flat) - self._origin
            sums.first_sums[0] += features.sum(axis=0)
            np.square(features, out=features)
            sums.first_sums[1] += features.sum(axis=0)
        return sums

    def _nothing(self) -> Sums:
        size = len(self._origin)
        return Sums(0, 0, np.zeros((2, size)), np.zeros(size))

    def learn(self, side: int, lesson: Sums) -> None:
        """Learn from the summary of outputs of a side."""
        known = self._known[side]
        known.count += lesson.count
        known.first += lesson.first
        known.first_sums += lesson.first_sums
        known.other_sums += lesson.other_sums - (lesson.count - lesson.first) * self._origin

    def score(self) -> Score:
        """The score learned so far; constant where the sides appear alike."""
        means, first_means, variances = [], [], []
        for known in self._known:
            total, squares = known.first_sums
            means.append((total + known.other_sums) / known.count)
            first_means.append(total / known.first)
            variances.append(np.maximum(squares / known.first - first_means[-1] ** 2, 0.0))
        variance = (variances[0] + variances[1]) / 2
        # Where no variance was seen, a change that was not seen with it has no scale.
        change = np.where(variance > 0, means[0] - means[1], first_means[0] - first_means[1])
        # What never varies on either side and still differs tells them apart by itself.
        floor = np.where(change == 0, 1.0, np.maximum(change**2, np.finfo(float).tiny) * 1e-6)
        weights = change / np.maximum(variance, floor)
        middle = (means[0] + means[1]) / 2 + self._origin
        return self._linear(weights, middle, variance)

    def _linear(self, weights: np.ndarray, middle: np.ndarray, variance: np.ndarray) -> Score:
        """(features - middle) @ weights, in one product where that loses no digits."""
        before, after = middle, 0.0
        if (np.abs(middle) <= _NEAR_ZERO * np.sqrt(variance)).all():
            before, after = None, float(middle @ weights)

        def of(flat: np.ndarray) -> np.ndarray:
            features = self._features(flat)
            if before is not None:
                features = features - before
            return _products(features, weights) - after

        return lambda outputs: _scored(outputs, of)


class ClassifierLearner:
    """The decision function of a scikit-learn classifier of flattened outputs.

    Args:
        kind: "logistic" (linear) or "boosting" (gradient boosted trees).
    """

    adds_up = False

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._outputs: tuple[list[np.ndarray], ...] = ([], [])

    def add(self, side: int, outputs: np.ndarray) -> None:
        """Keep outputs (n, *shape) of side 0 or 1, up to two million numbers of a side."""
        flat = outputs.reshape(len(outputs), -1)
        room = max(8, _HELD_NUMBERS // flat.shape[1]) - sum(map(len, self._outputs[side]))
        if room > 0:
            self._outputs[side].append(flat[:room])

    def score(self) -> Score:
        """The score of a classifier that is fitted to all outputs kept so far."""
        sides = [np.concatenate(outputs) for outputs in self._outputs]
        labels = np.repeat([1, 0], [len(outputs) for outputs in sides])
        classifier = new_classifier(self._kind).fit(np.concatenate(sides), labels)
        return lambda outputs: classifier.decision_function(outputs.reshape(len(outputs), -1))


class FixedScore:
    """A score that is known beforehand."""

    adds_up = True

    def __init__(self, score: Score) -> None:
        self._score = score

    def add(self, side: int, outputs: np.ndarray) -> None:
        """Learn nothing."""

    def lesson(self, outputs: np.ndarray, before: None = None) -> None:
        """No summary: there is nothing to learn."""

    def learn(self, side: int, lesson: None) -> None:
        """Learn nothing."""

    def score(self) -> Score:
        return self._score


Learner = LinearLearner | ClassifierLearner | FixedScore

LINEAR = {
    "mean": (lambda flat: flat,),
    "spread": (np.square, lambda flat: np.einsum("ij,ij->j", flat, flat)),
    "bits": (lowest_bits,),
}
CLASSIFIERS = ("logistic", "boosting")
SCORES = (*LINEAR, *CLASSIFIERS)
# Tried together where no score is chosen; whichever tells most is used. Not the bits: they betray
# almost every sampler that adds floating-point noise, whatever its distribution.
USUAL = ("mean", "spread")


def learners_of(names: Iterable[str]) -> dict[str, Learner]:
    """A learner for each of the names of `SCORES`.

    Raises:
        ValueError: An unknown name.
    """
    learners: dict[str, Learner] = {}
    for name in names:
        if name not in SCORES:
            raise ValueError(
                f"score must be a function or one of {', '.join(SCORES)}; got {name!r}"
            )
        known = name in LINEAR
        learners[name] = LinearLearner(*LINEAR[name]) if known else ClassifierLearner(name)
    return learners


def distance_score(first: np.ndarray, second: np.ndarray) -> Score:
    """log of the distance to `second` over that to `first`: right for noise that is spherical.

    Zero for outputs that have not as many elements as the values: they have no distance.
    """

    def squares_to(value: np.ndarray) -> Score:
        def of(flat: np.ndarray) -> np.ndarray:
            apart = flat - value.reshape(-1)
            return _products(apart, apart)

        return of

    def score(outputs: np.ndarray) -> np.ndarray:
        if outputs[0].size != first.size:
            return np.zeros(len(outputs))
        squares = [_scored(outputs, squares_to(value)) for value in (second, first)]
        with np.errstate(divide="ignore"):
            logs = np.log(squares)
        return np.where(squares[0] == squares[1], 0.0, logs[0] - logs[1])

    return score


def density_score(
    log_density: Callable[[np.ndarray, np.ndarray], np.ndarray],
    first: np.ndarray,
    second: np.ndarray,
) -> Score:
    """The log-likelihood ratio; `log_density(value, outputs)` is that of n outputs, (n,).

    It is rounded, to 1e-9 for log densities near 1. Many noises give one ratio to many outputs, as
    Laplace noise does; how it comes out in floating point depends on the last bits of the output,
    and an event that tells 1 from 1 - 2^-53 would be about these bits: see `lowest_bits`.
    """

    def score(outputs: np.ndarray) -> np.ndarray:
        of_first, of_second = (
            np.asarray(log_density(value, outputs), dtype=float) for value in (first, second)
        )
        size = np.maximum(np.maximum(np.abs(of_first), np.abs(of_second)), 1.0)
        _, exponent = np.frexp(np.where(np.isfinite(size), size, 1.0))
        unit = np.ldexp(1.0, exponent - _DENSITY_BITS)
        with np.errstate(invalid="ignore"):
            ratio = np.where(of_first == of_second, 0.0, of_first - of_second)
        return np.rint(ratio / unit) * unit

    return score


def new_classifier(kind: str):
    """An untrained scikit-learn classifier, "logistic" or "boosting"."""
    # Imported here: scikit-learn takes seconds to load, and most audits need none of it.
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if kind == "logistic":
        return make_pipeline(StandardScaler(), LogisticRegression())
    return HistGradientBoostingClassifier(early_stopping=False, random_state=0)
