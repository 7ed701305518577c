"""The order of two mechanisms does not depend on the number of records.

TLDP-G and TLDP-L run in the protocol of studies/private_data.py, on parts of MNIST and on all of
it. The budgets lie on both sides of epsilon 4, where the order of their noise changes.
"""

import os
from dataclasses import replace

import numpy as np
import pytest

import datasets
from learning.records import labelled
from learning.releases import protected
from learning.training.classifiers import in_units, logistic, weighted_f1
from mechanisms import Budget, get_mechanism
from mechanisms.query.box_query import box_query
from papers.tldp2025 import PIXELS

SIZES, EPSILONS, TRIALS = (1_000, 10_000, 60_000), (0.9, 10.0), 3
SHAPE = (28, 28)


def scores(split, name, epsilon):
    """The F1 scores (TRIALS,) on clean test images after training on releases."""
    mechanism = get_mechanism(name).calibrate(
        box_query(SHAPE, *PIXELS), Budget(epsilon=epsilon, delta=0.0)
    )
    found = []
    for trial in range(TRIALS):
        released = protected(mechanism, split.train_inputs, np.random.default_rng(trial))
        predicted = logistic(in_units(replace(split, train_inputs=released)))
        found.append(weighted_f1(split.test_labels, predicted))
    return np.array(found)


@pytest.mark.skipif("DATA_MIRROR" not in os.environ, reason="needs DATA_MIRROR with official data")
def test_parts_of_the_data_have_the_order_of_all_records(tmp_path, capsys):
    datasets.fetch("mnist", tmp_path, mirror=os.environ["DATA_MIRROR"])
    orders = set()
    for size in SIZES:
        split = labelled.load("mnist", tmp_path, size, 0)
        for epsilon in EPSILONS:
            of_g, of_l = (scores(split, name, epsilon) for name in ("tldp-g", "tldp-l"))
            lead = (of_g - of_l).mean()
            orders.add((epsilon, bool(lead > 0)))
            with capsys.disabled():
                print(
                    f"\n{size:,} records, epsilon {epsilon:g}: F1 of TLDP-G {of_g.mean():.3f}, of "
                    f"TLDP-L {of_l.mean():.3f}, lead {lead:.3f} "
                    f"+- {(of_g - of_l).std(ddof=1) / TRIALS**0.5:.3f}"
                )
    assert len(orders) == len(EPSILONS)
