"""Verdicts on the learning study, on made-up results whose verdict is known; its figures."""

import numpy as np
import pytest

from paper_figures.drawings import DrawingError
from paper_figures.r1smg2024.dpsgd import figure_7, figure_8

TRIALS, EPOCHS = 10, 20


def runs(
    curves,
    *,
    records=60_000,
    source="official",
    calibration="published",
    epsilon=16.983,
    rate=0.15,
    trials=TRIALS,
):
    """Rows of dpsgd on MNIST: the accuracies of every mechanism along its epochs."""
    cell = {
        "study": "dpsgd",
        "dataset": "mnist",
        "data_source": source,
        "calibration": calibration,
        "epsilon": epsilon,
        "delta": 1e-5,
    }
    facts = {"records": records, "sampling_rate": 256 / records, "steps": EPOCHS * records // 256}
    rows = [cell | {"metric": metric, "value": float(value)} for metric, value in facts.items()]
    rng = np.random.default_rng(0)
    for mechanism, curve in curves.items():
        rows.append(cell | {"mechanism": mechanism, "metric": "noise_norm", "value": 3.5})
        for trial in range(trials):
            noise = 1e-4 * rng.standard_normal()
            for epoch, value in enumerate(curve, start=1):
                at = {"mechanism": mechanism, "trial": trial, "epoch": epoch}
                at |= {"learning_rate": rate}
                for metric in ("test_accuracy", "train_accuracy"):
                    rows.append(cell | at | {"metric": metric, "value": value + noise})
    return rows


def order_rows(published, exact, **kind):
    """Rows of both calibrations; r1smg, gaussian and non-private at constant accuracies."""
    names = ("r1smg", "gaussian", "non-private")
    flat = [dict(zip(names, np.outer(v, np.ones(EPOCHS)), strict=True)) for v in (published, exact)]
    del flat[1]["non-private"]
    return [*runs(flat[0], **kind), *runs(flat[1], calibration="exact", **kind)]


def labels(drawn):
    legends = [part.legends[0] for part in drawn.figure.subfigs]
    return {text.get_text() for legend in legends for text in legend.get_texts()}


def test_figure_7_calls_dpsgd_what_it_is_and_bounds_the_true_budgets(make_results):
    rows = order_rows((0.95, 0.9, 0.99), (0.1, 0.9, 0))
    of = {"study": "dpsgd", "dataset": "mnist", "epsilon": 16.983, "delta": 1e-5}
    spent = {
        ("gaussian", "true_epsilon_upper"): 15.0,
        ("r1smg", "true_delta_lower"): 0.0043,
        ("r1smg", "true_delta_upper"): 1.0,
    }
    rows += [of | {"mechanism": m, "metric": k, "value": v} for (m, k), v in spent.items()]
    drawn = figure_7(make_results(rows))
    assert labels(drawn) == {
        "Non-private",
        r"R1SMG: true $\delta$ from 0.0043 to 1",
        r"DPSGD (Gaussian, noise multiplier by RDP): true $\epsilon\leq$15",
        "R1SMG",
        "DPSGD (Gaussian, rescaled)",
        "Random answer",
    }
    assert drawn.caption.startswith("r1smg2024 Figure 7 on MNIST (official data): accuracy")
    assert "60,000 training records, 20 epochs (the paper: 30)" in drawn.note


def test_figure_8_is_figure_7_on_cifar_10(make_results):
    rows = [row | {"dataset": "cifar10"} for row in order_rows((0.95, 0.9, 0.99), (0.1, 0.9, 0))]
    assert figure_8(make_results(rows)).caption.startswith("r1smg2024 Figure 8 on CIFAR-10")
    with pytest.raises(DrawingError, match="Figure 7 needs dpsgd on mnist or digits"):
        figure_7(make_results(rows))
