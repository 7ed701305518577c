"""Rows of the federated studies of mgm2021 around accuracies that a test chooses."""

import numpy as np

EPSILONS = (1.0, 10.0, 1000.0)
IDN, ELEMENT, MVG, MM, WHOLE = (
    "idn",
    "gaussian-per-element",
    "mvg-sqrt",
    "matrix-mechanism",
    "gaussian",
)
MARGIN = 0.02


def runs(
    accuracies,
    *,
    dataset="adult",
    source="official",
    study="federated_horizontal",
    trials=10,
    spread=1e-3,
    floor=0.2,
):
    """Rows of one data set: for every mechanism its accuracies at the three budgets."""
    cell = {
        "paper": "mgm2021",
        "study": study,
        "dataset": dataset,
        "data_source": source,
        "delta": 1e-5,
    }
    rows = [cell | {"metric": metric, "value": 100.0} for metric in ("records", "uses")]
    rng = np.random.default_rng(0)
    controls = {"random-answer": (floor,) * 3, "non-private": (0.95,) * 3}
    for mechanism, values in (controls | accuracies).items():
        for trial in range(trials):
            for epsilon, value in zip(EPSILONS, values, strict=True):
                at = {"mechanism": mechanism, "trial": trial, "epsilon": epsilon}
                value = value + spread * rng.standard_normal()
                rows.append(cell | at | {"metric": "final_test_accuracy", "value": value})
                rows.append(cell | at | {"metric": "test_accuracy", "round": 3, "value": value})
    return rows


def ordered(*means, names=(IDN, ELEMENT, MVG), **kind):
    return runs({m: (v,) * 3 for m, v in zip(names, means, strict=True)}, **kind)
