"""Verdicts and figures of the learning study, on made-up results whose verdict is known."""

import itertools

import numpy as np
import pytest

from paper_figures.r1smg2024.dpsgd import (
    epochs_until,
    figure_7,
    figure_7_at_more_rates,
    learning_order,
)

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
    """Rows of dpsgd on MNIST with the accuracies of every mechanism by epoch."""
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


def order_rows(r1smg, gaussian, **kind):
    """Rows with constant accuracies of R1SMG, the Gaussian and training without privacy."""
    accuracies = {"r1smg": r1smg, "gaussian": gaussian, "non-private": 0.99}
    return runs({name: np.full(EPOCHS, value) for name, value in accuracies.items()}, **kind)


def labels(drawn):
    legends = [part.legends[0] for part in drawn.figure.subfigs]
    return {text.get_text() for legend in legends for text in legend.get_texts()}


def test_figure_7_calls_dpsgd_what_it_is_and_bounds_the_true_budgets(make_results):
    rows = order_rows(0.95, 0.9)
    exact = {"r1smg": np.full(EPOCHS, 0.1), "gaussian": np.full(EPOCHS, 0.9)}
    rows += runs(exact, calibration="exact", trials=3)
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
    assert "mean over 10 trials (at equal true privacy: 3)" in drawn.caption
    assert "60,000 training records, 20 epochs (the paper: 30)" in drawn.note


@pytest.mark.parametrize(("best", "scale"), [(0.95, "logit"), (0.6, "linear")])
def test_the_axis_is_logit_where_runs_with_clipping_come_near_1(make_results, best, scale):
    # Training without privacy always comes near 1.
    drawn = figure_7(make_results(order_rows(best, 0.5)))
    assert {axis.get_yscale() for axis in drawn.figure.axes} == {scale}


def rising(epoch):
    """Accuracies that exceed 0.8 from an epoch on."""
    return np.where(np.arange(1, EPOCHS + 1) >= epoch, 0.9, 0.5)


NEVER = EPOCHS + 1


def earlier(results):
    """The part about R1SMG reaching an accuracy of 0.8 earlier."""
    kind = {"study": "dpsgd", "dataset": "mnist", "epsilons": [16.983], "metric": "test_accuracy"}
    judged = epochs_until(results, **kind, level=0.8, margin=4.5)
    ((part,),) = (outcome.parts for outcome in judged.outcomes)
    return part


@pytest.mark.parametrize(
    ("r1smg", "dpsgd", "verdict", "found"),
    [
        (5, 15, "confirmed", "5 (R1SMG) and 15 (DPSGD), by 10"),
        (15, 5, "contradicted", "15 (R1SMG) and 5 (DPSGD), by -10"),
        # An accuracy that is never reached takes more epochs than the run has.
        (5, NEVER, "confirmed", "5 (R1SMG) and at least 21 (DPSGD), by at least 16"),
        (NEVER, 5, "contradicted", "at least 21 (R1SMG) and 5 (DPSGD), by at most -16"),
        (NEVER, NEVER, "inconclusive", "0.8 reached by R1SMG in 0 of 10, best 0.5"),
        # A lead of one epoch, half of which may be rounding, shows nothing.
        (EPOCHS, NEVER, "inconclusive", "0.8 reached by DPSGD in 0 of 10, best 0.5"),
        (5, 5, "not found", "by 0"),
    ],
)
def test_the_first_epoch_of_an_accuracy(make_results, r1smg, dpsgd, verdict, found):
    rows = runs({"r1smg": rising(r1smg), "gaussian": rising(dpsgd)})
    part = earlier(make_results(rows))
    assert part.verdict == verdict
    assert found in str(part)


