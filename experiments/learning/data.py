"""Labelled images as arrays for training, scaled to [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.datasets import load as load_dataset

SOURCES = {"digits": "bundled", "mnist": "official", "cifar10": "official"}


@dataclass(frozen=True, kw_only=True)
class Split:
    """float32 images (n, channels, height, width) in [0, 1] and int64 labels (n,)."""

    train_images: np.ndarray
    train_labels: np.ndarray
    test_images: np.ndarray
    test_labels: np.ndarray


def load(dataset: str, folder: Path, records: int | None, seed: int) -> Split:
    """A data set with its official split; for digits a random fifth is the test set.

    Args:
        records: Training records to keep, drawn at random without replacement; None: all.
        seed: Seed of these draws.

    Raises:
        ValueError: `records` is more than there are.
        DataError: The files are missing.
    """
    rng = np.random.default_rng(seed)
    if dataset == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        images, labels = digits.images[:, None] / 16, digits.target
        order = rng.permutation(len(labels))
        test, train = np.split(order, [len(labels) // 5])
        parts = images[train], labels[train], images[test], labels[test]
    else:
        found = load_dataset(dataset, folder)
        parts = (
            found.train_images / np.float32(255),
            found.train_labels,
            found.test_images / np.float32(255),
            found.test_labels,
        )
    if records is not None:
        if records > len(parts[1]):
            raise ValueError(f"{dataset} has {len(parts[1])} training records, got {records}")
        kept = np.sort(rng.choice(len(parts[1]), records, replace=False))
        parts = parts[0][kept], parts[1][kept], *parts[2:]
    return Split(
        train_images=parts[0].astype(np.float32),
        train_labels=parts[1].astype(np.int64),
        test_images=parts[2].astype(np.float32),
        test_labels=parts[3].astype(np.int64),
    )
