"""Figure 4 and the verdict on Table 6 of mvg2018 on made-up results."""

import matplotlib.pyplot as plt
import pytest

from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_FOUND,
    NOT_RUN,
    PARTLY,
)
from paper_figures.mvg2018 import three_studies
from paper_figures.mvg2018.three_studies import (
    comparable_directions,
    figure_4,
    study_times,
    table_6,
)
from tests.paper_figures.mvg2018.made_up_trials import (
    COMPONENT,
    STUDIES,
    TRIALS,
    blind_rows,
    rows_of,
)


def seconds_of(means):
    """Timings in every study."""
    return [row for s in STUDIES for row in rows_of(s, means, metric="release_seconds")]


@pytest.fixture
def scores():
    means = {"mvg right 0.55": 1, "mvg right 0.95": 1, "laplace": 2}
    return [row for study in STUDIES for row in rows_of(study, means)]


def cost_claim(make_claim):
    """MVG is slower than Laplace noise and faster than JL in every study."""
    return make_claim(
        0.25,
        faster={study: ["laplace"] for study in STUDIES},
        slower={study: ["jl"] for study in STUDIES},
    )


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"laplace": 1, "jl": 9}, CONFIRMED),
        ({"laplace": 5, "jl": 1}, CONTRADICTED),
        ({"laplace": 5, "jl": 9}, PARTLY),
        # The machine's state can make that much.
        ({"laplace": 3.4, "jl": 2.7}, NOT_FOUND),
        ({"laplace": 1}, PARTLY),
    ],
)
def test_times(means, expected, scores, make_claim, make_results):
    # Other treatments and shares of MVG do not decide, nor does the subspace.
    other = {"mvg iid": 99, "mvg right 0.55": 3, "mvg right 0.95": 99, "laplace subspace": 99}
    timings = seconds_of(other | means)
    claim = cost_claim(make_claim)
    given, decomposed = study_times(claim, make_results(scores, timings)).outcomes
    assert given.verdict == expected
    assert decomposed.verdict == NOT_RUN

    # Nor do releases that a busy machine interrupts.
    for row in timings[:: TRIALS // 4]:
        if row["mechanism"] in means:
            row["value"] *= 100
    given, _ = study_times(claim, make_results(scores, timings)).outcomes
    assert given.verdict == expected


@pytest.mark.parametrize(("svd", "expected"), [(1, CONFIRMED), (20, DEPENDS)])
def test_an_svd_per_draw_adds_its_seconds(svd, expected, scores, make_claim, make_results):
    timings = seconds_of({"mvg right 0.55": 3, "laplace": 1, "jl": 9})
    timings += [
        row | {"metric": "svd_seconds", "value": svd, "trial": None}
        for study in STUDIES
        for row in rows_of(study, {"mvg iid": 1})[:1]
    ]
    found = study_times(cost_claim(make_claim), make_results(scores, timings))
    assert found.verdict == expected
    assert not found.decided_by


def test_times_that_miss_the_svd_are_decided_by_a_run(scores, make_claim, make_results):
    timings = seconds_of({"mvg right 0.55": 3, "laplace": 1, "jl": 9})
    found = study_times(cost_claim(make_claim), make_results(scores, timings))
    assert found.verdict == INCONCLUSIVE
    assert "runs redo reference" in found.decided_by


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        # One of the sets is enough.
        ({"near": 1.0001, "far": 2}, CONFIRMED),
        ({"near": 2, "far": 3}, CONTRADICTED),
    ],
)
@pytest.mark.parametrize("blind", [5, 1])
def test_comparable_directions(others, expected, blind, make_claim, make_results, monkeypatch):
    monkeypatch.setattr(three_studies, "FIRST_COMPONENT", COMPONENT)
    means = {"mvg right 0.55": 1} | {f"mvg {name} 0.55": mean for name, mean in others.items()}
    studies = ("regression", "first_component")
    rows = [row for study in studies for row in rows_of(study, means, spread=1e-5)]
    rows += [row for study in studies for row in blind_rows(study, blind)]
    claim = make_claim(
        others={study: list(others) for study in studies}, margins=dict.fromkeys(studies, 0.01)
    )
    found = comparable_directions(claim, make_results(rows))
    # Errors no smaller than those of predicting zero, or of a random answer, say nothing.
    assert [part.verdict for part in found.parts] == [INCONCLUSIVE if blind == 1 else expected] * 2


def test_table_6_has_medians_of_the_whole_query_in_milliseconds(scores, make_results):
    timings = seconds_of({"laplace": 2e-3, "laplace subspace": 9})
    table = table_6(make_results(scores, timings)).data
    assert table["mechanism"].tolist() == ["Laplace"]
    for study in ("Exp. I", "Exp. II", "Exp. III"):
        assert table[study].tolist() == pytest.approx([2], rel=0.02)
    assert table["paper"].tolist() == ["0.4, 0.5, 8.0"]


def test_figure_4_draws_every_treatment_of_mvg(make_results):
    means = {"mvg iid": 3, "mvg right 0.55": 1, "mvg right 0.95": 2, "mvg-sqrt iid": 9, "jl": 9}
    rows = [row for study in STUDIES for row in rows_of(study, means)]
    drawn = figure_4(make_results(rows))
    plt.close(drawn.figure)
    for study in STUDIES:
        lines = drawn.data[drawn.data["study"] == study]
        assert lines["treatment"].tolist() == ["iid", "right", "right"]
        assert lines["share"].tolist()[1:] == [0.55, 0.95]
        assert lines["mean"].tolist() == pytest.approx([3, 1, 2], rel=0.02)
        assert (lines["low"] < lines["mean"]).all()
        assert (lines["mean"] < lines["high"]).all()
