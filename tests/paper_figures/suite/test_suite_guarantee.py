"""The verdict tables and the judge of privacy claims, on rows whose verdict is known."""

import pytest

from paper_figures.drawings import DrawingError
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, REPRODUCED, CannotJudge
from paper_figures.suite.guarantee import guarantee, summary, verdicts

SHOWN = "mgm2021-mnist"


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("holds", "loose"), REPRODUCED),
        (("loose", "undecided"), NOT_REPRODUCED),
        (("loose", "refuted"), CONTRADICTED),
        (("undecided", "refuted"), CONTRADICTED),
    ],
)
def test_guarantee_by_the_verdicts_of_the_settings(
    found, expected, make_claim, make_results, make_guarantee_rows
):
    names = (SHOWN, "mgm2021-adult")
    rows = make_guarantee_rows("mgm", dict(zip(names, found, strict=True)))
    claim = make_claim(mechanism="mgm", shown=SHOWN)
    assert guarantee(claim, make_results(rows)).verdict == expected


def test_settings_beyond_the_range_of_the_theorem_decide_nothing(
    make_claim, make_results, make_guarantee_rows
):
    # R1SMG claims epsilon < 1/M: the first setting is within that range, the second is not.
    found = {"r1smg2024-count-1e-05": "holds", "r1smg2024-count-0.5": "refuted"}
    claim = make_claim(mechanism="r1smg", shown="r1smg2024-count-1e-05")
    judged = guarantee(claim, make_results(make_guarantee_rows("r1smg", found)))
    assert judged.verdict == REPRODUCED
    outside = make_guarantee_rows("r1smg", {"r1smg2024-count-0.5": "refuted"})
    with pytest.raises(CannotJudge, match="within the range"):
        guarantee(claim, make_results(outside))


def test_results_without_the_setting_to_show_are_not_judged(
    make_claim, make_results, make_guarantee_rows
):
    rows = make_guarantee_rows("mgm", {"mgm2021-adult": "holds"})
    with pytest.raises(CannotJudge, match=SHOWN):
        guarantee(make_claim(mechanism="mgm", shown=SHOWN), make_results(rows))


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


def test_controls_alone_have_no_verdict(make_results, make_guarantee_rows):
    rows = make_guarantee_rows("non-private", {SHOWN: "refuted"})
    with pytest.raises(DrawingError, match="no verdict"):
        verdicts(make_results(rows))
