"""Planted mistakes are caught; test_false_alarms.py has mechanisms without a mistake."""

import json

import numpy as np
import planted_mistakes as planted
import pytest

from mechanisms import Budget, Inconsistent, Query, Unsupported, get_mechanism
from mechanisms.__main__ import main
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.check.neighbours import pair_that_differs
from mechanisms.check.stated_profile import chosen_event
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import verify

# The mistake, and part of the sentence that reports it.
INCONSISTENT = {
    planted.hundredth_of_the_scale: "mean squared norm",
    planted.twentieth_more: "mean squared norm",
    planted.MomentsAreNaN: "squared norm of the noise are NaN",
    planted.ReusedSeed: "have the same noise",
    planted.OneOfTenSeeds: "contains numbers that occurred more than once",
    planted.one_number_for_all_elements: "elements share their noise",
    planted.correlated_elements: "elements or releases depend on each other",
    planted.one_element_without_noise: "contains numbers that occurred more than once",
    planted.rounded_noise: "contains numbers that occurred more than once",
    planted.lighter_tails: "has other tails",
    planted.clipped_noise: "contains numbers that occurred more than once",
    planted.clipped_norm: "mean squared norm",
    planted.one_sided_half: "leans to one side",
    planted.signs_of_sixty_to_forty: "leans to one side: along all elements alike",
    planted.signs_of_many_sides: "leans to one side: along the mean of other releases",
    planted.SinglePrecisionInside: "have single precision|contains numbers that occurred",
    planted.symmetric_noise: "elements share their noise",
    planted.one_draw_for_all: "not drawn afresh",
    planted.LessNoiseInStudies: "drawn at once",
    planted.NoiseUsedTwice: "a generator of the same seed",
    planted.sign_of_the_value: "the noise depends on the value: along the value",
    planted.step_to_the_sign: "leans to one side: along (the value|the signs of the value)",
    planted.FewExactAnswers: "contains numbers that occurred more than once",
    planted.FewerExactAnswers: "contains numbers that occurred|are exactly the value",
    planted.overflow: "in float32",
    planted.noise_of_the_value: "of a random value",
    planted.shrinks_the_value: "of a random value",
    planted.WrongSensitivity: "that of the noise has at least",
    planted.profile_times(0.5): "the profile states at most",
    planted.ClaimWithoutDelta: "that of the noise has at least",
    planted.TellsTheValue: "two values that differ",
    planted.IgnoresNothing: "two values that differ",
}

# The few releases of a study do not show these.
TOO_SMALL_FOR_A_STUDY = (
    planted.twentieth_more,
    planted.OneOfTenSeeds,
    planted.lighter_tails,
    planted.step_to_the_sign,
    planted.FewExactAnswers,
    planted.FewerExactAnswers,
)
AT_TWO = Budget(epsilon=2.0)
SIDE_89 = Query(shape=(89, 89), l2_sensitivity=1.0)
HISTOGRAM = {"structure": "histogram", "record_bound": 1.0}
KINDS = {
    "plain": {},
    "histogram": HISTOGRAM,
    "moves": HISTOGRAM | {"adjacency": "replace", "l2_sensitivity": 2**0.5},
}


def query(kind, side):
    return Query(**{"shape": (side, side), "l2_sensitivity": 1.0} | KINDS[kind])


@planted.changed
def shared_rows(draws, sigma, rng):
    draws[:, 1] = draws[:, 0]
    return draws


@planted.changed
def opposite_rows(draws, sigma, rng):
    draws[:, 1] = -draws[:, 0]
    return draws


class Amplified(planted.Gaussian):
    """The value is multiplied before the noise is added, and the profile ignores this."""

    only_adds_noise = False

    def prepared(self, value):
        return (1.3 * value).astype(value.dtype)


AT_ONE = planted.BUDGET


