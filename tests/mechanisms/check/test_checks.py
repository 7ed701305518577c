"""Planted mistakes are caught; test_false_alarms.py has mechanisms without a mistake."""

import json

import numpy as np
import planted_bugs as planted
import planted_draws as draws
import planted_noise
import planted_other_kinds as kinds
import planted_other_kinds as others
import pytest
from planted_small import profile_times

from mechanisms import Budget, Inconsistent, Query, Unsupported, get_mechanism
from mechanisms.__main__ import main
from mechanisms.base.guard import ReleaseError
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.check.neighbours import pair_that_differs
from mechanisms.check.stated_profile import chosen_event
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.verification.explanation import explain
from mechanisms.verification.verification import verify

# The mistake, and part of the sentence that reports it.
INCONSISTENT = {
    planted_noise.hundredth_of_the_scale: "mean squared norm",
    planted_noise.twentieth_more: "mean squared norm",
    planted.MomentsAreNaN: "squared norm of the noise are NaN",
    planted_noise.ReusedSeed: "have the same noise",
    planted_noise.OneOfTenSeeds: "contains numbers that occurred more than once",
    planted_noise.one_number_for_all_elements: "elements share their noise",
    planted_noise.correlated_elements: "elements or releases depend on each other",
    planted_noise.one_element_without_noise: "contains numbers that occurred more than once",
    planted_noise.rounded_noise: "contains numbers that occurred more than once",
    planted_noise.lighter_tails: "has other tails",
    planted_noise.clipped_noise: "contains numbers that occurred more than once",
    planted_noise.clipped_norm: "mean squared norm",
    planted_noise.one_sided_half: "leans to one side",
    planted_noise.signs_of_sixty_to_forty: "leans to one side: along all elements alike",
    planted_noise.signs_of_many_sides: "leans to one side: along the mean of other releases",
    planted_noise.SinglePrecisionInside: "have single precision|contains numbers that occurred",
    planted_noise.symmetric_noise: "elements share their noise",
    planted_noise.one_draw_for_all: "not drawn afresh",
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
    profile_times(0.5): "the profile states at most",
    planted.ClaimWithoutDelta: "that of the noise has at least",
    others.TellsTheValue: "two values that differ",
    others.IgnoresNothing: "two values that differ",
}


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("mistake", INCONSISTENT, ids=lambda mistake: mistake.__name__)
def test_a_planted_mistake_is_caught(mistake):
    mechanism = mistake.calibrate(planted.QUERY, planted.BUDGET)
    with pytest.raises(Inconsistent, match=INCONSISTENT[mistake]):
        require_consistent(mechanism, seed=1)


# Mistakes that even the few releases of a study show.
PLAIN = [
    mistake
    for mistake in INCONSISTENT
    if mistake
    not in (
        planted_noise.twentieth_more,
        planted_noise.OneOfTenSeeds,
        planted_noise.lighter_tails,
        planted.step_to_the_sign,
        planted.FewExactAnswers,
        planted.FewerExactAnswers,
    )
]


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["quick", "thorough"])
@pytest.mark.parametrize("side", [8, 89])
def test_less_noise_of_a_norm_that_varies_much_is_caught(side, effort):
    query = Query(shape=(side, side), l2_sensitivity=1.0)
    mechanism = planted_noise.FifthLess.calibrate(query, planted.BUDGET)
    with pytest.raises(Inconsistent, match="norm"):
        require_consistent(mechanism, seed=1, effort=effort)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("mistake", PLAIN, ids=lambda mistake: mistake.__name__)
def test_a_plain_mistake_is_caught_in_a_study(mistake):
    mechanism = mistake.calibrate(planted.QUERY, planted.BUDGET)
    with pytest.raises(Inconsistent):
        require_consistent(mechanism, seed=1, effort=QUICK)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("shape", [(8, 8), (60, 60)])
