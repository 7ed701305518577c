"""How verdicts on parts become the verdict on a claim, and how bounds in findings are rounded."""

import math

import pytest

from claims.judged_rows import at_least
from claims.verdicts import (
    CONFIRMED,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_FOUND,
    NOT_RUN,
    PARTLY,
    Finding,
    Outcome,
    Part,
    combined,
    not_run,
)
from mechanisms.query.words import rounded_down, rounded_up


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        ([CONFIRMED, CONFIRMED], CONFIRMED),
        ([CONTRADICTED], CONTRADICTED),
        ([CONFIRMED, CONTRADICTED], PARTLY),
        ([CONFIRMED, INCONCLUSIVE], PARTLY),
        ([CONFIRMED, NOT_RUN], PARTLY),
        ([CONTRADICTED, NOT_FOUND, INCONCLUSIVE], CONTRADICTED),
        ([NOT_FOUND, INCONCLUSIVE], INCONCLUSIVE),
        ([NOT_FOUND, NOT_RUN], NOT_FOUND),
        ([NOT_FOUND, NOT_FOUND], NOT_FOUND),
    ],
)
def test_parts_make_a_verdict(parts, whole):
    assert combined(parts) == whole


def part(verdict):
    return Part("p", verdict, "1")


def outcomes(*verdicts):
    return [Outcome(choice=f"choice {i}", parts=(part(v),)) for i, v in enumerate(verdicts)]


def test_a_claim_depends_only_where_outcomes_differ():
    same = Finding(choice="the kernel", outcomes=outcomes(CONFIRMED, CONFIRMED))
    other = Finding(choice="the kernel", outcomes=outcomes(CONFIRMED, NOT_FOUND))
    assert (same.verdict, other.verdict) == (CONFIRMED, DEPENDS)
    assert other.listed_parts == [
        "choice 0: confirmed (p: 1: confirmed)",
        "choice 1: not found (p: 1: not found)",
    ]


def test_outcomes_that_are_both_partly_differ_where_a_part_turns_round():
    def finding(*verdicts):
        made = [
            Outcome(choice=str(i), parts=[Part("a", verdict), Part("b", other)])
            for i, (verdict, other) in enumerate(verdicts)
        ]
        return Finding(choice="the kernel", outcomes=made)

    assert finding((CONFIRMED, CONTRADICTED), (CONTRADICTED, CONFIRMED)).verdict == DEPENDS
    assert finding((CONFIRMED, CONTRADICTED), (CONFIRMED, NOT_FOUND)).verdict == PARTLY
    assert (
        finding((CONFIRMED, CONTRADICTED), (CONTRADICTED, CONFIRMED), (NOT_RUN,) * 2).verdict
        == DEPENDS
    )


@pytest.mark.parametrize(
    ("found", "run", "verdict"),
    [
        # If one choice was not run, the claim is not known to depend on it.
        ([CONFIRMED, NOT_RUN], "", INCONCLUSIVE),
        ([CONFIRMED, CONTRADICTED, NOT_RUN], "", DEPENDS),
        ([CONFIRMED, NOT_FOUND, NOT_RUN], "", DEPENDS),
        ([NOT_RUN, NOT_RUN], "", NOT_RUN),
        # A choice without a signal is settled, unless another run could give one.
        ([CONTRADICTED, INCONCLUSIVE], "", DEPENDS),
        ([CONTRADICTED, INCONCLUSIVE], "20 trials", INCONCLUSIVE),
        ([CONTRADICTED, INCONCLUSIVE, CONFIRMED], "20 trials", DEPENDS),
    ],
)
def test_a_claim_depends_only_on_choices_with_an_outcome(found, run, verdict):
    finding = Finding(choice="the kernel", outcomes=outcomes(*found), decided_by=run)
    assert finding.verdict == verdict


@pytest.mark.parametrize(("other", "verdict"), [(INCONCLUSIVE, INCONCLUSIVE), (NOT_FOUND, DEPENDS)])
def test_an_outcome_whose_open_parts_may_yet_be_confirmed_settles_nothing(other, verdict):
    mixed = Outcome(choice="mixed", parts=(part(CONFIRMED), part(other)))
    swept = Finding(choice="c", outcomes=[*outcomes(CONFIRMED), mixed], decided_by="20 trials")
    assert swept.verdict == verdict


