"""What only other methods, equal seeds, pairs of releases or the size of a sample give away."""

import planted_bugs as planted
import planted_draws as draws
import planted_other_kinds as kinds
import pytest

from mechanisms import Budget, Inconsistent
from mechanisms.check.checks import QUICK, THOROUGH, require_consistent
from mechanisms.verification.verification import INCONSISTENT, verify

AT_TWO = Budget(epsilon=2.0)

# The mistake, the query, the budget, and words of the sentence that says so.
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
    draws.ClippedToTheData: (planted.QUERY, planted.BUDGET, "hold an element of the value itself"),
    draws.SteepFarFromRest: (planted.QUERY, planted.BUDGET, "show a change of"),
    draws.ProfileOfNaN: (planted.QUERY, planted.BUDGET, "which is not a probability"),
    draws.ProfileThatGrows: (planted.QUERY, planted.BUDGET, "grows with epsilon"),
    draws.FineGrid: (
        kinds.HISTOGRAM,
        planted.BUDGET,
        "grid that moves|elements of the noise",
    ),
    draws.TwiceTheEpsilon: (kinds.BOX, AT_TWO, "two values that differ"),
    draws.BitsOfFiveEpsilons: (kinds.BOX, AT_TWO, "two values that differ"),
}
# Too few of the releases of a study show them.
FOR_VERIFY_ALONE = {
    draws.ShortSeeds,
    draws.FineGrid,
    draws.TwiceTheEpsilon,
    draws.BitsOfFiveEpsilons,
}


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
@pytest.mark.parametrize("effort", [QUICK, THOROUGH], ids=["quick", "thorough"])
def test_a_mistake_in_drawing_is_caught(mistake, effort):
    if effort is QUICK and mistake in FOR_VERIFY_ALONE:
        pytest.skip("a study takes too few releases")
    query, budget, words = MISTAKES[mistake]
    mechanism = mistake.calibrate(query, budget)
    with pytest.raises(Inconsistent, match=words):
        require_consistent(mechanism, seed=2, effort=effort)


@pytest.mark.usefixtures("steady_clock")
@pytest.mark.parametrize("steady_clock", [1 / 1995], ids=["199 releases"], indirect=True)
def test_halves_alike_are_caught_in_an_odd_number_of_releases():
    antithetic = draws.AntitheticHalves.calibrate(planted.QUERY, planted.BUDGET)
    with pytest.raises(Inconsistent, match="of the release half of them before"):
        require_consistent(antithetic, seed=2)


@pytest.mark.usefixtures("steady_clock")
def test_randomised_response_of_the_right_epsilon_is_no_mistake():
    right = draws.Bits.calibrate(kinds.BOX, AT_TWO)
    for seed in range(3):
        assert require_consistent(right, seed=seed).releases


def test_a_profile_of_nan_proves_nothing():
    found = verify(draws.ProfileOfNaN.calibrate(planted.QUERY, planted.BUDGET))
    assert found.verdict == INCONSISTENT
