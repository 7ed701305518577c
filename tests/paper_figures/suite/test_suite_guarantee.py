"""The rule on privacy claims, on rows whose verdict is known."""

from dataclasses import replace

import pytest

from claims.guarantee import LARGEST_MU, guarantee
from claims.judges import CannotJudge
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE
from mechanisms import Budget, get_mechanism
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
        "The guarantee holds, with 1.23 to 12.4 times the variance that it needs at its own "
        "paper's settings."
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
