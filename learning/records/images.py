"""Labelled images, scaled to [0, 1]."""

from pathlib import Path

import numpy as np

from datasets import load as load_dataset
from learning.records.random_split import random_split

SOURCES = {"digits": "bundled", "mnist": "official", "cifar10": "official", "svhn": "official"}


def load(dataset: str, folder: Path, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return float32 images (n, channels, height, width) and labels (n,), training before test.

    The split is the official one. The digits have none, so a random fifth is their test set.
    """
    if dataset == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        images = (digits.images[:, None] / 16).astype(np.float32)
        return random_split(images, digits.target, len(images) // 5, rng)
    found = load_dataset(dataset, folder)
    return (
        found.train_images / np.float32(255),
        found.train_labels,
        found.test_images / np.float32(255),
        found.test_labels,
    )