def in_small_answers():
    """Mistakes, each with the query, the budget, the effort and the seed that show it, and words.

    The words are part of the sentence that reports it.
    """
    for mistake, words in INCONSISTENT.items():
        yield mistake, planted.QUERY, AT_ONE, THOROUGH, 1, words
        if mistake not in TOO_SMALL_FOR_A_STUDY:
            yield mistake, planted.QUERY, AT_ONE, QUICK, 1, None
    # Other methods, equal seeds, pairs of releases or a sample's size reveal these.
    for mistake, words in (
        (planted.LessNoiseInTraining, "by release_all has"),
        (planted.LessNoiseWithDiagnostics, "by release_with_diagnostics has"),
        (planted.SmallerNorms, "drawn as squared norms has"),
        (planted.NoSeed, "a generator of the same seed"),
        (planted.AntitheticHalves, "of the release half of them before"),
        (planted.clipped_to_the_data, "hold an element of the value itself"),
        (planted.SteepFarFromRest, "show a change of"),
        (planted.ProfileOfNaN, "which is not a probability"),
        (planted.ProfileThatGrows, "grows with epsilon"),
    ):
        yield mistake, planted.QUERY, AT_ONE, QUICK, 2, words
        yield mistake, planted.QUERY, AT_ONE, THOROUGH, 2, words
    yield planted.ShortSeeds, planted.QUERY, AT_ONE, THOROUGH, 2, "too few different draws"
    grid = "grid that moves|elements of the noise"
    yield planted.fine_grid, planted.HISTOGRAM, AT_ONE, THOROUGH, 2, grid
    for mistake in (planted.TwiceTheEpsilon, planted.BitsOfFiveEpsilons):
        yield mistake, planted.BOX, AT_TWO, THOROUGH, 2, "two values that differ"


def in_large_answers():
    """As `in_small_answers`; the noise has the right size."""
    for mistake, words, *efforts in (
        (planted.symmetric_noise, "elements share their noise", THOROUGH),
        (planted.smooth_noise, "spread too far", THOROUGH),
        (planted.heavier_tails, "spread too far|other tails", THOROUGH),
        (planted.NoiseUsedTwice, "a generator of the same seed", THOROUGH),
        (planted.clipped_norm, "the norm of the noise", QUICK, THOROUGH),
        (planted.one_sided_half, "leans to one side", QUICK, THOROUGH),
        (planted.signs_of_sixty_to_forty, "leans to one side", QUICK, THOROUGH),
        (planted.signs_of_many_sides, "leans to one side", QUICK, THOROUGH),
        # 396 releases contain an exact answer with probability 1 - 0.99^396, which is 98%.
        (planted.FewerExactAnswers, "numbers that occurred|are exactly the value", THOROUGH),
        (planted.FifthLess, "norm", QUICK, THOROUGH),
    ):
        for seed, effort in enumerate(efforts, 1):
            yield mistake, SIDE_89, AT_ONE, effort, seed, words
    sixty = Query(shape=(60, 60), l2_sensitivity=1.0)
    yield planted.SinglePrecisionInside, sixty, AT_ONE, THOROUGH, 1, "numbers"


def in_queries_of_some_kinds():
    """As `in_small_answers`; rows that share their noise, and profiles that are too good."""
    for effort in (QUICK, THOROUGH):
        yield planted.FifthLess, query("plain", 8), AT_ONE, effort, 1, "norm"
    too_good, words = planted.profile_times(0.985), "elements of the noise, which states that they"
    for kind in KINDS:
        yield too_good, query(kind, 16), AT_ONE, QUICK, 3, words
        for side in (8, 32, 64):
            for mistake in (shared_rows, opposite_rows):
                yield mistake, query(kind, side), AT_ONE, QUICK, side, "share their noise"
    for kind in ("plain", "histogram"):
        yield Amplified, query(kind, 8), AT_ONE, QUICK, 1, "show a change of"


