"""Simulated reviews: sentences of made-up words, unrelated to any real text.

Most words of a review are fillers, drawn by Zipf's law. One word in six carries a mood, which is
the mood of the review with probability 0.8. One in seven of these is negated: the word "not" stands
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


_FILLERS, _MOODS = 150, 20
_MOOD_SHARE, _FAITHFUL, _TURNED = 1 / 6, 0.8, 1 / 7
_SHORTEST, _LONGEST = 15, 40
NOT = "not"


def load(*, seed: int = 0, reviews: int = 2500) -> Reviews:
    """Reviews of words separated by blanks, about half of them positive.

    Args:
        seed: at least 0; the same seed gives the same reviews.
        reviews: their number, at least 1.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, reviews)
    return Reviews(texts=tuple(_text(rng, label) for label in labels), labels=labels)


def _text(rng: np.random.Generator, label: int) -> str:
    length = int(rng.integers(_SHORTEST, _LONGEST + 1))
    fillers = rng.choice(_FILLERS, length, p=_ZIPF)
    with_mood = rng.random(length) < _MOOD_SHARE
    mood = np.where(rng.random(length) < _FAITHFUL, label, 1 - label)
    turned = rng.random(length) < _TURNED
    which = rng.integers(0, _MOODS, length)
    words: list[str] = []
    for position in range(length):
        if not with_mood[position]:
            words.append(f"filler{fillers[position]}")
        elif turned[position]:
            words += [NOT, f"{('bad', 'good')[1 - mood[position]]}{which[position]}"]
        else:
            words.append(f"{('bad', 'good')[mood[position]]}{which[position]}")
    return " ".join(words)


_ZIPF = 1 / np.arange(1, _FILLERS + 1)
_ZIPF /= _ZIPF.sum()
