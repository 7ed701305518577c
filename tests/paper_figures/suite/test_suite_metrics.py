"""The four measures of noise, on made-up rows and in closed form."""

import pytest

from claims.mechanism_titles import OWN
from extend.mechanism import MyMechanism
from paper_figures.mvg2018.draws import COMPONENT, RECORDS
from paper_figures.suite import metrics as table
from papers.mvg2018 import FIRST_COMPONENT
from papers.r1smg2024 import setting


@pytest.fixture
def drawn(make_results, make_guarantee_rows, monkeypatch):
    """The table at two settings; MVG has a score and seconds in the study of the first one."""
    monkeypatch.setattr(
        table, "PAPER_SETTINGS", (FIRST_COMPONENT, setting("r1smg2024-count-1e-05"))
    )
    monkeypatch.setitem(OWN, MyMechanism.key, MyMechanism)
    rows = make_guarantee_rows("imgm", {FIRST_COMPONENT.name: "holds"}, expected_loss=1.0)
    rows = [row | {"calibration": "exact"} for row in rows]
    own = {
        "study": "first_component", "mechanism": "mvg", "calibration": "published",
        "shape": "4x4", "epsilon": 1.0, "status": "ok",
    }  # fmt: skip
    scores = [
        own | {"metric": "error", "treatment": name, "share": share, "value": value, "trial": 0}
        for name, share, value in (
            ("iid", None, 0.5), ("anc0-anc3", 0.95, 0.4), ("anc0-anc3", 0.55, 9.0)
        )
    ]  # fmt: skip
    timings = [
        own | {"metric": "release_seconds", "value": v, "trial": v, "treatment": name, "share": tau}
        for name, tau, v in (("iid", None, 1.0), ("iid", None, 2.0), ("iid", None, 9.0),
                             ("anc0-anc3", 0.95, 3.0))
    ]  # fmt: skip
    drawn = table.metrics(make_results(rows + scores, timings))
    assert len(drawn.caption.split()) <= 70
    return drawn.data.set_index(["setting", "mechanism"])


def test_moments_are_those_of_closed_forms(drawn):
    component = drawn.loc[FIRST_COMPONENT.name]
    # ||n||^2 of M i.i.d. normals has kurtosis 3 + 12/M about the mean; M is 16.
    assert component.loc["IMGM", "kurtosis about the mean"] == pytest.approx(3 + 12 / 16)
    # Directional noise has heavier tails than noise of equal precision, and is larger.
    for column in ("kurtosis about the mean", "kurtosis about zero", "expected loss"):
        assert component.loc["MVG, tau 0.95", column] > component.loc["MVG", column]
    r1smg = drawn.loc["r1smg2024-count-1e-05"].loc["R1SMG"]
    assert r1smg["kurtosis about zero"] == pytest.approx(35 / 3)
    assert r1smg["expected loss"] == pytest.approx(4.0211e5, rel=1e-4)
    away = (drawn["sampled loss"] - drawn["expected loss"]).abs() / drawn["standard error"]
    assert away.max() < 5


def test_scores_and_seconds_are_those_of_the_study(drawn):
    component = drawn.loc[FIRST_COMPONENT.name]
    assert component.loc["MVG", "score"] == 0.5
    assert component.loc["MVG, tau 0.95", "score"] == 0.4
    assert component["seconds of a draw"][["MVG", "MVG, tau 0.95"]].tolist() == [2.0, 3.0]
    losses = component["loss at equal true privacy"]
    assert losses["MVG, tau 0.95"] < component.loc["MVG, tau 0.95", "expected loss"]
    assert component.loc["IMGM", "loss at equal true privacy"] == 1.0
    assert component["scored by"].to_dict()["MVG"] == "error"


def test_a_mechanism_of_also_has_rows(drawn):
    own = drawn.loc[FIRST_COMPONENT.name].loc[MyMechanism.title]
    assert abs(own["sampled loss"] - own["expected loss"]) < 5 * own["standard error"]


def test_informative_features_are_those_of_the_papers_words():
    from datasets.loaders import cardiotocography, liver_disorders

    regression, component, covariance = table.INFORMATIVE.values()
    records = (*liver_disorders.FEATURES, "drinks")
    assert [records[i] for i in regression] == ["sgpt", "drinks"]
    assert [cardiotocography.FEATURES[i] for i in covariance] == ["LB", "ASTV", "ALTV"]
    drawn = [COMPONENT.sets, RECORDS.sets]
    assert [component, covariance] == [
        each[name] for each, name in zip(drawn, table.RIGHT[1:], strict=True)
    ]