CASES = [*in_small_answers(), *in_large_answers(), *in_queries_of_some_kinds()]


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize(
    ("mistake", "query", "budget", "effort", "seed", "words"),
    CASES,
    ids=[f"{case[0].__name__}-{'quick' if case[3] is QUICK else 'thorough'}" for case in CASES],
)
def test_a_planted_mistake_is_caught(mistake, query, budget, effort, seed, words):
    mechanism = mistake.calibrate(query, budget)
    with pytest.raises(Inconsistent, match=words):
        require_consistent(mechanism, seed=seed, effort=effort)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize(
    ("right", "query", "budget", "effort"),
    [
        (planted.rounded_answers, planted.QUERY, planted.BUDGET, THOROUGH),
        (planted.rounded_answers, Query(shape=(60, 60), l2_sensitivity=1.0), planted.BUDGET,
         THOROUGH),
        (planted.Bits, planted.BOX, AT_TWO, THOROUGH),
        *((planted.profile_times(1.0), query(kind, 16), planted.BUDGET, QUICK) for kind in KINDS),
        # One element has no other to correlate with.
        *((get_mechanism(key), Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0),
           planted.BUDGET, QUICK) for key in ("gaussian-analytic", "laplace")),
    ],
)  # fmt: skip
def test_what_is_no_mistake_is_not_accused(right, query, budget, effort):
    for seed in range(3):
        found = require_consistent(right.calibrate(query, budget), seed=seed, effort=effort)
        assert found.releases


OF_OTHER_KINDS = {
    planted.HundredTimesTheGram: (planted.GRAM, "two values that differ"),
    planted.HundredTimesTheRate: (planted.BOX, "two values that differ"),
    planted.ThirtyTimesTheBudget: (planted.HISTOGRAM, "two values that differ"),
    planted.SlowProfile: (planted.QUERY, "mean squared norm"),
}
# The 64 releases of each side in a study show the first in three of four cases; the other is slow.
FOR_VERIFY_ALONE = {planted.ThirtyTimesTheBudget, planted.HundredTimesTheGram}


@pytest.mark.slow
@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("steady_clock", [1e-3], ids=["1 ms"], indirect=True)
@pytest.mark.parametrize("mistake", OF_OTHER_KINDS, ids=lambda mistake: mistake.__name__)
def test_a_mistake_in_slow_noise_integers_matrices_and_partitions_is_caught(mistake):
    query, words = OF_OTHER_KINDS[mistake]
    mechanism = mistake.calibrate(query, planted.BUDGET)
    for effort in (THOROUGH,) if mistake in FOR_VERIFY_ALONE else (THOROUGH, QUICK):
        with pytest.raises(Inconsistent, match=words):
            require_consistent(mechanism, seed=3, effort=effort)


def test_skipped_comparisons_are_reported():
    slow = planted.SlowRelease.calibrate(planted.QUERY, planted.BUDGET)
    found = require_consistent(slow, seed=0, effort=QUICK)
    assert found.releases == 0 and "a release takes 0.1" in found.missing
    large = Query(shape=(3000, 3000), l2_sensitivity=1.0)
    found = require_consistent(planted.Gaussian.calibrate(large, planted.BUDGET), seed=0)
    assert (found.releases, found.missing) == (0, "an answer of 9,000,000 elements is too large")
    result = verify(slow, effort=QUICK)
    assert "releases     not compared with what the mechanism states: a release" in explain(result)
    assert result.to_dict()["releases"] == 0 and "a release" in result.to_dict()["not_compared"]


def test_a_claim_without_delta_is_refused_for_every_mechanism():
    with pytest.raises(Unsupported, match="needs delta > 0"):
        planted.NoDelta.calibrate(planted.QUERY, Budget(epsilon=1.0))


class HalfTheBudget(planted.Unscaled):
    """The exact profile is below the budget, even at the exact calibration."""

    def profile(self):
        return LaplaceProfile(l1_sensitivity=1.0, scale=2 / self.budget.epsilon)


