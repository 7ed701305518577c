"""The noise of PLRV-O in runs of DP-SGD, against draws and known numbers."""

import numpy as np
import pytest

from paper_figures.ledger import all_claims
from paper_figures.plrvo2025.theorems import (
    gaussian_multiplier,
    mixture_noise,
    run_epsilon,
    scale_mixture_std,
)
from paper_figures.verdicts import NOT_RUN


def test_the_rate_taken_for_the_scale():
    rng = np.random.default_rng(0)
    draws = rng.laplace(size=400_000) * rng.gamma(8.0, 0.3, size=400_000)
    assert draws.std() == pytest.approx(scale_mixture_std(8.0, 0.3), rel=0.02)


def test_the_gaussian_of_a_run_has_its_epsilon():
    run = {"sampling": 1.0, "steps": 1, "delta": 1e-5}
    # One release, by the exact profile: sigma 3.7306 at epsilon 1.
    assert gaussian_multiplier(1.0, **run) == pytest.approx(3.7306, rel=2e-3)
    many = {"sampling": 0.015204, "steps": 197, "delta": 1e-5}
    assert run_epsilon(gaussian_multiplier(0.2, **many), **many) == pytest.approx(0.2, rel=1e-3)


def test_noise_alone_judges_no_accuracy():
    claim = next(claim for claim in all_claims() if claim.id == "plrvo-ahead")
    finding = mixture_noise(claim, None)
    assert [part.verdict for part in finding.parts] == [NOT_RUN, NOT_RUN]
    images, corrected, inverted = (
        text.split("standard deviation ")[1] for text in finding.detail.split("delta 1e-05. ")[1:]
    )
    # What the claim's sentence says: larger, larger, and a tenth; sqrt(2) / (k theta C) is 35.7,
    # 14.1, and sqrt(2) k theta / C is 0.354.
    assert images.startswith("35.7 C in each element, and Gaussian noise of epsilon 0.5")
    assert "by loss distributions, 10 C." in images
    assert corrected.startswith("14.1 C") and "by loss distributions, 3.66 C." in corrected
    assert inverted.startswith("0.354 C") and "by loss distributions, 3.66 C." in inverted
    assert "was not computed" in inverted and "was not computed" not in corrected