def test_what_the_paper_rules_out_leaves_the_verdict_of_the_rest():
    swept = Finding(choice="the kernel", outcomes=outcomes(CONTRADICTED, CONFIRMED), detail="Mean.")
    assert swept.verdict == DEPENDS
    left = swept.without(["choice 0"])
    assert (left.verdict, left.choice, left.numbers) == (CONFIRMED, "", "p: 1")
    assert left.detail == (
        "Mean. Not what the paper states, choice 0: contradicted (p: 1: contradicted)."
    )
    assert swept.without(["another"]).outcomes == list(swept.outcomes)
    assert swept.without([]) is swept
    assert swept.without(["choice 0", "choice 1"]).verdict == NOT_RUN


@pytest.mark.parametrize(
    ("beside", "verdict"), [(CONFIRMED, PARTLY), (NOT_RUN, DEPENDS), (CONTRADICTED, CONTRADICTED)]
)
def test_a_part_that_the_choice_does_not_touch_counts_as_one(beside, verdict):
    swept = outcomes(CONTRADICTED, CONFIRMED)
    found = Finding(choice="c", outcomes=swept, parts=[part(beside)])
    assert found.verdict == verdict
    assert found.numbers.endswith("choice 1: p: 1; p: 1")


@pytest.mark.parametrize(
    ("because", "reason"), [("", "Not run under this choice: choice 1."), ("Why.", "Why.")]
)
def test_choices_that_were_not_run_are_named(because, reason):
    swept = outcomes(CONFIRMED, NOT_RUN)
    assert Finding(choice="the kernel", outcomes=swept, because=because).reason == reason


@pytest.mark.parametrize(
    ("make", "given", "words"),
    [
        (combined, {"verdicts": []}, "without parts"),
        (Part, {"name": "p", "verdict": PARTLY}, "one word for one part"),
        (Finding, {"parts": [part(CONFIRMED)], "choice": "c"}, "need each other"),
        (Finding, {"parts": [part(CONFIRMED)] * 2, "ours": "2 of 2"}, "its own numbers"),
    ],
)
def test_what_has_no_verdict_is_refused(make, given, words):
    with pytest.raises(ValueError, match=words):
        make(**given)


def test_text_of_parts():
    assert str(Part("below JL", INCONCLUSIVE, "0.1", "3 trials")) == (
        "below JL: 0.1: inconclusive (3 trials)"
    )
    assert not_run("no file").verdict == NOT_RUN


@pytest.mark.parametrize(
    ("verdict", "run"), [(INCONCLUSIVE, "the run"), (NOT_RUN, "the run"), (NOT_FOUND, "")]
)
def test_a_run_is_named_as_long_as_a_part_is_open(verdict, run):
    parts = (Part("x", CONFIRMED), Part("y", verdict))
    swept = [Outcome(choice="a", parts=parts[:1]), Outcome(choice="b", parts=parts)]
    for found in ({"parts": parts}, {"choice": "the kernel", "outcomes": swept}):
        assert Finding(**found, decided_by="the run").still_to_run == run


@pytest.mark.parametrize(
    ("value", "digits", "down", "up"),
    [
        (0.0042667, 3, "0.00426", "0.00427"),
        (0.1, 3, "0.1", "0.1"),
        (0.9999, 3, "0.999", "1"),
        (-0.0042667, 3, "-0.00427", "-0.00426"),
        (12345.0, 3, "1.23e+04", "1.24e+04"),
        (0.0, 3, "0", "0"),
        (math.inf, 3, "inf", "inf"),
        (2 / 3, 1, "0.6", "0.7"),
        (2 / 3, 5, "0.66666", "0.66667"),
    ],
)
def test_bounds_keep_their_side(value, digits, down, up):
    assert (rounded_down(value, digits), rounded_up(value, digits)) == (down, up)


def test_a_probability_below_1_stays_below_1():
    assert at_least(1.0) == "0.999999"
    assert at_least(0.4567899) == "0.456789"
