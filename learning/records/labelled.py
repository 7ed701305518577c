"""Labelled records of every data set as arrays for training and testing."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from learning.records import citation_graph, images, tabular, texts

_KINDS = (citation_graph, images, tabular, texts)
# Where each data set comes from: official, bundled or simulated.
SOURCES = {name: source for kind in _KINDS for name, source in kind.SOURCES.items()}


@dataclass(frozen=True, kw_only=True)
class Split:
    """Training and test records: inputs (n, ...) and int64 labels (n,), 0..classes-1.

    The input of one record, float32 except for texts, is
    - an image (channels, height, width) in [0, 1];
    - a row of a table (features,) in [-1, 1];
    - a text (words,) of int64 word numbers, with 0 in the empty places before the first word;
    - the neighbourhood of a node of a graph (neighbours, 2), see `citation_graph.load`.
    """

    train_inputs: np.ndarray
    train_labels: np.ndarray
    test_inputs: np.ndarray
    test_labels: np.ndarray


def load(dataset: str, folder: Path, records: int | None, seed: int) -> Split:
    """Load a data set with its official split, or with the split that its module documents.

    Args:
        dataset: A key of SOURCES.
        folder: The folder of downloaded data.
        records: Number of training records to keep, drawn without replacement; None for all.
        seed: Seed of these draws, and of the split unless it is official.

    Raises:
        ValueError: The data set has fewer than `records` training records.
        DataError: The files are missing or wrong.
    """
    rng = np.random.default_rng(seed)
    kind = next(kind for kind in _KINDS if dataset in kind.SOURCES)
    inputs, labels, test_inputs, test_labels = kind.load(dataset, folder, rng)
    split = Split(
        train_inputs=inputs,
        train_labels=labels.astype(np.int64),
        test_inputs=test_inputs,
        test_labels=test_labels.astype(np.int64),
    )
    if records is None:
        return split
    count = len(labels)
    if records > count:
        raise ValueError(
            f"records must be at most {count}, the number of training records of {dataset}, got "
            f"{records}; lower it"
        )
    kept = np.sort(rng.choice(count, records, replace=False))
    return replace(
        split, train_inputs=split.train_inputs[kept], train_labels=split.train_labels[kept]
    )