def test_rounded_answers_are_no_mistake(shape):
    query = Query(shape=shape, l2_sensitivity=1.0)
    mechanism = planted.rounded_answers.calibrate(query, planted.BUDGET)
    assert require_consistent(mechanism, seed=1).releases


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize(
    ("mistake", "words", "efforts"),
    [
        (planted_noise.symmetric_noise, "elements share their noise", [THOROUGH]),
        (planted_noise.smooth_noise, "spread too far", [THOROUGH]),
        (planted_noise.heavier_tails, "spread too far|other tails", [THOROUGH]),
        (planted.NoiseUsedTwice, "a generator of the same seed", [THOROUGH]),
        (planted_noise.clipped_norm, "the norm of the noise", [QUICK, THOROUGH]),
        (planted_noise.one_sided_half, "leans to one side", [QUICK, THOROUGH]),
        (planted_noise.signs_of_sixty_to_forty, "leans to one side", [QUICK, THOROUGH]),
        (planted_noise.signs_of_many_sides, "leans to one side", [QUICK, THOROUGH]),
        # 396 releases contain an exact answer with probability 1 - 0.99^396, which is 98%.
        (planted.FewerExactAnswers, "numbers that occurred|are exactly the value", [THOROUGH] * 3),
    ],
)
def test_noise_of_the_right_size_is_caught_in_a_large_answer(mistake, words, efforts):
    mechanism = mistake.calibrate(Query(shape=(89, 89), l2_sensitivity=1.0), planted.BUDGET)
    for seed, effort in enumerate(efforts, 1):
        with pytest.raises(Inconsistent, match=words):
            require_consistent(mechanism, seed=seed, effort=effort)


OF_OTHER_KINDS = {
    others.HundredTimesTheGram: (others.GRAM, "two values that differ"),
    others.HundredTimesTheRate: (others.BOX, "two values that differ"),
    others.ThirtyTimesTheBudget: (others.HISTOGRAM, "two values that differ"),
    others.SlowProfile: (planted.QUERY, "mean squared norm"),
}


# The 64 releases of each side in a study show the first in three of four cases; the other is slow.
FOR_VERIFY_ALONE = {others.ThirtyTimesTheBudget, others.HundredTimesTheGram}


CASES = [(mistake, THOROUGH) for mistake in OF_OTHER_KINDS]


CASES += [(mistake, QUICK) for mistake in OF_OTHER_KINDS if mistake not in FOR_VERIFY_ALONE]


@pytest.mark.slow
@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("steady_clock", [1e-3], ids=["1 ms"], indirect=True)
@pytest.mark.parametrize(
    ("mistake", "effort"),
    CASES,
    ids=[f"{m.__name__}-{'quick' if e is QUICK else 'thorough'}" for m, e in CASES],
)
def test_a_mistake_in_slow_noise_integers_matrices_and_partitions_is_caught(mistake, effort):
    query, words = OF_OTHER_KINDS[mistake]
    mechanism = mistake.calibrate(query, planted.BUDGET)
    with pytest.raises(Inconsistent, match=words):
        require_consistent(mechanism, seed=3, effort=effort)


def test_skipped_comparisons_are_reported():
    slow = others.SlowRelease.calibrate(planted.QUERY, planted.BUDGET)
    found = require_consistent(slow, seed=0, effort=QUICK)
    assert found.releases == 0 and "a release takes 0.1" in found.missing
    large = Query(shape=(3000, 3000), l2_sensitivity=1.0)
    found = require_consistent(planted.Gaussian.calibrate(large, planted.BUDGET), seed=0)
    assert (found.releases, found.missing) == (0, "an answer of 9,000,000 elements is too large")
    result = verify(slow, effort=QUICK)
    assert "releases     not compared with what the mechanism states: a release" in explain(result)
    assert result.to_dict()["releases"] == 0 and "a release" in result.to_dict()["not_compared"]


@pytest.mark.usefixtures("steady_clock")
def test_noise_of_single_precision_gives_a_double_away():
    query = Query(shape=(60, 60), l2_sensitivity=1.0)
    require_consistent(planted.Gaussian.calibrate(query, planted.BUDGET), seed=1)
    rounded = planted_noise.SinglePrecisionInside.calibrate(query, planted.BUDGET)
    with pytest.raises(Inconsistent, match="numbers"):
        require_consistent(rounded, seed=1)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (planted.writes_into_the_value, "writes into the value that it is given"),
        (planted.scalar, r"must be an array of shape \(8, 8\), got float64"),
        (planted.another_precision, "must keep the precision of the value, float32, got float64"),
    ],
)
def test_a_release_that_breaks_its_contract_is_an_error(mistake, words):
    mechanism = mistake.calibrate(planted.QUERY, planted.BUDGET)
    value = np.ones(planted.QUERY.shape, np.float32)
    with pytest.raises(ReleaseError, match=words):
        mechanism.release(value, 1)
    assert np.array_equal(value, np.ones(planted.QUERY.shape))
    with pytest.raises(ReleaseError, match=words):
        require_consistent(mechanism, seed=1)


