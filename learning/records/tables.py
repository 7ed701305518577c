"""Labelled records of numbers and categories, scaled to [-1, 1]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from datasets import load as load_dataset
from learning.records.held_out import held_out

SOURCES = {
    "adult": "official",
    "location30": "official",
    "purchase100": "official",
    "texas100": "official",
    "breast_cancer": "bundled",
    "darknet2020": "official",
}
CLASSES = {
    "adult": 2,
    "location30": 30,
    "purchase100": 100,
    "texas100": 100,
    "breast_cancer": 2,
    "darknet2020": 4,
}
# Test records where there is no official split: mgm2021 Table 3, and a fifth of the last two (of
# DarkNet's 141,530 flows tldp2025 Table 4 has 28,297 for the test and 113,184 for training).
TESTS = {
    "location30": 3_410,
    "purchase100": 97_324,
    "texas100": 57_330,
    "breast_cancer": 113,
    "darknet2020": 28_306,
}
# Ranges of Adult's numbers, from its documentation and not from the records. Capital gains and
# losses are heavy-tailed, so that their logarithms are taken.
_ADULT_RANGES = {
    "age": (0, 100),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 100_000),
    "hours-per-week": (0, 100),
}
_LOGARITHMIC = ("capital-gain", "capital-loss")


def load(dataset: str, folder: Path, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """float32 features (n, d) in [-1, 1] and labels, training before test.

    The split is the official one for Adult, and random for the others (`TESTS`).
    """
    if dataset == "adult":
        return _adult(load_dataset("adult", folder))
    found = load_dataset(dataset, folder)
    if dataset == "breast_cancer":
        features, labels = spread(found.features), found.benign
    elif dataset == "darknet2020":
        features = spread(_numbers(found.flows))
        labels = np.unique(found.traffic, return_inverse=True)[1]
    else:
        features, labels = found.features.astype(np.float32), found.labels
    return held_out(features, labels, TESTS[dataset], rng)


def spread(features: np.ndarray) -> np.ndarray:
    """Columns of (n, d), each moved and scaled to [-1, 1], float32; a constant one becomes zero.

    The ranges are those of the records, as in the papers: this scaling is not private.
    """
    low, high = features.min(axis=0), features.max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    return ((features - middle) / np.where(half > 0, half, 1)).astype(np.float32)


def _adult(found) -> tuple[np.ndarray, ...]:
    """105 features: six numbers, and every category of the eight other attributes as 0 or 1.

    A missing category is a zero for all. 105 is the number of mgm2021's gradient shape.
    """
    frames = pd.concat([found.train, found.test])
    columns = [
        _scaled(frames[name], low, high, name in _LOGARITHMIC)
        for name, (low, high) in _ADULT_RANGES.items()
    ]
    for name in frames.columns.difference([*_ADULT_RANGES, "income"], sort=False):
        columns += [frames[name] == value for value in sorted(frames[name].dropna().unique())]
    features = np.stack(columns, axis=1).astype(np.float32)
    labels = (frames["income"] == ">50K").to_numpy()
    count = len(found.train)
    return features[:count], labels[:count], features[count:], labels[count:]


def _scaled(values: pd.Series, low: float, high: float, logarithmic: bool) -> np.ndarray:
    if logarithmic:
        return np.log1p(values) / np.log1p(high)
    return (values - low) / (high - low)


def _numbers(flows: pd.DataFrame) -> np.ndarray:
    """The columns of numbers (n, d); what is missing or infinite counts as the column's median.

    Addresses and times, which are text, are left out.
    """
    numbers = flows.select_dtypes("number").replace([np.inf, -np.inf], np.nan)
    return numbers.fillna(numbers.median()).to_numpy(np.float64)
