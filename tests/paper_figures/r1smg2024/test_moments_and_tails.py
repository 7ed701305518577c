"""Moments and tails of the loss by chi-squared laws, and what they say of the paper's remarks."""

from claims.verdicts import CONFIRMED, CONTRADICTED, DEPENDS
from paper_figures.r1smg2024.moments_and_tails import (
    _moment_parts,
    full_rank_moments,
    stability,
)


def test_stability_is_relative_to_the_mechanism_s_own_mean(make_claim):
    found = stability(make_claim(sides=[10, 89], factors=[2, 5]), None)
    relative, absolute = ([part.verdict for part in o.parts] for o in found.outcomes)
    assert relative == [CONTRADICTED] * 2 and absolute == [CONFIRMED, CONTRADICTED]
    assert found.verdict == DEPENDS
    # P(z^2 > 2) of a normal z, rounded down.
    assert "R1SMG 0.157" in found.numbers
    assert "R1SMG 0.023, classic Gaussian 0.5" in found.numbers
    assert "R1SMG 0.0013, classic Gaussian below 1e-307" in found.numbers


def test_remark_2_is_right_about_the_mean_alone(make_claim):
    found = full_rank_moments(make_claim(1e-6, sides=[2, 1000]), None)
    about_mean, about_zero = ([part.verdict for part in o.parts] for o in found.outcomes)
    assert about_mean == [CONFIRMED] * 3
    assert about_zero == [CONTRADICTED, CONTRADICTED, CONFIRMED]
    assert found.verdict == DEPENDS
    # chi-squared with one degree of freedom: 3 + 12 and sqrt(8).
    assert "R1SMG's larger, 15 and 2.828" in found.numbers
    # About zero both are moments of a loss that is next to constant.
    assert "kurtosis 1 (stated 3)" in found.numbers


def test_full_rank_moments_beyond_r1smg_s_would_contradict():
    ours, stated = [(3.0, 0.5)], [(3.0, 0.5)]
    verdicts = [
        [part.verdict for part in _moment_parts(ours, stated, rank_one, 1e-6)]
        for rank_one in ((15.0, 2.8), (15.0, 0.4))
    ]
    assert verdicts == [[CONFIRMED] * 3, [CONFIRMED, CONFIRMED, CONTRADICTED]]
