"""Verdicts on the learning study, on made-up results whose verdict is known; its figures."""

from dataclasses import replace

import numpy as np
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, DEPENDS, INCONCLUSIVE, NOT_FOUND
from paper_figures.drawings import DrawingError
from paper_figures.r1smg2024.dpsgd import figure_7, figure_8
from paper_figures.r1smg2024.dpsgd_verdicts import epochs_until, learning_order

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


def reaching(epoch):
    """A curve that passes 0.95 at an epoch."""
    return np.where(np.arange(1, EPOCHS + 1) < epoch, 0.9, 0.97)


@pytest.fixture
def epochs_claim(make_claim):
    claim = make_claim(dataset="mnist", epsilons=[16.983], metric="test_accuracy", level=0.95)
    return replace(claim, margin=4.5)


@pytest.mark.parametrize(
    ("r1smg", "gaussian", "expected"),
    [
        (5, 14, CONFIRMED),
        (14, 5, CONTRADICTED),
        (9, 9, NOT_FOUND),
        (5, 99, INCONCLUSIVE),
    ],
)
def test_epochs_until(r1smg, gaussian, expected, epochs_claim, make_results):
    rows = runs({"r1smg": reaching(r1smg), "gaussian": reaching(gaussian)})
    found = epochs_until(epochs_claim, make_results(rows))
    assert found.verdict == expected
    assert found.sizes.trials == TRIALS
    assert ("DPSGD in 0 of 10, best 0.9" in found.ours) == (gaussian > EPOCHS)


def test_few_trials_find_no_absence(epochs_claim, make_results):
    rows = runs({"r1smg": reaching(9), "gaussian": reaching(9)}, trials=3)
    found = epochs_until(epochs_claim, make_results(rows))
    assert found.verdict == INCONCLUSIVE
    assert "dpsgd.datasets [mnist] and 10 trials" in found.decided_by


def test_learning_rates_that_differ_make_the_claim_depend(epochs_claim, make_results):
    rows = runs({"r1smg": reaching(9), "gaussian": reaching(9)})
    rows += runs({"r1smg": reaching(2), "gaussian": reaching(12)}, rate=4.0)
    found = epochs_until(epochs_claim, make_results(rows))
    assert [outcome.verdict for outcome in found.outcomes] == [NOT_FOUND, CONFIRMED]
    assert found.verdict == DEPENDS
    assert found.choice == "the learning rate"


def order_rows(published, exact, **kind):
    """Rows of both calibrations; r1smg, gaussian and non-private at constant accuracies."""
    names = ("r1smg", "gaussian", "non-private")
    flat = [dict(zip(names, np.outer(v, np.ones(EPOCHS)), strict=True)) for v in (published, exact)]
    del flat[1]["non-private"]
    return [*runs(flat[0], **kind), *runs(flat[1], calibration="exact", **kind)]


@pytest.fixture
def order_claim(make_claim):
    return replace(make_claim(dataset="mnist", epsilons=[16.983]), margin=0.01)


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ((0.95, 0.9, 0.99), CONFIRMED),
        ((0.9, 0.9, 0.99), NOT_FOUND),
        ((0.85, 0.9, 0.99), CONTRADICTED),
        # No signal: as good as a random answer, and as good as without noise.
        ((0.105, 0.1, 0.15), INCONCLUSIVE),
        ((0.989, 0.987, 0.99), INCONCLUSIVE),
    ],
)
def test_learning_order(published, expected, order_claim, make_results):
    found = learning_order(order_claim, make_results(order_rows(published, (0.1, 0.9, 0))))
    assert found.verdict == expected
    assert found.sizes.trials == TRIALS
    assert "R1SMG minus DPSGD is -0.8 and -0.8" in found.detail
    assert "root mean square norm 3.5 (DPSGD), 3.5 (R1SMG)" in found.detail


def test_more_accurate_is_not_closer_beyond_the_run_without_privacy(order_claim, make_results):
    rows = order_rows((0.99, 0.9, 0.92), (0.1, 0.9, 0))
    (outcome,) = learning_order(order_claim, make_results(rows)).outcomes
    verdicts = {part.name.split()[0]: part.verdict for part in outcome.parts}
    assert verdicts == {"higher": CONFIRMED, "closer": CONTRADICTED}


def test_below_the_run_without_privacy_higher_and_closer_are_one_effect(order_claim, make_results):
    rows = order_rows((0.95, 0.9, 0.99), (0.1, 0.9, 0))
    (outcome,) = learning_order(order_claim, make_results(rows)).outcomes
    assert [part.name for part in outcome.parts] == [
        f"higher, and as much closer to non-private, {kind} accuracy, epsilon 16.983"
        for kind in ("test", "train")
    ]


def test_nothing_is_close_to_a_run_without_privacy_that_fails(order_claim, make_results):
    """Training without privacy does not clip, and can fail where clipped training does not."""
    rows = order_rows((0.98, 0.93, 0.1135), (0.1, 0.9, 0))
    (outcome,) = learning_order(order_claim, make_results(rows)).outcomes
    assert {part.name: part.verdict for part in outcome.parts} == {
        f"higher {kind} accuracy, epsilon 16.983": CONFIRMED for kind in ("test", "train")
    }


def test_only_official_data_are_judged(order_claim, make_results):
    rows = order_rows((0.95, 0.9, 0.99), (0.1, 0.9, 0), source="bundled")
    with pytest.raises(CannotJudge, match="data_source official"):
        learning_order(order_claim, make_results(rows))


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
