"""Figure 1 and Table 5 of tldp2025, on made-up rows whose answer is known."""

import pytest

from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from paper_figures.drawings import DrawingError
from paper_figures.tldp2025.private_data import figure_1, others_low, table_5, variant_order


def test_the_caption_of_figure_1_is_short_and_the_note_has_the_conditions(make_results, study_rows):
    kind = {"epsilons": (0.5,), "classifier": "logistic", "shape": "28x28"}
    three = [
        row
        for name in ("mnist", "cifar10", "svhn")
        for row in study_rows("private_data", name, {"tldp-g": 0.9, "random-answer": 0.1}, **kind)
    ]
    drawn = figure_1(make_results(three))
    assert len(drawn.caption.split()) <= 70
    assert "Data: CIFAR-10, MNIST and SVHN (official data)" in drawn.caption
    assert "4 trials" in drawn.caption
    assert "CIFAR-10: 3,000 training images, logistic regression" in drawn.note


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
def test_a_slight_lead_is_decided_where_all_epsilons_agree(
    make_results, study_rows, ahead, verdict
):
    """Which of them are the paper's is not stated."""

    def rows(scores, epsilons):
        kind = {"classifier": "logistic", "shape": "28x28"}
        return study_rows("private_data", "mnist", scores, epsilons, **kind)

    made = rows({"tldp-g": 0.8, "tldp-g-w": 0.8, "tldp-l-w": 0.8}, tuple(ahead))
    for epsilon, lead in ahead.items():
        made += rows({"tldp-l": 0.8 - lead}, (epsilon,))
    settings = {"slight": 0.1, "alike": 0.02, "negligible": 1e-9, "margin": 0.01}
    found = variant_order(make_results(made), epsilons=list(ahead), **settings)
    assert found.parts[1].verdict == verdict


def test_the_sizes_of_every_data_set_name_it(make_results, study_rows):
    given = [
        row
        for name in ("mnist", "cifar10")
        for row in study_rows(
            "private_data",
            name,
            {"gaussian": 0.1, "random-answer": 0.1},
            classifier="logistic",
            shape="28x28",
        )
    ]
    sets = ["mnist", "cifar10"]
    found = others_low(make_results(given), datasets=sets, others=["gaussian"], margin=0.1)
    assert [found.sizes.dataset, *(sizes.dataset for sizes in found.other_sizes)] == sets
