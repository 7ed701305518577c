"""Verdicts on privacy claims and the tables and map of them, on rows whose verdict is known."""

import math
from dataclasses import replace

import pytest

from claims.guarantee import LARGEST_MU, guarantee
from claims.judged_rows import calibrated
from claims.judges import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from mechanisms import Budget, get_mechanism
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.verification.verification import verify
from paper_figures.drawings import DrawingError
from paper_figures.suite.guarantee_grid import claimed, validity
from paper_figures.suite.verdict_tables import summary, verdicts
from papers.settings import PAPER_SETTINGS

SHOWN = "mgm2021-mnist"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("holds", "loose"), CONFIRMED),
        (("loose", "undecided"), INCONCLUSIVE),
        (("loose", "refuted"), CONTRADICTED),
        (("undecided", "refuted"), CONTRADICTED),
    ],
)
def test_guarantee_by_the_verdicts_of_the_settings(
    found, expected, make_results, make_guarantee_rows
):
    names = (SHOWN, "mgm2021-adult")
    rows = make_guarantee_rows("mgm", dict(zip(names, found, strict=True)))
    given = {"mechanism": "mgm", "own": [SHOWN]}
    assert guarantee(make_results(rows), **given).verdict == expected


def test_settings_beyond_the_range_of_the_theorem_decide_nothing(make_results, make_guarantee_rows):
    # R1SMG's theorem needs epsilon < 1/M: the first setting is in that range, the second is not.
    found = {"r1smg2024-count-1e-05": "holds", "r1smg2024-count-0.5": "refuted"}
    given = {"mechanism": "r1smg", "own": ["r1smg2024-count-1e-05"]}
    judged = guarantee(make_results(make_guarantee_rows("r1smg", found)), **given)
    assert judged.verdict == CONFIRMED
    outside = make_guarantee_rows("r1smg", {"r1smg2024-count-0.5": "refuted"})
    with pytest.raises(CannotJudge, match="within the range"):
        guarantee(make_results(outside), **given)


