"""Releases and scores, shared by the studies in which every user protects their own records."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from learning.records.labelled import Split
from learning.releases import protected, squared_error
from learning.training.classifiers import in_units, weighted_f1
from mechanisms import Mechanism
from studies.base import Case, Point, Value


def scored_releases(
    mechanism: Mechanism,
    split: Split,
    predicted: Callable[[Split, int], np.ndarray],
    case: Case,
    point: Point,
    at: Mapping[str, object] | None = None,
) -> Iterator[Value]:
    """Release all training records in every trial; yield seconds, error and scores.

    Args:
        split: The clean records.
        predicted: A function that takes the released records, scaled to root mean square 1, and a
            seed, and returns predicted labels of the clean test records.
        at: The coordinates of the scores.
    """
    for trial in case.trials:
        seed = case.seed(point, trial)
        clock = time.perf_counter()
        released = protected(mechanism, split.train_inputs, np.random.default_rng(seed))
        yield Value("release_seconds", time.perf_counter() - clock, trial, timing=True)
        error = squared_error(released, split.train_inputs)
        yield Value("squared_error", error, trial, seed=seed)
        clock = time.perf_counter()
        seen = in_units(replace(split, train_inputs=released))
        found = predicted(seen, case.shared_seed("training", trial))
        yield Value("training_seconds", time.perf_counter() - clock, trial, timing=True)
        right = np.mean(found == split.test_labels)
        yield Value("f1", weighted_f1(split.test_labels, found), trial, at or {}, seed)
        yield Value("accuracy", right, trial, at or {}, seed)
