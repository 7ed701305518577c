"""From numbers to verdicts, on numbers whose verdict is known."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from paper_figures import verdict_rules as judging
from paper_figures.ledger import CONTRADICTED, NOT_REPRODUCED, NOT_RUN, REPRODUCED, CannotJudge
from paper_figures.verdict_rules import Interval


def trials(values):
    return pd.DataFrame({"trial": range(len(values)), "value": np.asarray(values, dtype=float)})


def test_mean_interval_is_students():
    # t(0.975, 3) = 3.182446; the standard error of 1, 2, 3, 4 is sqrt(5/3)/2.
    interval = judging.mean_interval(pd.Series([1.0, 2.0, 3.0, 4.0]))
    assert interval.mean == pytest.approx(2.5)
    assert interval.high - interval.mean == pytest.approx(3.182446 * np.sqrt(5 / 3) / 2, rel=1e-6)
    assert interval.low + interval.high == pytest.approx(5.0)
    assert interval.trials == 4


def test_mean_interval_covers_the_mean():
    rng = np.random.default_rng(0)
    intervals = [judging.mean_interval(pd.Series(row)) for row in rng.standard_normal((2000, 10))]
    covered = np.mean([i.low <= 0 <= i.high for i in intervals])
    assert abs(covered - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000)


def test_pairing_removes_what_the_trials_share():
    shared = np.random.default_rng(0).normal(scale=100, size=20)
    noise = np.linspace(-0.1, 0.1, 20)
    interval = judging.paired_difference(trials(shared + 1 + noise), trials(shared))
    assert judging.verdict_on_order(interval) == REPRODUCED
    unpaired = judging.mean_interval(pd.Series(shared))
    assert unpaired.high - unpaired.low > 10 * (interval.high - interval.low)


def test_pairing_uses_shared_trials_only():
    larger, smaller = trials([1, 2, 3, 100]), trials([0, 1, 2])
    assert judging.paired_difference(larger, smaller).trials == 3


def test_one_trial_cannot_be_judged():
    with pytest.raises(CannotJudge, match="two trials"):
        judging.paired_difference(trials([1]), trials([0]))


@pytest.mark.parametrize(
    ("intervals", "verdict"),
    [
        ([(0.1, 0.3)], REPRODUCED),
        ([(-0.1, 0.3)], NOT_REPRODUCED),
        ([(0.0, 0.3)], NOT_REPRODUCED),
        ([(-0.3, 0.1)], NOT_REPRODUCED),
        ([(-0.3, -0.1)], CONTRADICTED),
        ([(0.1, 0.3), (0.2, 0.4)], REPRODUCED),
        ([(0.1, 0.3), (-0.2, 0.4)], NOT_REPRODUCED),
        ([(0.1, 0.3), (-0.2, 0.4), (-0.2, -0.1)], CONTRADICTED),
        # Among a hundred one is below zero by chance.
        ([(0.1, 0.3)] * 99 + [(-0.3, -0.02)], NOT_REPRODUCED),
    ],
)
def test_an_order_is_judged_by_whole_intervals(intervals, verdict):
    made = [Interval((low + high) / 2, low, high, 10) for low, high in intervals]
    assert judging.verdict_on_order(*made) == verdict


@pytest.mark.parametrize("comparisons", [1, 8])
def test_chance_seldom_contradicts_any_of_several(comparisons):
    """Nothing differs: one side of the family-wise 95% is 2.5%, at most, of all cases."""
    rng = np.random.default_rng(0)
    verdicts = [
        judging.verdict_on_order(*(judging.mean_interval(pd.Series(row)) for row in rows))
        for rows in rng.standard_normal((1000, comparisons, 4))
    ]
    share = np.mean([verdict == CONTRADICTED for verdict in verdicts])
    assert 0.01 < share < 0.025 + 4 * np.sqrt(0.025 * 0.975 / 1000)


def test_an_interval_among_several_is_students_at_bonferronis_level():
    values = np.array([-3.0, -1.0, -2.0, -2.5])
    interval = judging.mean_interval(pd.Series(values))
    edge = values.mean() + stats.t.isf(0.025 / 5, 3) * values.std(ddof=1) / 2
    shifted = [
        interval._replace(mean=interval.mean - d, high=interval.high - d)
        for d in (edge - 1e-9, edge + 1e-9)
    ]
    assert [each.negative(5) for each in shifted] == [False, True]


def test_bootstrap_of_means_agrees_with_the_normal_interval():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(400) + 1, rng.standard_normal(400)
    interval = judging.bootstrap_difference(a, b, np.mean)
    half = 1.96 * np.sqrt(a.var() / 400 + b.var() / 400)
    assert interval.mean == pytest.approx(a.mean() - b.mean())
    assert interval.high - interval.mean == pytest.approx(half, rel=0.1)
    assert interval.mean - interval.low == pytest.approx(half, rel=0.1)


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        ([(1.004, 1.0)], REPRODUCED),
        ([(1.006, 1.0)], NOT_REPRODUCED),
        ([(1.0, 1.0), (2.1, 2.0)], NOT_REPRODUCED),
        ([(-1.004, -1.0)], REPRODUCED),
        ([(float("nan"), 1.0)], NOT_REPRODUCED),
    ],
)
def test_numbers_are_judged_by_relative_tolerance(pairs, verdict):
    assert judging.verdict_on_numbers(pairs, 0.005) == verdict


def test_a_statement_is_true_or_contradicted():
    assert judging.verdict_on_statement(True) == REPRODUCED
    assert judging.verdict_on_statement(False) == CONTRADICTED


@pytest.mark.parametrize(
    ("parts", "verdict"),
    [
        ((REPRODUCED, REPRODUCED), REPRODUCED),
        ((REPRODUCED, NOT_RUN), NOT_RUN),
        ((NOT_RUN, NOT_REPRODUCED), NOT_REPRODUCED),
        ((NOT_REPRODUCED, CONTRADICTED, REPRODUCED), CONTRADICTED),
    ],
)
def test_the_worst_part_decides(parts, verdict):
    assert judging.verdict_of_parts(*parts) == verdict


def test_pick_names_what_is_missing(make_rows):
    rows = make_rows({"mechanism": "mvg"}, {"mechanism": "idn", "status": "unsupported"})
    assert len(judging.pick(rows, mechanism="mvg")) == 1
    with pytest.raises(CannotJudge, match="mechanism idn"):
        judging.pick(rows, mechanism="idn")


def test_a_lower_bound_is_never_rounded_up_to_one():
    assert judging.at_least(1.0) == "0.999999"
    assert judging.at_least(0.25) == "0.25"


def test_lists_read_as_sentences():
    assert judging.listed(["a"]) == "a"
    assert judging.listed(["a", "b", "c"]) == "a, b and c"
