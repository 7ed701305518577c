"""tldp2025's type I: Figure 1, Table 5 and verdicts, on made-up rows whose answer is known."""

import numpy as np
import pytest

from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from paper_figures.drawings import DrawingError
from paper_figures.tldp2025.private_data import figure_1, table_5, variant_order

SCORES = {
    "non-private": 0.95,
    "random-answer": 0.06,
    "laplace": 0.05,
    "gaussian": 0.08,
    "tldp-l": 0.85,
    "tldp-g": 0.89,
    "tldp-l-w": 0.85,
    "tldp-g-w": 0.89,
}


def rows(scores=SCORES, source="official", epsilons=(0.5, 0.9, 2.0), trials=4):
    """Scores with a little spread; beyond epsilon 1 those of TLDP are 0.94, exact ones 0.02."""
    rng = np.random.default_rng(1)
    found = []
    for mechanism, score in scores.items():
        for epsilon in epsilons:
            cell = {
                "paper": "tldp2025",
                "study": "private_data",
                "dataset": "mnist",
                "data_source": source,
                "shape": "28x28",
                "mechanism": mechanism,
                "epsilon": epsilon,
                "delta": 1e-5,
            }
            found.append(cell | {"metric": "records", "value": 10_000.0})
            level = 0.94 if epsilon > 1 and "tldp" in mechanism else score
            for trial in range(trials):
                value = {"metric": "f1", "classifier": "logistic", "trial": trial}
                noise = rng.normal(0, 0.002)
                found.append(cell | value | {"value": level + noise})
                found.append(cell | value | {"value": 0.02, "calibration": "exact"})
    return found


ARGUMENTS = {"dataset": "mnist", "below": 1.0, "stated": 0.9, "others": ["laplace", "gaussian"]}


def test_the_caption_of_figure_1_is_short_and_the_note_has_the_conditions(make_results):
    scores = {"tldp-g": 0.9, "random-answer": 0.1}
    three = [
        row | {"dataset": name}
        for name in ("mnist", "cifar10", "svhn")
        for row in rows(scores, epsilons=(0.5,))
    ]
    drawn = figure_1(make_results(three))
    assert len(drawn.caption.split()) <= 70
    assert "Data: CIFAR-10, MNIST and SVHN (official data)" in drawn.caption
    assert "4 trials" in drawn.caption
    assert "CIFAR-10: 10,000 training images, logistic regression" in drawn.note


def test_table_5_has_the_stated_error_over_the_measured_one(make_results):
    """An image of 64 pixels: Laplace noise of scale 64, and TLDP-G noise of variance 1/2."""
    cell = {"study": "private_data", "dataset": "digits", "shape": "8x8", "epsilon": 1.0}
    errors = {"laplace": 64 * 2 * 64.0**2, "tldp-g": 64 / 2, "llagp": 1.0}
    given = [
        cell | {"mechanism": key, "metric": metric, "value": value}
        for key, value in errors.items()
        for metric in ("expected_loss", "squared_error")
    ]
    table = table_5(make_results(given)).data.set_index("mechanism")
    assert list(table.index) == ["laplace", "tldp-g"]
    assert table.loc["laplace", "stated / measured"] == pytest.approx(1.0)
    # Stated with 1 / (2 epsilon) in place of its root.
    assert table.loc["tldp-g", "stated error"] == pytest.approx(4.0, rel=1e-6)
    assert table.loc["tldp-g", "measured"] == pytest.approx(32**0.5)


@pytest.mark.parametrize("draw", [figure_1, table_5])
def test_nothing_is_drawn_without_the_study(draw, make_results):
    with pytest.raises(DrawingError, match="private_data; run it first"):
        draw(make_results([{"study": "count_query"}]))


@pytest.mark.parametrize(
    ("ahead", "verdict"),
    [
        ({0.5: 0.04, 0.9: 0.04}, CONFIRMED),
        ({0.5: 0.04, 0.9: 0.4}, INCONCLUSIVE),
        ({0.5: 0.4, 0.9: 0.4}, CONTRADICTED),
    ],
)
def test_a_slight_lead_is_decided_where_all_epsilons_agree(make_results, ahead, verdict):
    """Which of them are the paper's is not stated."""
    made = [
        row | {"value": 0.8 - lead}
        for epsilon, lead in ahead.items()
        for row in rows({"tldp-l": 0.8}, epsilons=(epsilon,))
        if row["metric"] == "f1" and "calibration" not in row
    ]
    made += rows({"tldp-g": 0.8, "tldp-g-w": 0.8, "tldp-l-w": 0.8}, epsilons=tuple(ahead))
    settings = {"slight": 0.1, "alike": 0.02, "negligible": 1e-9, "margin": 0.01}
    found = variant_order(make_results(made), epsilons=list(ahead), **settings)
    assert found.parts[1].verdict == verdict
