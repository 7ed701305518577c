"""The verdict on the paper's remarks about moments of the loss."""

from claims.verdicts import CONFIRMED, CONTRADICTED
from paper_figures.r1smg2024 import noise_only


def test_full_rank_moments_beyond_r1smg_s_would_contradict(monkeypatch):
    gaussian = noise_only.noise_of("gaussian", 100)
    of = noise_only.noise_of
    monkeypatch.setattr(
        noise_only, "noise_of", lambda key, side: gaussian if key == "r1smg" else of(key, side)
    )
    found = noise_only.full_rank_moments(sides=[2, 10], tolerance=1e-6)
    verdicts = [part.verdict for part in found.parts[:3]]
    assert verdicts == [CONFIRMED, CONFIRMED, CONTRADICTED]