def test_the_exact_calibration_needs_a_profile_that_meets_the_budget():
    with pytest.raises(Unsupported, match="no exact profile"):
        planted.Unscaled.calibrate(planted.QUERY, Budget(epsilon=1.0), "exact")
    with pytest.raises(Unsupported, match="of a release that is epsilon-DP, nothing else is known"):
        planted.UnscaledWithProfile.calibrate(planted.QUERY, Budget(epsilon=1.0), "exact")
    with pytest.raises(Inconsistent, match="must have delta 0 at epsilon 1"):
        HalfTheBudget.calibrate(planted.QUERY, Budget(epsilon=1.0), "exact")


@pytest.mark.parametrize("adjacency", ["add-remove", "replace", "local"])
def test_a_pair_of_gram_matrices_is_named_only_where_it_is_known_to_exist(adjacency):
    """Both matrices must be sums of squares, as for a diagonal change or one more record."""
    query = Query(
        shape=(2, 2), l2_sensitivity=1.0, structure="gram", record_bound=1.0, adjacency=adjacency
    )
    rest, aside = np.zeros((2, 2)), np.array([[0.5, 0.5], [0.5, 0.5]])
    pair = pair_that_differs(query, aside, rest)
    assert (pair is not None) == (adjacency == "add-remove")
    diagonal = pair_that_differs(query, np.diag([0.7, -0.7]), rest)
    assert (diagonal is not None) == (adjacency != "local")


OUTSIDE = ["--shape", "8x8", "--l2-sensitivity", "1", "--l1-sensitivity", "8", "--epsilon", "1"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("planted_mistakes:hundredth_of_the_scale", "mean squared norm"),
        ("planted_mistakes:ProfileThatGrows", "grows with epsilon"),
        ("planted_mistakes:ProfileOfNaN", "which is not a probability"),
        ("planted_mistakes:writes_into_the_value", "writes into the value"),
    ],
)
def test_a_mechanism_that_contradicts_itself_has_no_verdict_and_status_1(name, words, capsys):
    command = ["verify", name, *OUTSIDE, "--delta", "1e-5"]
    assert main(command) == 1
    shown = capsys.readouterr().out
    assert "  query        8x8, M = 64," in shown and "verdict      inconsistent: " in shown
    assert words in shown
    assert main([*command, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "inconsistent"
    assert words in answer["contradiction"]
    assert (answer["true_delta_at_epsilon"], answer["noise_parameter"]) == (None, "sigma")


def test_a_mechanism_that_agrees_with_itself_has_a_verdict_and_status_0(capsys):
    command = ["verify", "planted_mistakes:Gaussian", *OUTSIDE, "--delta", "1e-5"]
    assert main(command) == 0
    assert "which agree with the stated noise" in capsys.readouterr().out


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("steady_clock", [1 / 1995], ids=["199 releases"], indirect=True)
def test_antithetic_halves_are_caught_in_an_odd_number_of_releases():
    antithetic = planted.AntitheticHalves.calibrate(planted.QUERY, planted.BUDGET)
    with pytest.raises(Inconsistent, match="of the release half of them before"):
        require_consistent(antithetic, seed=2)


@pytest.mark.usefixtures("steady_clock")
def test_noise_that_is_right_is_not_called_loose_for_its_profile():
    mechanism = planted.profile_times(0.98).calibrate(query("plain", 32), planted.BUDGET)
    assert verify(mechanism, effort=THOROUGH).verdict == "inconsistent"
    missed = verify(
        planted.profile_times(0.99).calibrate(query("plain", 8), planted.BUDGET), effort=None
    )
    assert "by its profile the noise has 1.0" in explain(missed)


def test_events_begin_between_scores():
    """Scores that cancel are equal up to rounding, which must not decide their side."""
    event = chosen_event((np.zeros(64), np.ones(64)), np.array([0.5, 0.3]))
    assert 0.1 < event.threshold < 0.9
