"""Independent Laplace noise of one scale on every element."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.contract.query import Query
from mechanisms.noise.distribution import (
    Noise,
    box_binds,
    checked_dtype,
    uncorrelated_variance,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.profiles import fisher
from mechanisms.profiles.product_profiles import LaplaceProfile


def _largest_l1_change(query: Query) -> tuple[int, float] | None:
    """(k, w): the worst pair of Laplace noise changes k elements by w each.

    The worst change is concentrated on as few elements as possible (see LaplaceProfile): each moves
    by linf_sensitivity, and as many as the l1 ball allows. If that number is not an integer, the
    result is (1, l1_sensitivity), which is worse than any change of the query. None if neither
    sensitivity is stated.
    """
    linf = math.inf if query.linf_sensitivity is None else query.linf_sensitivity
    l1 = math.inf if query.l1_sensitivity is None else query.l1_sensitivity
    l1 = min(l1, query.changed * linf)
    if l1 == math.inf:
        return None
    count = l1 / linf
    if count <= 1 or abs(count - round(count)) > 1e-9 * count:
        return 1, l1
    return round(count), linf


@dataclass(frozen=True, kw_only=True)
class IndependentLaplace(Noise):
    """Independent Laplace noise of scale b (variance 2 b^2) on every element."""

    shape: tuple[int, ...]
    scale: float

    def sample(self, rng, trials, dtype=np.float64):
        # The difference of two exponentials is Laplace, and numpy draws them in both precisions.
        dtype = checked_dtype(dtype)
        draws = rng.standard_exponential((trials, *self.shape), dtype)
        draws -= rng.standard_exponential((trials, *self.shape), dtype)
        draws *= dtype.type(self.scale)
        return draws

    def loss(self):
        raw = (math.factorial(2 * k) * self.scale ** (2 * k) for k in (1, 2, 3, 4))
        return LossMoments.of_independent(tuple(raw), math.prod(self.shape))

    def scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        return {"b": self.scale}

    def profile(self, query):
        change = _largest_l1_change(query)
        if change is None:
            return None
        count, width = change
        return LaplaceProfile(l1_sensitivity=width, scale=self.scale).compose(count)

    def slack(self, query):
        change = _largest_l1_change(query)
        if change is None:
            return None
        if query.gram_change is not None:
            return (
                "the profile of Laplace noise ignores that the answer is a Gram matrix of records"
            )
        count, width = change
        if box_binds(query, width):
            return (
                "the element box excludes a change of one element by l1_sensitivity, and the "
                "profile uses the box only if l1_sensitivity is a multiple of linf_sensitivity"
            )
        if width * math.sqrt(count) > query.l2_sensitivity * (1 + 1e-9):
            return (
                "the profile of Laplace noise ignores l2_sensitivity, which excludes its worst pair"
            )
        return None

    def kappa(self):
        return fisher.LAPLACE

    def workload_variance(self, factors):
        return uncorrelated_variance(self, factors)
