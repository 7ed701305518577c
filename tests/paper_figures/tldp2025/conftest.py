"""Made-up scores of tldp2025's studies."""

import numpy as np
import pytest


@pytest.fixture
def study_rows():
    """Make four trials of every F1 score with a little spread; exact scores are 0.3."""

    def make(study, dataset, scores, epsilons=(10.0, 500.0), **more):
        rng = np.random.default_rng(1)
        found = []
        for mechanism, score in scores.items():
            for epsilon in epsilons:
                cell = {
                    "paper": "tldp2025",
                    "study": study,
                    "dataset": dataset,
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    "delta": 1e-5,
                    "range": "clip",
                } | more
                found += [
                    cell | {"metric": fact, "value": 3000.0}
                    for fact in ("records", "public_records", "rounds")
                ]
                for trial in range(4):
                    value = {"metric": "f1", "trial": trial}
                    found.append(cell | value | {"value": score + rng.normal(0, 0.002)})
                    found.append(cell | value | {"value": 0.3, "calibration": "exact"})
        return found

    return make
