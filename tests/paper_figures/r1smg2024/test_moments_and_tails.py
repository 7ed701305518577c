"""Moments and tails of the loss by chi-squared laws, and what they say of the paper's remarks."""

from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.r1smg2024.noise_only import (
    _moment_parts,
)


def test_full_rank_moments_beyond_r1smg_s_would_contradict():
    ours, stated = [(3.0, 0.5)], [(3.0, 0.5)]
    verdicts = [
        [part.verdict for part in _moment_parts(ours, stated, rank_one, 1e-6)]
        for rank_one in ((15.0, 2.8), (15.0, 0.4))
    ]
    assert verdicts == [[CONFIRMED] * 3, [CONFIRMED, CONFIRMED, CONTRADICTED]]