def test_more_learning_rates_stand_beside_the_others(make_results):
    """The other study has one budget and no run without privacy."""
    curves = {"r1smg": rising(5), "gaussian": rising(15), "non-private": rising(2)}
    rows = [
        row
        for epsilon, rate in itertools.product((1.795, 16.983), (0.15, 1.0))
        for row in runs(curves, epsilon=epsilon, rate=rate)
    ]
    more = runs({"r1smg": rising(5), "gaussian": rising(5)}, rate=0.1)
    # A rate that was run at other budgets alone was not run for the claim.
    more += runs({"r1smg": rising(5), "gaussian": rising(5)}, rate=0.2, epsilon=5)
    results = make_results(rows + [row | {"study": "dpsgd_rates"} for row in more])
    of = {"study": "dpsgd", "beside": ("dpsgd_rates",), "dataset": "mnist"}
    until = epochs_until(
        results, **of, epsilons=[16.983], metric="test_accuracy", level=0.8, margin=4.5
    )
    lead = learning_order(results, **of, epsilons=[1.795, 16.983], margin=0.01)
    best = "each at its best learning rate"
    assert {each.choice: each.verdict for each in until.outcomes} == {
        "learning rate 0.1": "not found",
        "learning rate 0.2": "not run",
        "learning rate 0.15": "confirmed",
        "learning rate 1": "confirmed",
        best: "not found",
    }
    assert {each.choice: (each.verdict, len(each.parts)) for each in lead.outcomes} == {
        "learning rate 0.1": ("not found", 2),
        "learning rate 0.2": ("not run", 1),
        "learning rate 0.15": ("confirmed", 4),
        "learning rate 1": ("confirmed", 4),
        best: ("partly", 4),
    }
    drawn = figure_7_at_more_rates(make_results(more))
    assert drawn.caption.startswith("r1smg2024 Figure 7 at more learning rates on MNIST")


def test_the_stated_noise_multipliers_are_an_outcome_beside_the_learning_rates(make_results):
    """Multiplier 1.1 stands for the total 2.673, whatever it spends."""
    kind = {"records": 50_000, "rate": 1.0}
    rows = runs({"r1smg": rising(3), "gaussian": rising(20)}, epsilon=2.673, **kind)
    other = runs({"gaussian": rising(4)}, epsilon=3.8123, **kind)
    other = [row | {"study": "dpsgd_multipliers", "shape": "4x25"} for row in other]
    noises = {1.1: "not found", 1.2: "not run"}
    for multiplier, verdict in noises.items():
        own = [
            row | ({"value": 10 * multiplier} if row["metric"] == "noise_norm" else {})
            for row in other
        ]
        results = make_results([row | {"dataset": "cifar10"} for row in rows + own])
        of = {"study": "dpsgd", "dataset": "cifar10", "beside": ("dpsgd_multipliers",)}
        # The larger budget was run nowhere.
        of |= {"epsilons": [2.673, 20.713]}
        judged = epochs_until(results, **of, metric="test_accuracy", level=0.8, margin=4.5)
        found = [[part.verdict for part in each.parts] for each in judged.outcomes]
        assert found == [["confirmed", "not run"], [verdict, "not run"][: len(found[1])]]
        assert judged.choice == "the learning rate and the noise multiplier"
        ordered = learning_order(results, **of | {"epsilons": [2.673]}, margin=0.01)
        assert ordered.outcomes[-1].choice.endswith("the stated noise multipliers")


def test_training_without_privacy_at_its_own_rate_is_what_runs_are_close_to(make_results):
    rows = [
        row | {"learning_rate": 0.01} if row.get("mechanism") == "non-private" else row
        for row in order_rows(0.95, 0.8)
    ]
    results = make_results(rows)
    judged = learning_order(results, study="dpsgd", dataset="mnist", epsilons=[16.983], margin=0.01)
    (outcome,) = judged.outcomes
    assert outcome.choice == "learning rate 0.15"
    assert {part.verdict for part in outcome.parts} == {"confirmed"}
    assert all("as much closer to non-private" in part.name for part in outcome.parts)
    assert "Non-private at learning rate 0.01" in labels(figure_7(results))


def test_a_run_that_diverges_reaches_nothing(make_results):
    rows = runs({"r1smg": rising(3), "gaussian": rising(18)})
    (one, *_) = (row for row in rows if row.get("mechanism") == "r1smg" and "trial" in row)
    rows = [row for row in rows if (row.get("mechanism"), row.get("trial")) != ("r1smg", 0)]
    rows += [one | {"metric": "diverged_epoch", "epoch": None, "value": 1.0}]
    part = earlier(make_results(rows))
    # Nine trials lead by 15 epochs, and one is behind by at least 3.
    assert part.verdict == "inconclusive"
    assert "reached by R1SMG in 9 of 10" in part.found
