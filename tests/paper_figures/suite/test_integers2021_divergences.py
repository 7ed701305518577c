"""Renyi divergences of whole-number noise, against closed forms and bounds that are too small."""

import math

import numpy as np
import pytest

from mechanisms.catalogue.counts.integer_mechanisms import skellam_epsilon
from paper_figures.integers2021.divergences import (
    skellam,
)


def test_the_bound_of_skellam_noise_is_the_one_that_the_mechanism_uses():
    variance, delta = 40.0, 1e-5
    orders = 1 + np.exp(np.linspace(-3, 5, 4001))
    best = min(
        skellam(order, variance)
        + (math.log(1 / delta) + (order - 1) * math.log1p(-1 / order) - math.log(order))
        / (order - 1)
        for order in orders
    )
    assert skellam_epsilon(1, variance, delta) == pytest.approx(best, rel=1e-6)
