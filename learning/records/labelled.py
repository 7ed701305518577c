"""Labelled records as arrays for training and testing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from learning.records import (
    citation_graph as graphs,
)
from learning.records import (
    pictures,
    tables,
    texts,
)

SOURCES = pictures.SOURCES | tables.SOURCES | texts.SOURCES | graphs.SOURCES


@dataclass(frozen=True, kw_only=True)
class Split:
    """Inputs (n, ...), float32 or, for texts, int64; and int64 labels (n,), 0..classes-1.

    Images are (channels, height, width) in [0, 1], records (features,) in [-1, 1], texts (words,)
    numbers of words, where 0 stands before the first one; nodes of a graph are (neighbours, 2), see
    `graphs.load`.
    """

    train_inputs: np.ndarray
    train_labels: np.ndarray
    test_inputs: np.ndarray
    test_labels: np.ndarray


def load(dataset: str, folder: Path, records: int | None, seed: int) -> Split:
    """A data set with its official split, or the split that its module documents.

    Args:
        records: Training records to keep, drawn at random without replacement; None: all.
        seed: Seed of these draws, and of the split where there is no official one.

    Raises:
        ValueError: `records` is more than there are.
        DataError: The files are missing.
    """
    rng = np.random.default_rng(seed)
    module = next(m for m in (graphs, pictures, tables, texts) if dataset in m.SOURCES)
    inputs, labels, test_inputs, test_labels = module.load(dataset, folder, rng)
    split = Split(
        train_inputs=inputs,
        train_labels=labels.astype(np.int64),
        test_inputs=test_inputs,
        test_labels=test_labels.astype(np.int64),
    )
    return split if records is None else _part(split, dataset, records, rng)


def _part(split: Split, dataset: str, records: int, rng: np.random.Generator) -> Split:
    count = len(split.train_labels)
    if records > count:
        raise ValueError(f"{dataset} has {count} training records, got {records}")
    kept = np.sort(rng.choice(count, records, replace=False))
    return replace(
        split, train_inputs=split.train_inputs[kept], train_labels=split.train_labels[kept]
    )
