"""Moments and tails of the loss by chi-squared laws, and what they say of the paper's remarks."""

from paper_figures.r1smg2024.moments_and_tails import full_rank_moments, stability
from paper_figures.verdicts import CONFIRMED, CONTRADICTED, DEPENDS


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
    found = full_rank_moments(make_claim(1e-6, sides=[2, 89]), None)
    assert [part.verdict for part in found.parts] == [CONFIRMED, CONTRADICTED, CONTRADICTED]