def test_results_without_the_setting_to_show_are_not_judged(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("mgm", {"mgm2021-adult": "holds"})
    with pytest.raises(CannotJudge, match=SHOWN):
        guarantee(make_results(rows), mechanism="mgm", own=[SHOWN])


def test_a_loose_guarantee_says_by_which_factor(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("mgm", {SHOWN: "loose"}, wasted_variance=12.347)
    rows += make_guarantee_rows("mgm", {"mgm2021-adult": "loose"}, wasted_variance=1.2341)
    rows += make_guarantee_rows("mgm", {"r1smg2024-count-0.5": "loose"}, wasted_variance=99.0)
    judged = guarantee(make_results(rows), mechanism="mgm", own=[SHOWN, "mgm2021-adult"])
    # Rounded outwards, so that the factors lie within the printed ones. The settings of other
    # papers do not count.
    assert judged.because == (
        "The guarantee holds, with 1.23 to 12.4 times the variance that it needs at the "
        "settings of its paper."
    )
    assert "true at all 3 settings; 12.3 times" in judged.numbers


def test_what_a_stated_sensitivity_adds_is_no_fault_of_the_theorem(
    make_results, make_guarantee_rows
):
    """mvg2018 states sqrt(2) times what one record changes of X X^T / N."""
    rows = make_guarantee_rows("mvg", {"mvg2018-component": "loose"}, wasted_variance=12.0)
    judged = guarantee(make_results(rows), mechanism="mvg", own=["mvg2018-component"])
    assert "with 6 to 6.01 times the variance" in judged.because


def test_a_false_guarantee_says_where(make_results, make_guarantee_rows):
    found = {SHOWN: "refuted", "mgm2021-adult": "loose"}
    rows = make_guarantee_rows("mgm", found, true_delta=0.25, audit_delta_lower=0.24999)
    judged = guarantee(make_results(rows), mechanism="mgm", own=[SHOWN])
    assert "false at 1 of 2 settings" in judged.because
    assert "the true delta is 0.25" in judged.because
    assert "sampled, at least 0.249" in judged.numbers


def test_where_the_setting_to_show_holds_the_worst_refuted_one_is_shown(
    make_results, make_guarantee_rows
):
    rows = make_guarantee_rows("mgm", {SHOWN: "loose"})
    rows += make_guarantee_rows("mgm", {"mgm2021-adult": "refuted"}, true_delta=0.25)
    rows += make_guarantee_rows("mgm", {"mgm2021-cifar10": "refuted"}, true_delta=0.5)
    judged = guarantee(make_results(rows), mechanism="mgm", own=[SHOWN])
    assert "false at 2 of 3 settings" in judged.because
    assert judged.because.endswith("(1, 1e-05) and 4608x512 elements the true delta is 0.5.")
    everywhere = make_guarantee_rows("mgm", {SHOWN: "refuted", "mgm2021-adult": "refuted"})
    judged = guarantee(make_results(everywhere), mechanism="mgm", own=[SHOWN])
    assert "false at all 2 settings" in judged.because


def test_no_noise_within_the_condition_has_a_larger_mu():
    adult = {setting.name: setting for setting in PAPER_SETTINGS}["mgm2021-adult"]
    adult = replace(adult, budget=Budget(epsilon=0.3, delta=1e-5))
    stated = {
        key: get_mechanism(key).calibrate(adult.query, adult.budget).profile().mu
        for key in LARGEST_MU
    }
    largest = {key: find(adult.query, adult.budget) for key, find in LARGEST_MU.items()}
    # IDN uses all the precision that its condition allows; MGM's allows it in one direction only.
    assert largest["idn"] == pytest.approx(stated["idn"], rel=1e-12)
    assert largest["mgm"] == largest["udn"] == pytest.approx(stated["idn"], rel=1e-12)
    assert largest["mvg"] > stated["mvg"] and largest["udn"] > stated["udn"]
    # It is that of the least possible gamma, which the query has, at any gamma.
    assert (
        LARGEST_MU["mvg"](replace(adult.query, frobenius_bound=9.0), adult.budget) == largest["mvg"]
    )


def test_a_guarantee_is_checked_at_other_sizes(make_results, make_guarantee_rows):
    """The rows alone would confirm the claim, but at five elements R1SMG's claim is false."""
    rows = make_guarantee_rows("r1smg", {"r1smg2024-count-1e-05": "holds"})
    given = {"mechanism": "r1smg", "own": ["r1smg2024-count-1e-05"], "lengths": [3, 5]}
    judged = guarantee(make_results(rows), **given)
    assert judged.verdict == CONTRADICTED
    assert judged.because == (
        "No setting of the papers within the theorem's range refutes the guarantee. "
        "At (0.9/M, 1e-5) it holds for M = 3 and fails for M = 5."
    )
    assert judged.numbers.startswith("refuted at none of 1 settings")


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


# The variance of the analytic Gaussian at (1, 1e-5), per element.
VARIANCE = float(mu_for(1.0, 1e-5)) ** -2


def test_claims_are_told_with_their_truth(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"4x4": 0.5, "32x32": 0.9}, exact=9.0)
    rows += make_grid_rows("gaussian-analytic", {"4x4": 1e-5, "32x32": 1e-5}, exact=VARIANCE)
    rows += make_grid_rows("laplace", {"32x32": 0.0})
    rows += make_grid_rows("mgm", {"32x32": 1e-5}, width=0.5)
    drawn = claimed(make_results(rows))
    table = drawn.data.set_index("mechanism")
    # The table has one size, the nearest to 1024; the baseline is a closed form, not a row.
    assert set(table["size"]) == {1024}
    assert table["claim"].to_dict() == {
        "r1smg": "false",
        "gaussian-analytic": "true",
        "laplace": "true",
        # Its bounds lie on both sides of the claim.
        "mgm": "open",
    }
    assert table.loc["r1smg", "published"] == pytest.approx(4 / VARIANCE)
    assert table.loc["r1smg", "equal"] == pytest.approx(9 / VARIANCE)
    assert math.isnan(table.loc["laplace", "equal"])
    assert table.loc["laplace", "claimed"] == 0
    words = [text.get_text() for text in drawn.figure.axes[0].texts]
    assert "delta 1e-05 claimed, 0.9 true" in words


def test_a_delta_that_is_only_bounded_is_told_as_a_bound(make_results, make_grid_rows):
    rows = make_grid_rows("mgm", {"32x32": 8.34e-8}, width=1.0)
    alone = claimed(make_results(rows))
    (words,) = [text.get_text() for text in alone.figure.axes[0].texts]
    assert words == "delta 1e-05 claimed, at most 1.7e-07 true"
    assert "Without an open marker" not in alone.note
    rows += make_grid_rows("r1smg", {"32x32": 0.9}, exact=9.0)
    both = claimed(make_results(rows)).note
    assert both.endswith("Without an open marker, as no rescaled noise is known: MGM.")


def test_outside_its_theorem_a_paper_claims_nothing(make_results, make_grid_rows):
    warned = {"message": "the theorem is stated for a smaller epsilon"}
    rows = [row | warned for row in make_grid_rows("r1smg", {"32x32": 0.9}, exact=9.0)]
    drawn = claimed(make_results(rows))
    assert drawn.data["claim"].tolist() == ["none"]
    assert [text.get_text() for text in drawn.figure.axes[0].texts] == ["no claim here, 0.9 true"]


def test_validity_is_about_r1smg_alone(make_results, make_grid_rows):
    rows = make_grid_rows("r1smg", {"2x2": 1e-3, "4x4": 1e-6})
    rows += make_grid_rows("gaussian", {"2x2": 0.0})
    assert validity(make_results(rows)).data["ratio"].tolist() == pytest.approx([2, -1])
    with pytest.raises(DrawingError, match="no true delta of r1smg"):
        validity(make_results(make_grid_rows("gaussian", {"2x2": 1e-6})))
