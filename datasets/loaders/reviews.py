"""Simulated reviews: sentences of made-up words, unrelated to any real text.

Most words of a review are fillers, drawn by Zipf's law. One word in six carries a mood, which is
the mood of the review with probability 0.8. One in seven of these words is negated: "not" stands
before the opposite word, so that a reader who ignores the order of words is wrong more often.

One record is one review.
"""

import numpy as np

from datasets.entry import Dataset
from datasets.loaders.imdb import Reviews

ENTRY = Dataset(
    name="reviews",
    title="Simulated reviews, positive or negative",
    source="simulated",
    licence="the licence of this project",
    citation="this project: datasets/loaders/reviews.py",
    record="one review",
    rows={},
)


_FILLERS, _WORDS_PER_MOOD = 150, 20
# Probabilities: a word has a mood, which is that of its review, and which is negated.
_MOODY, _AGREEING, _NEGATED = 1 / 6, 0.8, 1 / 7
_SHORTEST, _LONGEST = 15, 40


def load(*, seed: int = 0, reviews: int = 2500) -> Reviews:
    """Simulate reviews of words separated by blanks, about half of the reviews positive.

    Args:
        seed: at least 0; the same seed gives the same reviews.
        reviews: number of reviews, at least 1.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, reviews)
    return Reviews(texts=tuple(_text(rng, label) for label in labels), labels=labels)


def _text(rng: np.random.Generator, label: int) -> str:
    length = rng.integers(_SHORTEST, _LONGEST + 1)
    fillers = rng.choice(_FILLERS, length, p=_ZIPF)
    moody = rng.random(length) < _MOODY
    mood = np.where(rng.random(length) < _AGREEING, label, 1 - label)
    negated = rng.random(length) < _NEGATED
    adjectives = np.where(mood != negated, "good", "bad")
    numbers = rng.integers(0, _WORDS_PER_MOOD, length)
    openings = np.where(negated, "not ", "")
    words = zip(moody, openings, adjectives, numbers, fillers, strict=True)
    return " ".join(
        f"{opening}{adjective}{number}" if has_mood else f"filler{filler}"
        for has_mood, opening, adjective, number, filler in words
    )


_ZIPF = 1 / np.arange(1, _FILLERS + 1)
_ZIPF /= _ZIPF.sum()
