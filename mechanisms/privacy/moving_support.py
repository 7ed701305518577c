"""Noise whose support moves with the data: some outputs reveal the data with certainty."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)


@dataclass(frozen=True, kw_only=True)
class WishartProfile(PrivacyProfile):
    """A Gram matrix plus W ~ Wishart_d(d + 1, c I): delta(e) = 1 - e^-kappa at every e >= 0.

    kappa = B^2 / (2 c), where a record has norm at most B. The density of W is constant times
    e^(-tr W / (2 c)) on the positive semidefinite cone, and nothing else is needed: since
    tr(W' + x x^T) = tr W' + |x|^2,

        P(W >= x x^T) = e^(-|x|^2 / (2 c))   (>= in the order of the cone; shift W by x x^T).

    Without and with a record of |x| = B the outputs are W and x x^T + W. Only the first can leave
    the cone at x x^T, which it does with probability 1 - e^-kappa; where both are possible the
    loss of the first against the second is -kappa. So its delta is 1 - e^-kappa for e >= 0, and
    the other direction, whose loss is kappa always, has (1 - e^(e - kappa))_+, which is no more.

    Replacing x by y is no worse, over all |x|, |y| <= B. Let a = |x|^2 / (2 c), b = |y|^2 / (2 c)
    and s = P(W + x x^T >= y y^T), the mass of the first output that the second can have; the loss
    there is a - b, hence delta(e) = 1 - s min(1, e^(e - a + b)). As W + x x^T >= W, s >= e^-b, and
    s min(1, e^(e - a + b)) >= min(e^-b, e^(e - a)) >= e^-kappa. A record of zero attains it.

    T releases: s becomes s^T and the loss T (a - b), so kappa becomes T kappa, by the same lines.

    The pair is not symmetric: P is the law without the record, the direction with the infinite
    loss and the larger delta. Bounds: rounding only.

    kappa: finite, > 0.
    """

    kappa: float

    symmetric = False

    def __post_init__(self) -> None:
        check_positive("kappa", self.kappa)

    @property
    def exposed_mass(self) -> float:
        """1 - e^-kappa: the probability of an output that proves the record absent."""
        return float(-np.expm1(-self.kappa))

    def compose(self, times: int) -> WishartProfile:
        return replace(self, kappa=self.kappa * check_count("times", times))

    def _scaled(self, factor: float) -> WishartProfile:
        return replace(self, kappa=self.kappa / factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """kappa must become -log(1 - delta), whatever epsilon is; ValueError for delta = 0."""
        check_target(epsilon, delta)
        if delta == 0:
            raise ValueError(
                "the support of this noise moves with the data at any scale; choose delta > 0"
            )
        return float(self.kappa / -np.log1p(-delta))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Without the record inf with probability 1 - e^-kappa, else -kappa; with it, -kappa."""
        losses = np.full(check_count("n", n), -self.kappa)
        if not reverse:
            losses[rng.random(n) < self.exposed_mass] = np.inf
        return losses

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        value = np.full(epsilon.shape, log1mexp(np.array(-self.kappa)))
        error = 8 * ULP * (1 + np.abs(value))
        return Bounds(value - error, value, np.minimum(value + error, 0.0))

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        return np.full(epsilon.shape, self.exposed_mass)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        """inf below the exposed mass, 0 from there on."""
        masses = self.exposed_mass * (1 + 16 * ULP * np.array([-1.0, 0.0, 1.0]))
        return Bounds(*(np.where(delta < mass, np.inf, 0.0) for mass in masses))
