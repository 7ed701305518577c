"""Labelled reviews as sequences of word numbers."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from learning.records.random_split import random_split

SOURCES = {"imdb": "official", "reviews": "simulated"}

# mgm2021's gradient shape 20,002 x 128 leaves 20,000 words, one number for all others, and one for
# the empty places before a short review. tldp2025 cuts reviews at 500 words; mgm2021 and imgm2022
# state no length.
WORDS = {"imdb": 20_000, "reviews": 191}
LENGTH = {"imdb": 200, "reviews": 40}
EMPTY, OTHER = 0, 1

_WORD = re.compile(r"[a-z0-9']+")
_MARKUP = re.compile(r"<[^>]*>")


def load(dataset: str, folder: Path, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return int64 word numbers (n, LENGTH), 0..WORDS + 1, and labels, training before test.

    Words are numbered by their frequency in the training texts. The frequencies are treated as
    public: no mechanism protects them. A long text keeps its last words. The split is the official
    one. Simulated reviews have none, so a random fifth is their test set.
    """
    found = load_dataset(dataset, folder)
    if dataset == "imdb":
        train, test = ([tokens(text) for text in part.texts] for part in (found.train, found.test))
        labels, test_labels = found.train.labels, found.test.labels
    else:
        order = np.arange(len(found.labels))
        chosen, labels, others, test_labels = random_split(
            order, found.labels, len(order) // 5, rng
        )
        train, test = ([tokens(found.texts[i]) for i in part] for part in (chosen, others))
    numbers = vocabulary(train, WORDS[dataset])
    length = LENGTH[dataset]
    return encoded(train, numbers, length), labels, encoded(test, numbers, length), test_labels


def tokens(text: str) -> list[str]:
    """Return the words of a text in lower case, without markup and punctuation."""
    return _WORD.findall(_MARKUP.sub(" ", text).lower())


def vocabulary(texts: Iterable[list[str]], words: int) -> dict[str, int]:
    """Number the most frequent words from 2; ties go to the first in the alphabet."""
    counts = Counter(word for text in texts for word in text)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: number for number, word in enumerate(ordered[:words], start=2)}


def encoded(texts: list[list[str]], numbers: dict[str, int], length: int) -> np.ndarray:
    """Return the last words of every text, int64 (n, length), with EMPTY before the first one."""
    rows = np.full((len(texts), length), EMPTY, np.int64)
    for row, text in zip(rows, texts, strict=True):
        kept = [numbers.get(word, OTHER) for word in text[-length:]]
        row[length - len(kept) :] = kept
    return rows