def test_a_claim_without_delta_is_refused_for_every_mechanism():
    with pytest.raises(Unsupported, match="needs delta > 0"):
        planted.NoDelta.calibrate(planted.QUERY, Budget(epsilon=1.0))


class HalfTheBudget(others.Unscaled):
    """The exact profile is below the budget, even at the exact calibration."""

    def profile(self):
        return LaplaceProfile(l1_sensitivity=1.0, scale=2 / self.budget.epsilon)


def test_the_exact_calibration_needs_a_profile_that_meets_the_budget():
    with pytest.raises(Unsupported, match="no exact profile"):
        others.Unscaled.calibrate(planted.QUERY, Budget(epsilon=1.0), "exact")
    with pytest.raises(Unsupported, match="of a release that is epsilon-DP, nothing else is known"):
        others.UnscaledWithProfile.calibrate(planted.QUERY, Budget(epsilon=1.0), "exact")
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
        ("planted_noise:hundredth_of_the_scale", "mean squared norm"),
        ("planted_draws:ProfileThatGrows", "grows with epsilon"),
        ("planted_draws:ProfileOfNaN", "which is not a probability"),
        ("planted_bugs:writes_into_the_value", "writes into the value"),
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
    command = ["verify", "planted_bugs:Gaussian", *OUTSIDE, "--delta", "1e-5"]
    assert main(command) == 0
    assert "which agree with the stated noise" in capsys.readouterr().out


# Mistakes that only other methods, equal seeds, pairs of releases or a sample's size reveal.


AT_TWO = Budget(epsilon=2.0)


# The mistake, the query, the budget, and part of the sentence that reports it.
MISTAKES = {
    draws.LessNoiseInTraining: (planted.QUERY, planted.BUDGET, "by release_all has"),
    draws.LessNoiseWithDiagnostics: (
        planted.QUERY,
        planted.BUDGET,
        "by release_with_diagnostics has",
    ),
    draws.SmallerNorms: (planted.QUERY, planted.BUDGET, "drawn as squared norms has"),
    draws.NoSeed: (planted.QUERY, planted.BUDGET, "a generator of the same seed"),
    draws.AntitheticHalves: (planted.QUERY, planted.BUDGET, "of the release half of them before"),
    draws.ShortSeeds: (planted.QUERY, planted.BUDGET, "too few different draws"),
    draws.clipped_to_the_data: (
        planted.QUERY,
        planted.BUDGET,
        "hold an element of the value itself",
    ),
    draws.SteepFarFromRest: (planted.QUERY, planted.BUDGET, "show a change of"),
    draws.ProfileOfNaN: (planted.QUERY, planted.BUDGET, "which is not a probability"),
    draws.ProfileThatGrows: (planted.QUERY, planted.BUDGET, "grows with epsilon"),
    draws.fine_grid: (
        kinds.HISTOGRAM,
        planted.BUDGET,
        "grid that moves|elements of the noise",
    ),
    draws.TwiceTheEpsilon: (kinds.BOX, AT_TWO, "two values that differ"),
    draws.BitsOfFiveEpsilons: (kinds.BOX, AT_TWO, "two values that differ"),
}


# The releases of a study are too few to show these.
TOO_FEW_IN_A_STUDY = {
    draws.ShortSeeds,
    draws.fine_grid,
    draws.TwiceTheEpsilon,
    draws.BitsOfFiveEpsilons,
}


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["quick", "thorough"])
def test_a_mistake_in_drawing_is_caught(mistake, effort):
    if effort is QUICK and mistake in TOO_FEW_IN_A_STUDY:
        pytest.skip("a study takes too few releases")
    query, budget, words = MISTAKES[mistake]
    mechanism = mistake.calibrate(query, budget)
    with pytest.raises(Inconsistent, match=words):
        require_consistent(mechanism, seed=2, effort=effort)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("steady_clock", [1 / 1995], ids=["199 releases"], indirect=True)
