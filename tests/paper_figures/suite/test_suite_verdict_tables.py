"""The verdict tables, on rows whose verdict is known."""

import pytest

from claims.judged_rows import calibrated
from mechanisms.verification.verification import verify
from paper_figures.drawings import DrawingError
from paper_figures.suite.verdict_tables import summary, verdicts
from papers.settings import PAPER_SETTINGS

SHOWN = "mgm2021-mnist"


def test_tables_count_verdicts_and_find_the_worst_setting(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("mgm", {SHOWN: "loose"}, true_epsilon=0.5, wasted_variance=9.0)
    rows += make_guarantee_rows("mgm", {"mgm2021-adult": "refuted"}, true_epsilon=3.0)
    rows += make_guarantee_rows("somebody-elses", {SHOWN: "undecided"})
    rows += make_guarantee_rows("non-private", {SHOWN: "refuted"})
    table = verdicts(make_results(rows)).data
    assert table["mechanism"].tolist() == ["mgm", "mgm", "somebody-elses"]
    assert table["verdict"].tolist() == ["loose", "refuted", "undecided"]
    row = summary(make_results(rows)).data.set_index("mechanism").loc["mgm"]
    assert row[["holds", "loose", "refuted", "undecided"]].tolist() == [0, 1, 1, 0]
    assert (row["worst setting"], row["true epsilon there"]) == ("mgm2021-adult", 3.0)
    assert (row["least variance over need"], row["largest variance over need"]) == (1.0, 9.0)


def test_the_worst_setting_is_one_whose_delta_can_be_printed(make_results, make_guarantee_rows):
    def rows_of(deltas):
        epsilons = {SHOWN: 9.0, "mgm2021-adult": 3.0}
        return [
            row | ({"value": deltas[name]} if row["metric"].startswith("true_delta") else {})
            for name, epsilon in epsilons.items()
            for row in make_guarantee_rows("mgm", {name: "refuted"}, true_epsilon=epsilon)
        ]

    some = summary(make_results(rows_of({SHOWN: 0.0, "mgm2021-adult": 1e-3}))).data.iloc[0]
    assert (some["worst setting"], some["true delta there"]) == ("mgm2021-adult", 1e-3)
    none = summary(make_results(rows_of({SHOWN: 0.0, "mgm2021-adult": 0.0})))
    assert none.data["worst setting"].iloc[0] == SHOWN
    assert none.data["true delta there"].isna().all()
    assert "below the smallest floating-point number" in none.note


def test_a_variant_has_the_theorem_of_its_class_and_the_range_that_its_run_met(
    make_results, make_guarantee_rows
):
    rows = make_guarantee_rows("mvg-sqrt", {SHOWN: "loose"})
    beyond = make_guarantee_rows("r1-again", {SHOWN: "refuted"})
    rows += [row | {"message": "r1smg: the theorem is claimed for less"} for row in beyond]
    table = verdicts(make_results(rows)).data.set_index("mechanism")
    assert table["theorem"].to_dict() == {"mvg-sqrt": "Theorem 3", "r1-again": ""}
    counts = summary(make_results(rows)).data.set_index("mechanism")
    assert counts["settings in its range"].to_dict() == {"mvg-sqrt": 1, "r1-again": 0}
    assert counts["refuted in its range"].to_dict() == {"mvg-sqrt": 0, "r1-again": 0}


def test_controls_alone_have_no_verdict(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("non-private", {SHOWN: "refuted"})
    with pytest.raises(DrawingError, match="no verdict"):
        verdicts(make_results(rows))


def test_a_claim_without_a_known_need_rests_on_an_upper_bound(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("hb", {SHOWN: "holds"}, wasted_variance=float("nan"))
    rows += make_guarantee_rows("tldp-l", {SHOWN: "refuted"}, wasted_variance=float("nan"))
    rows += make_guarantee_rows("mgm", {SHOWN: "loose"}, wasted_variance=9.0)
    table = verdicts(make_results(rows)).data.set_index("mechanism")
    assert table["profile"].to_dict() == {"mgm": "exact", "hb": "upper bound", "tldp-l": "exact"}
    counts = summary(make_results(rows)).data.set_index("mechanism")["profile is a bound"]
    assert counts.to_dict() == {"mgm": 0, "hb": 1, "tldp-l": 0}


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("l2", "exact"),
        ("r1smg", "exact"),
        # Pure claims whose true epsilon is known, and one whose true epsilon is not.
        ("laplace", "exact"),
        ("hb", "exact"),
        ("exponential", "upper bound"),
        # Refuted by kept values alone.
        ("tldp-l", "upper bound"),
        ("dawa-published", "lower bound"),
    ],
)
def test_the_table_says_what_its_true_values_are(key, kind, make_results, make_guarantee_rows):
    setting = next(setting for setting in PAPER_SETTINGS if setting.name == "mvg2018-component")
    result = verify(calibrated(key, setting.query, setting.budget))
    rows = make_guarantee_rows(
        key,
        {setting.name: result.verdict},
        claimed_delta=result.claimed_delta,
        true_delta=result.true_delta.value,
        true_delta_lower=result.true_delta.lower,
        true_delta_upper=result.true_delta.upper,
        true_epsilon=result.true_epsilon.value,
        wasted_variance=result.wasted_variance,
    )
    assert verdicts(make_results(rows)).data["profile"].tolist() == [kind]
