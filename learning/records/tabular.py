"""Labelled records of numbers and categories, within [-1, 1]."""

from pathlib import Path

import numpy as np
import pandas as pd

from datasets import load as load_dataset
from learning.records.random_split import random_split

SOURCES = {
    "adult": "official",
    "location30": "official",
    "purchase100": "official",
    "texas100": "official",
    "breast_cancer": "bundled",
    "darknet2020": "official",
}
# Numbers of test records if there is no official split: those of mgm2021 Table 3, and a fifth of
# the records for the last two. tldp2025 Table 4 counts DarkNet's flows differently; see
# papers/tldp2025.py.
TESTS = {
    "location30": 3_410,
    "purchase100": 97_324,
    "texas100": 57_330,
    "breast_cancer": 113,
    "darknet2020": 28_306,
}
# Ranges of Adult's numeric attributes: round numbers of our choice around the published data, which
# are treated as public. Capital gains and losses have heavy tails and become logarithms.
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
    """Return float32 features (n, d) in [-1, 1] and labels (n,), training before test.

    The split is the official one for Adult, and random for the others (`TESTS`).
    """
    if dataset == "adult":
        return _adult(load_dataset("adult", folder))
    found = load_dataset(dataset, folder)
    if dataset == "breast_cancer":
        features, labels = columns_scaled(found.features), found.benign
    elif dataset == "darknet2020":
        features = columns_scaled(_numbers(found.flows))
        labels = np.unique(found.traffic, return_inverse=True)[1]
    else:
        features, labels = found.features.astype(np.float32), found.labels
    return random_split(features, labels, TESTS[dataset], rng)


def columns_scaled(features: np.ndarray) -> np.ndarray:
    """Scale every column of (n, d) to [-1, 1], in float32; a constant column becomes zero.

    The ranges are those of the records, as in the papers, so the scaling is not private.
    """
    from sklearn.preprocessing import minmax_scale

    scaled = minmax_scale(features, feature_range=(-1, 1))
    scaled[:, np.ptp(features, axis=0) == 0] = 0
    return scaled.astype(np.float32)


def _adult(found) -> tuple[np.ndarray, ...]:
    """Return Adult's 105 features and its labels, training before test.

    The features are six numbers, and every category of the eight other attributes as 0 or 1. A
    missing category is zero in all of its attribute's features. The 105 x 12 layer of mgm2021 has
    as many inputs.
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
    """Return the numeric columns (n, d); their medians replace missing and infinite values.

    Addresses and times are text and are left out.
    """
    numbers = flows.select_dtypes("number").replace([np.inf, -np.inf], np.nan)
    return numbers.fillna(numbers.median()).to_numpy(np.float64)