def test_antithetic_halves_are_caught_in_an_odd_number_of_releases():
    antithetic = draws.AntitheticHalves.calibrate(planted.QUERY, planted.BUDGET)
    with pytest.raises(Inconsistent, match="of the release half of them before"):
        require_consistent(antithetic, seed=2)


@pytest.mark.usefixtures("steady_clock")
def test_randomised_response_of_the_right_epsilon_is_no_mistake():
    right = draws.Bits.calibrate(kinds.BOX, AT_TWO)
    for seed in range(3):
        assert require_consistent(right, seed=seed).releases


# Rows that share their noise, and profiles that are too good, at the effort of a study.


QUERIES = {
    "plain": {},
    "histogram": {"structure": "histogram", "record_bound": 1.0},
    "moves": {
        "structure": "histogram",
        "record_bound": 1.0,
        "adjacency": "replace",
        "l2_sensitivity": 2**0.5,
    },
}


def query(kind, side):
    return Query(**{"shape": (side, side), "l2_sensitivity": 1.0} | QUERIES[kind])


@planted_noise.changed
def shared_rows(draws, sigma, rng):
    draws[:, 1] = draws[:, 0]
    return draws


@planted_noise.changed
def opposite_rows(draws, sigma, rng):
    draws[:, 1] = -draws[:, 0]
    return draws


class Amplified(planted.Gaussian):
    """The value is multiplied before the noise is added, and the profile ignores this."""

    only_adds_noise = False

    def prepared(self, value):
        return (1.3 * value).astype(value.dtype)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.parametrize("mistake", [shared_rows, opposite_rows])
@pytest.mark.parametrize("side", [8, 32, 64])
def test_rows_that_share_their_noise_are_caught_in_a_study(mistake, kind, side):
    mechanism = mistake.calibrate(query(kind, side), planted.BUDGET)
    with pytest.raises(Inconsistent, match="share their noise"):
        require_consistent(mechanism, seed=side, effort=QUICK)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", QUERIES)
def test_a_profile_that_is_slightly_too_good_is_caught_in_a_study(kind):
    mechanism = profile_times(0.985).calibrate(query(kind, 16), planted.BUDGET)
    with pytest.raises(Inconsistent, match="elements of the noise, which states that they are"):
        require_consistent(mechanism, seed=3, effort=QUICK)
    right = profile_times(1.0).calibrate(query(kind, 16), planted.BUDGET)
    assert require_consistent(right, seed=3, effort=QUICK).releases


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("kind", ["plain", "histogram"])
def test_a_value_that_is_amplified_is_caught_in_a_study(kind):
    mechanism = Amplified.calibrate(query(kind, 8), planted.BUDGET)
    with pytest.raises(Inconsistent, match="show a change of"):
        require_consistent(mechanism, seed=1, effort=QUICK)


@pytest.mark.usefixtures("steady_clock")
def test_noise_that_is_right_is_not_called_loose_for_its_profile():
    mechanism = profile_times(0.98).calibrate(query("plain", 32), planted.BUDGET)
    assert verify(mechanism, effort=THOROUGH).verdict == "inconsistent"
    missed = verify(profile_times(0.99).calibrate(query("plain", 8), planted.BUDGET), effort=None)
    assert "by its profile the noise has 1.0" in explain(missed)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("key", ["gaussian-analytic", "laplace"])
def test_one_element_has_no_other_to_correlate_with(key):
    one = Query(shape=(1,), l2_sensitivity=1.0, l1_sensitivity=1.0)
    mechanism = get_mechanism(key).calibrate(one, Budget(epsilon=1.0, delta=1e-5))
    assert require_consistent(mechanism, seed=0, effort=QUICK).releases


def test_events_begin_between_scores():
    """Scores that cancel are equal up to rounding, which must not decide their side."""
    event = chosen_event((np.zeros(64), np.ones(64)), np.array([0.5, 0.3]))
    assert 0.1 < event.threshold < 0.9
