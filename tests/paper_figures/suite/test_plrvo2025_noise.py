"""The noise of PLRV-O in runs of DP-SGD, against draws and known numbers."""

import numpy as np
import pytest

from paper_figures.plrvo2025.theorems import (
    gaussian_multiplier,
    run_epsilon,
    scale_mixture_std,
)


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
