"""The rules rarely err and have power, on made-up trials whose truth is known."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from claims.comparisons import (
    Signal,
    at_most,
    beyond,
    confirm_or_leave_open,
    equal,
    every,
    levels,
    more_than_noise,
    most,
    number,
    order,
    ratios,
    some,
    timed_apart,
    universal,
)
from claims.intervals import (
    Bootstrap,
    Mean,
    TooFewTrials,
    bootstrapped,
    log_mean,
    paired,
    words,
)
from claims.verdicts import CONFIRMED, CONTRADICTED, INCONCLUSIVE, NOT_FOUND, Part

REPETITIONS = 1000
MARGIN = 0.01


def normal(rng, size):
    return rng.standard_normal(size)


def heavy(rng, size):
    return rng.laplace(size=size) / math.sqrt(2)


def counted(rng, size):
    """Differences of two accuracies over 500 test records, scaled to standard deviation one."""
    right = rng.binomial(500, 0.8, (2, *size)) / 500
    return (right[0] - right[1]) / math.sqrt(2 * 0.8 * 0.2 / 500)


def verdicts(draw, *, effect, spread, trials, comparisons=1, rule=order, **keywords):
    """For each repetition, the set of verdicts on the parts of a claim."""
    rng = np.random.default_rng(12)
    values = effect + spread * draw(rng, (REPETITIONS, comparisons, trials))
    for repetition in values:
        effects = {str(i): Mean(row) for i, row in enumerate(repetition)}
        yield {part.verdict for part in rule(effects, margin=MARGIN, **keywords)}


def at_a_level(effects, *, margin):
    """`levels` around 0.5 with this margin, as a rule of `verdicts`."""
    return levels(
        {name: effect.shifted(0.5) for name, effect in effects.items()},
        stated=0.5,
        tolerance=margin / 0.5,
    )


def rate(verdict, *arguments, **keywords):
    return np.mean([verdict in found for found in verdicts(*arguments, **keywords)])


@pytest.mark.parametrize("draw", [normal, heavy, counted])
@pytest.mark.parametrize(
    ("verdict", "largest", "keywords"),
    [
        # The least favourable truth that does not contradict an order: no difference at all.
        *(
            (CONTRADICTED, 0.01, {"trials": trials, "comparisons": comparisons})
            for trials, comparisons in ((3, 1), (3, 8), (10, 1), (10, 8), (30, 4))
        ),
        (CONFIRMED, 0.04, {"trials": 3}),
        (CONFIRMED, 0.04, {"trials": 10}),
        # That of an equality or a level is at the end of the margin.
        *(
            (CONTRADICTED, 0.01, {"rule": equal, "effect": end, "trials": 5, "comparisons": 4})
            for end in (MARGIN, -MARGIN)
        ),
        *(
            (CONTRADICTED, 0.01, {"rule": at_a_level, "effect": MARGIN, "spread": 2 * MARGIN} | of)
            for of in ({"trials": 3, "comparisons": 3}, {"trials": 20, "comparisons": 3})
        ),
    ],
)
def test_chance_rarely_decides(draw, verdict, largest, keywords):
    assert rate(verdict, draw, **{"effect": 0.0, "spread": 1.0} | keywords) <= largest


@pytest.mark.parametrize(
    ("verdict", "least", "keywords"),
    [
        (CONFIRMED, 0.95, {"effect": 1.5 * MARGIN}),
        (CONTRADICTED, 0.85, {"effect": -3 * MARGIN}),
        (CONTRADICTED, 0.98, {"effect": -4 * MARGIN}),
        (NOT_FOUND, 0.9, {"effect": -0.1 * MARGIN, "spread": MARGIN / 4}),
        (CONFIRMED, 0.99, {"rule": equal, "effect": 0.0, "spread": MARGIN / 2}),
        (CONTRADICTED, 0.95, {"rule": equal, "effect": 5 * MARGIN}),
        (CONTRADICTED, 0.95, {"rule": equal, "effect": -5 * MARGIN}),
        (CONFIRMED, 0.99, {"rule": at_a_level, "effect": 0.0, "spread": MARGIN / 10, "trials": 5}),
        (CONTRADICTED, 0.99, {"rule": at_a_level, "effect": 3 * MARGIN, "spread": MARGIN / 10}),
    ],
)
def test_the_rules_have_power(verdict, least, keywords):
    assert rate(verdict, normal, **{"spread": MARGIN, "trials": 10} | keywords) >= least


SURE = -0.005 + 1e-6 * np.arange(20)


@pytest.mark.parametrize(
    ("values", "margin", "verdict", "reason"),
    [
        (-SURE, MARGIN, CONFIRMED, ""),
        # A certain effect within the margin counts as absent; beyond the margin it contradicts.
        (SURE, MARGIN, NOT_FOUND, "below the margin of 0.01"),
        (SURE, 0.001, CONTRADICTED, ""),
        ([-0.015, -0.013, -0.014, -0.012, -0.016] * 4, 0.05, NOT_FOUND, "below the margin"),
        (SURE[:3], MARGIN, INCONCLUSIVE, "3 of the 10 trials that `not found` needs"),
        (
            [1.0, -1.0] * 10,
            MARGIN,
            INCONCLUSIVE,
            "20 trials leave room for a difference",
        ),
    ],
)
def test_the_order_of_trials_with_a_known_answer(values, margin, verdict, reason):
    (part,) = order({"a": Mean(np.array(values))}, margin=margin)
    assert part.verdict == verdict and part.reason.startswith(reason)


BETWEEN = {"means": (0.1, 0.9), "floor": 0.1, "ceiling": 0.9}
BELOW = {"means": (0.1, 0.15), "floor": 0.2, "ceiling": 0.9}
SMALLER = {"floor": 0.1, "better": "smaller"}


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (BETWEEN, ""),
        (BETWEEN | {"means": (0.101, 0.099)}, "no score is above that of the random answer (0.1)"),
        (BETWEEN | {"means": (0.895, 0.901)}, "all are within 0.01 of the 0.9 without noise"),
        ({"means": (0.1, 0.1), "floor": 0.1, "margin": 0.0}, "no score is above that of the ran"),
        (SMALLER | {"means": (0.2, 0.01)}, ""),
        (SMALLER | {"means": (0.2, 0.9)}, "no error is below that of the random answer (0.1)"),
        (
            SMALLER | {"means": (0.2,), "floor_words": "zero"},
            "no error is below that of zero",
        ),
        # Scores may be far from the floor on its wrong side.
        (BELOW, "no score is above that of the random answer (0.2), within"),
        (BELOW | {"means": (0.1, 0.25)}, ""),
    ],
)
def test_without_a_signal_nothing_is_decided(given, missing):
    signal, sure = Signal(**{"margin": MARGIN} | given), Mean(0.5 + SURE)
    for rule in (order, equal):
        (part,) = rule({"a": sure}, margin=MARGIN, signal=signal)
        assert (part.verdict == INCONCLUSIVE) == bool(missing)
        assert not missing or part.reason.startswith(f"no signal: {missing}")


def test_numbers_on_a_grid_that_agree_by_chance_are_not_certain():
    """Three equal differences of one test record in a hundred contradict nothing."""
    same = np.full(3, -0.01)
    assert order({"a": Mean(same)}, margin=0)[0].verdict == CONTRADICTED
    assert order({"a": Mean(same, resolution=0.01)}, margin=0)[0].verdict == INCONCLUSIVE


def test_ratios_are_judged_between_their_bounds():
    rng = np.random.default_rng(3)
    over, under = 2 * rng.gamma(9, size=200), rng.gamma(9, size=200)
    twice = bootstrapped(over, under, log_mean)
    assert twice.value == pytest.approx(math.log(over.mean() / under.mean()))
    verdict = {
        bounds: ratios({"a": twice}, stated={"a": bounds})[0].verdict
        for bounds in ((1.5, 3.0), (0.0, 3.0), (0.0, 1.2), (2.0, 3.0))
    }
    assert list(verdict.values()) == [CONFIRMED, CONFIRMED, CONTRADICTED, INCONCLUSIVE]


def test_a_hundred_comparisons_are_wrong_in_at_most_one_claim_in_a_hundred():
    """An interval of 99.99% must lie beyond the bound of a ratio; 99.98% is not enough."""
    effect = Mean(np.arange(10.0))
    for levels_between, verdict in (
        ((0.9997, 0.9999), INCONCLUSIVE),
        ((0.9999, 1 - 5e-5), CONTRADICTED),
    ):
        bound = math.exp(sum(effect.interval(level).low for level in levels_between) / 2)
        assert ratios({"a": effect}, stated={"a": (0.0, bound)})[0].verdict == verdict


@pytest.mark.parametrize(("trials", "bounded"), [(5, False), (6, True)])
def test_few_trials_give_no_interval_by_resampling(trials, bounded):
    draws = Bootstrap(1.0, np.linspace(0.9, 1.1, 1001), trials)
    assert math.isfinite(draws.interval(0.95).low) is bounded


def test_pairs_are_made_by_trial():
    one = pd.DataFrame({"trial": [2, 0, 1], "value": [3.0, 1.0, 2.0]})
    two = pd.DataFrame({"trial": [0, 1, 3], "value": [0.5, 1.0, 9.0]})
    np.testing.assert_allclose(paired(one, two).values, [0.5, 1.0])


def test_student_interval_of_three_numbers():
    # mean 2, standard error 1/sqrt(3), t_{0.975, 2} = 4.302653.
    low, high = Mean(np.array([1.0, 2.0, 3.0])).interval(0.95)
    assert high - 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert low == pytest.approx(4 - high)
    assert words(Mean(np.array([1.0, 2.0, 3.0]))) == "2 [95%: -0.4841, 4.484]"


def test_a_part_shows_the_interval_that_decides_it():
    """A 95% interval supports a part; a 99.99% interval contradicts it."""
    near, far = Mean(np.array([1.0, 2.0, 3.0])), Mean(np.array([-1.0, -1.001, -1.002]))
    low, high = far.interval(0.9999)
    parts = order({"a": far, "b": near}, margin=0)
    assert [part.found for part in parts] == [
        f"-1.001 [99.99%: {low:.4g}, {high:.4g}]", "2 [95%: -0.4841, 4.484]"
    ]  # fmt: skip
    doubled = {"a": Mean(np.log([2.0, 2.001, 2.002]))}
    for part, shown in (
        (beyond("a", far, margin=0), r"-1\.001 \[99\.99%: .*\]"),
        (at_most("a", far.reversed, margin=0.5), r"1\.001 \[99\.99%: .*\]"),
        (*equal({"a": far}, margin=0.1, stated=-1.0), r"-1\.001 \[95%: .*\] \(stated -1\)"),
        (*equal({"a": far}, margin=0.1, stated=2.0), r"-1\.001 \[99\.99%: .*\] \(stated 2\)"),
        (*ratios(doubled, stated={"a": (0.0, 1.0)}), r"2 \[99\.99%: 1\.9.*\] times"),
    ):
        assert re.fullmatch(shown, part.found)


def test_what_is_outside_at_95_and_not_at_9999_is_shown_at_9999():
    effect = Mean(np.arange(3.0))
    (low, _), (lower, _) = effect.interval(0.95), effect.interval(0.9999)
    between = (low + lower) / 2
    for part in (
        at_most("a", effect, margin=between),
        equal({"a": effect}, margin=1.0, stated=between - 1.0)[0],
    ):
        assert part.verdict == INCONCLUSIVE and "the interval crosses the margin" in part.reason
        assert part.found.startswith("1 [99.99%: ")


@pytest.mark.parametrize(
    ("make", "given", "error", "words"),
    [
        (Mean, [np.array([1.0])], TooFewTrials, "needs two trials"),
        (Mean, [np.array([])], TooFewTrials, "needs two trials"),
        (Mean, [np.array([1.0, math.nan])], ValueError, "must be finite"),
        (universal, ["s", []], ValueError, "no cases"),
    ],
)
def test_what_has_neither_interval_nor_verdict_is_refused(make, given, error, words):
    with pytest.raises(error, match=words):
        make(*given)


@pytest.mark.parametrize(
    ("cases", "verdict"),
    [
        ([True, True], CONFIRMED),
        ([True, None], INCONCLUSIVE),
        ([True, None, False], CONTRADICTED),
    ],
)
def test_one_counterexample_contradicts_a_universal_statement(cases, verdict):
    assert universal("s", cases).verdict == verdict


@pytest.mark.parametrize("stated", [0.02, 0.5, 30.0])
def test_the_tolerance_of_a_level_and_of_a_number_is_relative(stated):
    for factor, verdict in ((1.09, CONFIRMED), (0.91, CONFIRMED), (1.11, CONTRADICTED)):
        score = {"x": Mean(factor * stated * (1 + 1e-6 * np.array([-1.0, 0.0, 1.0])))}
        (part,) = levels(score, stated=stated, tolerance=0.1)
        assert part.verdict == verdict
        assert number("n", factor * stated, stated, 0.1).verdict == verdict
        assert number("n", -factor * stated, -stated, 0.1).verdict == verdict


def test_four_of_many_parts_are_shown():
    parts = [Part(f"part {i}", CONFIRMED, "1") for i in range(6)]
    assert every("all", parts[:4]).found.endswith("part 3: 1")
    assert every("all", parts).found.endswith("part 3: 1, and 2 more")


def test_a_level_out_of_reach_decides_nothing():
    score = {"x": Mean(np.array([0.3, 0.301, 0.302]))}
    (part,) = levels(score, stated=0.7, tolerance=0.1, ceiling=0.28)
    assert part.verdict == INCONCLUSIVE and part.reason == "0.7 is out of reach: 0.28 without noise"
    # A level just within reach: the ceiling no longer matters.
    (part,) = levels(score, stated=0.7, tolerance=0.1, ceiling=0.64)
    assert part.verdict == CONTRADICTED


@pytest.mark.parametrize(
    ("rule", "truth"),
    [
        # Nothing is ahead of anything else; one of three is the exception that `some` claims.
        (every, np.zeros(3)),
        (some, np.eye(3)[0] * 0.01),
    ],
)
def test_chance_contradicts_a_joint_part_in_less_than_one_claim_in_a_hundred(rule, truth):
    rng = np.random.default_rng(3)
    wrong = 0
    for values in truth[:, None] + rng.standard_normal((REPETITIONS, 3, 3)):
        effects = {str(i): Mean(row) for i, row in enumerate(values)}
        wrong += rule("all", order(effects, margin=MARGIN)).verdict == CONTRADICTED
    assert wrong <= REPETITIONS / 100


@pytest.mark.parametrize(
    ("verdicts_of_parts", "all_of_them", "one_of_them", "most_of_them"),
    [
        ([CONFIRMED, CONFIRMED], CONFIRMED, CONFIRMED, CONFIRMED),
        ([CONFIRMED, CONTRADICTED], CONTRADICTED, CONFIRMED, CONTRADICTED),
        ([CONFIRMED, INCONCLUSIVE], INCONCLUSIVE, CONFIRMED, INCONCLUSIVE),
        ([NOT_FOUND, CONFIRMED], NOT_FOUND, CONFIRMED, NOT_FOUND),
        ([INCONCLUSIVE, CONTRADICTED], CONTRADICTED, INCONCLUSIVE, CONTRADICTED),
        ([CONTRADICTED, CONTRADICTED], CONTRADICTED, CONTRADICTED, CONTRADICTED),
        ([CONFIRMED, CONFIRMED, CONTRADICTED], CONTRADICTED, CONFIRMED, CONFIRMED),
        ([CONFIRMED, CONTRADICTED, NOT_FOUND], CONTRADICTED, CONFIRMED, NOT_FOUND),
        ([CONTRADICTED, *[INCONCLUSIVE] * 2], CONTRADICTED, INCONCLUSIVE, INCONCLUSIVE),
        ([*[CONFIRMED] * 2, *[INCONCLUSIVE] * 2], INCONCLUSIVE, CONFIRMED, INCONCLUSIVE),
    ],
)
def test_joint_parts(verdicts_of_parts, all_of_them, one_of_them, most_of_them):
    parts = [Part(str(i), verdict, reason=verdict) for i, verdict in enumerate(verdicts_of_parts)]
    found = [rule("joint", parts).verdict for rule in (every, some, most)]
    assert found == [all_of_them, one_of_them, most_of_them]
    assert every("all", parts).reason == all_of_them


def test_the_failure_of_a_reconstruction_decides_nothing():
    for verdict in (CONTRADICTED, NOT_FOUND, INCONCLUSIVE):
        part = confirm_or_leave_open(Part("x", verdict, "0.3"), "rebuilt")
        assert (part.verdict, part.found, part.reason) == (INCONCLUSIVE, "0.3", "rebuilt")
    assert confirm_or_leave_open(Part("x", CONFIRMED), "rebuilt").verdict == CONFIRMED


@pytest.mark.parametrize(
    ("rule", "middle", "verdict"),
    [
        (beyond, 0.2, CONFIRMED),
        (beyond, 0.05, INCONCLUSIVE),
        (beyond, 0.03, NOT_FOUND),
        (beyond, -0.2, CONTRADICTED),
        (at_most, -0.2, CONFIRMED),
        (at_most, 0.04, CONFIRMED),
        (at_most, 0.05, INCONCLUSIVE),
        (at_most, 0.2, CONTRADICTED),
    ],
)
def test_an_effect_on_one_side_of_the_margin(rule, middle, verdict):
    effect = Mean(middle + np.linspace(-0.001, 0.001, 12))
    assert rule("a", effect, margin=0.05).verdict == verdict


@pytest.mark.parametrize(("distance", "verdict"), [(0.0099, CONTRADICTED), (0.0101, INCONCLUSIVE)])
def test_a_release_that_is_noise_is_not_useful(distance, verdict):
    assert more_than_noise("useful", distance).verdict == verdict


@pytest.mark.parametrize(("times", "expected"), [(1.9, INCONCLUSIVE), (2.1, CONFIRMED)])
def test_who_is_faster_is_open_where_equal_work_differs_by_as_much(times, expected):
    ratio = Mean(math.log(times) + np.array([-1e-3, 0.0, 1e-3]))
    for sign, sure in ((ratio, CONFIRMED), (ratio.reversed, CONTRADICTED)):
        part = timed_apart(Part("faster", sure), sign, 2.0)
        assert part.verdict == (INCONCLUSIVE if expected == INCONCLUSIVE else sure)
