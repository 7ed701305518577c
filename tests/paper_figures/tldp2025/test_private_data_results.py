"""tldp2025's type I: Figure 1, Table 5 and verdicts, on made-up rows whose answer is known."""

from dataclasses import replace

import numpy as np
import pytest

from claims.ledger import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from paper_figures.drawings import DrawingError
from paper_figures.tldp2025.private_data import figure_1, table_5, trained_score, variant_order

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


def claimed(make_claim, **arguments):
    return replace(make_claim(tolerance=0.1, **(ARGUMENTS | arguments)), margin=0.1)


def judged(make_claim, make_results, changes=None, **more):
    return trained_score(claimed(make_claim), make_results(rows(SCORES | (changes or {}), **more)))


def test_a_high_score_below_the_budget_is_confirmed(make_claim, make_results):
    found = judged(make_claim, make_results)
    assert found.verdict == CONFIRMED
    assert found.parts[0].name == "TLDP-G at epsilon 0.9"
    assert "logistic regression" in found.detail and "10,000" in found.detail
    assert "0.02 (tldp-l) and 0.02 (tldp-g)" in found.detail
    assert (found.sizes.records, found.sizes.trials) == (10_000, 4)


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        # The score at epsilon 2 does not count.
        ({"tldp-l": 0.5, "tldp-g": 0.6}, [CONTRADICTED, CONFIRMED]),
        # Another mechanism is far from random.
        ({"gaussian": 0.3}, [CONFIRMED, CONTRADICTED]),
        # The classifier itself is too weak to tell.
        ({"tldp-l": 0.3, "tldp-g": 0.3, "non-private": 0.28}, [INCONCLUSIVE, CONFIRMED]),
    ],
)
def test_a_low_score_a_rival_or_a_weak_classifier(changes, verdicts, make_claim, make_results):
    found = judged(make_claim, make_results, changes)
    assert [part.verdict for part in found.parts] == verdicts
    if "non-private" in changes:
        assert "reaches 0.28 without noise, so 0.9 cannot appear" in found.because


@pytest.mark.parametrize("more", [{"source": "bundled"}, {"epsilons": (2.0,)}])
def test_other_data_or_budgets_decide_nothing(more, make_claim, make_results):
    with pytest.raises(CannotJudge):
        judged(make_claim, make_results, **more)


def variants(make_claim, make_results, epsilons, **changes):
    arguments = {"epsilons": list(epsilons), "slight": 0.1, "alike": 0.02, "negligible": 1e-9}
    claim = replace(make_claim(**arguments), margin=0.01)
    found = variant_order(claim, make_results(rows(SCORES | changes, epsilons=epsilons)))
    return {part.name: part.verdict for part in found.parts}


def test_weights_cannot_matter_where_no_value_is_kept(make_claim, make_results):
    """Even where the made-up scores would support it: e^-387 of an image keeps a value."""
    changes = {"tldp-g-w": 0.87, "tldp-l-w": 0.2}
    assert variants(make_claim, make_results, (0.5, 0.9), **changes) == {
        "TLDP-G above TLDP-L": CONFIRMED,
        "and only slightly": CONFIRMED,
        "TLDP-L-w about TLDP-L": CONFIRMED,
        "TLDP-G-w below TLDP-G": CONTRADICTED,
    }


def test_variants_are_compared_by_scores_where_values_are_kept(make_claim, make_results):
    found = variants(make_claim, make_results, (0.0006,), **{"tldp-g-w": 0.87})
    assert set(found.values()) == {CONFIRMED}
    apart = {"tldp-g-w": 0.87, "tldp-l-w": 0.8, "tldp-g": 0.99}
    found = variants(make_claim, make_results, (0.0006,), **apart)
    assert found["TLDP-L-w about TLDP-L"] == found["and only slightly"] == CONTRADICTED


def test_the_figure_and_the_verdict_read_the_same_means(make_claim, make_results):
    results = make_results(rows())
    drawn = figure_1(results)
    own = drawn.data[(drawn.data["mechanism"] == "tldp-g") & (drawn.data["epsilon"] == 0.9)]
    own = own[own["calibration"] == "published"].iloc[0]
    assert (own["count"], own["classifier"]) == (4, "logistic")
    found = trained_score(claimed(make_claim, below=0.91), results)
    assert found.parts[0].found.startswith(f"{own['mean']:.4g} [")


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
