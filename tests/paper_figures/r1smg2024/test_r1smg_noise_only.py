"""Figure 9 and its verdict read the same rows; made-up rows decide the verdict."""

import warnings

import pytest

from claims.ledger import CannotJudge
from claims.verdicts import CONFIRMED, PARTLY
from mechanisms import Budget, OutOfRangeWarning, get_mechanism
from paper_figures.r1smg2024.noise_only import figure_9, loss_growth
from paper_figures.r1smg2024.numbers import GROWTH_DELTA, GROWTH_EPSILONS
from studies.noise_only import family_query

GAUSSIANS = ("gaussian", "gaussian-analytic")


def growth_rows(losses, *, calibration="published", sides=(10, 100, 1000)):
    """Rows of expected losses by a function of the mechanism, the side and epsilon."""
    return [
        {
            "study": "noise_only",
            "dataset": "fixed-sensitivity",
            "metric": "expected_loss",
            "mechanism": mechanism,
            "calibration": calibration,
            "shape": f"{side}x{side}",
            "epsilon": epsilon,
            "delta": GROWTH_DELTA,
            "value": losses(mechanism, side, epsilon),
        }
        for mechanism in ("r1smg", *GAUSSIANS)
        for side in sides
        for epsilon in GROWTH_EPSILONS
    ]


def stated(mechanism, side, epsilon):
    """Losses as the figure of the paper shows them."""
    if mechanism == "r1smg":
        return 2 / epsilon * (1 + 1e-4 * 1000 / side)
    return side**2 / epsilon**2


def rising(mechanism, side, epsilon):
    return stated(mechanism, 1000_000 / side if mechanism == "r1smg" else side, epsilon)


def quadratic(mechanism, side, epsilon):
    return stated(mechanism, side**2 if mechanism == "gaussian" else side, epsilon)


def twice_the_limit(mechanism, side, epsilon):
    return stated(mechanism, side, epsilon) * (2 if mechanism == "r1smg" else 1)


@pytest.fixture
def growth_claim(make_claim):
    return make_claim(1e-3, sizes=[100, 1_000_000], linear=list(GAUSSIANS))


@pytest.mark.parametrize(
    ("losses", "verdict"),
    [
        (stated, CONFIRMED),
        (rising, PARTLY),
        (quadratic, PARTLY),
        (twice_the_limit, PARTLY),
    ],
)
def test_loss_growth(losses, verdict, growth_claim, make_results):
    assert loss_growth(growth_claim, make_results(growth_rows(losses))).verdict == verdict


def test_loss_growth_at_both_calibrations(growth_claim, make_results):
    exact = growth_rows(lambda m, side, e: 1e3 * side**2 if m == "r1smg" else side**2,
                        calibration="exact")  # fmt: skip
    found = loss_growth(growth_claim, make_results(growth_rows(stated) + exact))
    assert "R1SMG's loss grows as M^1 and is 1e+03 to 1e+03 times theirs" in found.detail


def test_the_mechanisms_losses_are_those_of_the_figure(growth_claim, make_results):
    def losses(mechanism, side, epsilon):
        budget = Budget(epsilon=epsilon, delta=GROWTH_DELTA)
        query = family_query("fixed-sensitivity", (side, side))
        return get_mechanism(mechanism).calibrate(query, budget).expected_loss()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        rows = growth_rows(losses)
    found = loss_growth(growth_claim, make_results(rows))
    assert found.verdict == CONFIRMED
    drawn = figure_9(make_results(rows)).data
    assert sorted(drawn["value"]) == sorted(row["value"] for row in rows)


@pytest.mark.parametrize("sides", [(10, 100), (4, 100, 1000)])
def test_other_sizes_decide_nothing(sides, growth_claim, make_results):
    results = make_results(growth_rows(stated, sides=sides))
    with pytest.raises(CannotJudge, match="M from 100 to 1000000; this run has other sizes"):
        loss_growth(growth_claim, results)
