"""Gaussians that differ in variance: the exact profiles of a random projection of the records.

The released rows are r independent draws of N(0, S) with S = A + w^2 I, where A is the sum of x x^T
over the records x, all of norm at most B. Whitening by what two neighbours have in common leaves
N(0, I + u u^T) against N(0, I) if a record is added or removed, and N(0, I + u u^T) against
N(0, I + v v^T) if one replaces another, with |u|^2 = x^T S^-1 x <= B^2 / w^2 (S of the common
records), and |v|^2 likewise. Let lambda = 1 + B^2 / w^2.

- Added or removed: N(0, mu)^r against N(0, 1)^r with mu <= lambda, along one direction.
- Replaced: I + u u^T - (I + v v^T) has at most one positive and one negative eigenvalue, so the
  generalised eigenvalues of the pair are mu >= 1 >= nu and ones. Because I <= I + v v^T and
  I + u u^T <= lambda I, mu <= lambda; nu >= 1 / lambda in the same way. The pair is
  N(0, diag(mu, nu))^r against N(0, I)^r.

A smaller ratio of variances reveals less. For mu <= lambda, a^2 = (mu - 1) / (lambda - 1) and z ~
N(0, 1), the map y -> a y + sqrt(1 - a^2) z takes N(0, lambda) to N(0, mu) and N(0, 1) to itself.
N(0, nu) against N(0, 1) is N(0, 1) against N(0, 1 / nu), rescaled. So the worst pairs have mu =
lambda and nu = 1 / lambda: every other pair is a post-processing of them, so they are worst for
every epsilon at once and in every composition. They occur if all other records, if any, are
orthogonal to x and y, x has norm B, and y has norm B and is orthogonal to x. In one dimension there
is no such y: mu or nu is 1, and a replacement is no worse than an addition.

In the words of Lu et al. (arXiv:2309.01243) these are normal distributions indistinguishability
spectra (NDIS), of covariances that differ in rank one and two.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from mechanisms.privacy.gaussian_profile import log_delta_and_error
from mechanisms.privacy.numerics import (
    LOG_SQRT_2PI,
    ULP,
    expm1_excess,
    log1mexp,
    log_integral,
    stirling_remainder,
)
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
)

# Squares of ratios within these limits stay far from overflow.
_LEAST_RATIO, _LARGEST_RATIO = 1e-140, 1e140
# The search for the bulk of an integral starts here; it lies within while log delta > -1e14.
_START, _END = -60.0, 40.0
# Below this value a double does not resolve the logarithm of the integrand.
_LOG_LEFT_OUT = -1e14


@dataclass(frozen=True, kw_only=True)
class _VariancesProfile(PrivacyProfile):
    """Base of the two profiles below.

    rows: r >= 1. ratio: B / w, within [1e-140, 1e140]. Raises TypeError or ValueError for anything
    else. Bounds are estimates: the difference of two trapezoidal rules, and rounding; checked
    against arithmetic of many digits from delta = 1e-200 to 1 in the tests. Where log delta is
    below -1e14 it is not resolved, and delta is reported as 0.
    """

    rows: int
    ratio: float

    def __post_init__(self) -> None:
        check_count("rows", self.rows)
        check_positive("ratio", self.ratio)
        if not _LEAST_RATIO <= self.ratio <= _LARGEST_RATIO:
            raise ValueError(
                f"ratio must lie in [{_LEAST_RATIO:g}, {_LARGEST_RATIO:g}], got {self.ratio}"
            )

    @property
    def _excess(self) -> float:
        """lambda - 1."""
        return float(self.ratio) ** 2

    @property
    def _log_lambda(self) -> float:
        return float(np.log1p(self._excess))

    def compose(self, times: int) -> Self:
        """Treat `times` releases as one with `times` r rows, which is exact."""
        return replace(self, rows=self.rows * check_count("times", times))

    def _scaled(self, factor: float) -> Self:
        """Return the profile with w multiplied by `factor`."""
        return replace(self, ratio=float(self.ratio / factor))

    @abstractmethod
    def _log_integrand(self, x: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
        """Return the log of a positive integrand whose integral over x is delta.

        x: (n, points). epsilon: (n, 1).
        """

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        def log_integrand(x: np.ndarray) -> np.ndarray:
            values = self._log_integrand(x, epsilon[:, None])
            return np.where(values > _LOG_LEFT_OUT, values, -np.inf)

        with np.errstate(over="ignore", divide="ignore"):
            value, error = log_integral(
                log_integrand, np.full(epsilon.size, _START), np.full(epsilon.size, _END)
            )
        value = np.minimum(value, 0.0)
        seen = value > -np.inf
        # In the bulk of the integral the log density of y changes by up to V + sqrt(2 k V) per unit
        # of y, where k is rows / 2 and V about -log delta; y is known to a few ulps of itself.
        order, depth = self.rows / 2, 1 - np.where(seen, value, 0.0)
        steepness = (depth + np.sqrt(2 * order * depth)) * (4 + np.log1p(depth / order))
        error = 2 * error + ULP * (64 + 4 * steepness)
        lower = np.where(seen, value - error, -np.inf)
        upper = np.where(seen, np.minimum(value + error, 0.0), _LOG_LEFT_OUT)
        return Bounds(lower, value, upper)

    def _log_density(self, y: np.ndarray) -> np.ndarray:
        """Return the log density of y = log(G / k), G ~ Gamma(k), k = r / 2; 2 G is chi-squared."""
        k = self.rows / 2
        return 0.5 * np.log(k) - LOG_SQRT_2PI - stirling_remainder(k) - k * expm1_excess(y)


@dataclass(frozen=True, kw_only=True)
class RaisedVarianceProfile(_VariancesProfile):
    """Profile of P = N(0, lambda)^r against Q = N(0, 1)^r, lambda = 1 + ratio^2.

    With k = r / 2 the loss is (lambda - 1) G - k log lambda, where G is Gamma(k) under P, and
    Gamma(k) / lambda under Q. The loss exceeds epsilon if G > a = (epsilon + k log lambda) /
    (lambda - 1). For G = a (1 + e^x) the excess is (epsilon + k log lambda) e^x, so that delta is
    an integral over x of positive terms.

    The pair is not symmetric: the loss of P against Q is unbounded, that of Q against P is at most
    k log lambda. P against Q is the worse direction for every epsilon >= 0. Proof: let D be the
    difference of the two deltas. D is 0 at epsilon = 0 (both are the total variation) and tends to
    0. D' = e^epsilon H with H = P(L < -epsilon) - Q(L > epsilon). From k log lambda on, H is
    -Q(L > epsilon) < 0. Below, H' is a positive number times R - 1, where R(epsilon) is the ratio
    of the densities of L at epsilon under Q and at -epsilon under P. R(0) = 1 and

        (log R)' = 2 (k - 1) k log lambda / (k^2 log^2 lambda - epsilon^2) - coth(log lambda / 2)

    starts below 0, because coth(t / 2) > 2 / t. It rises for k > 1, and falls or stays otherwise.
    So R - 1 is negative and then, if at all, positive; H falls and then, if at all, rises, to
    H(k log lambda) < 0. If H(0) were not positive, D would fall from 0 and never come back. So H is
    first positive, then negative, D first rises, then falls to 0, and is never negative.
    """

    symmetric = False

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw losses from a Gamma variable, whatever r is."""
        gamma = rng.standard_gamma(self.rows / 2, check_count("n", n))
        rate = self._excess if not reverse else self._excess / (1 + self._excess)
        return rate * gamma - self.rows / 2 * self._log_lambda

    def _log_integrand(self, x: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
        k = self.rows / 2
        total = epsilon + k * self._log_lambda
        y = np.log(total / k) - np.log(self._excess) + np.logaddexp(0.0, x)
        # dy = e^x / (1 + e^x) dx
        return self._log_density(y) + scipy.special.log_expit(x) + log1mexp(-total * np.exp(x))


@dataclass(frozen=True, kw_only=True)
class SwappedVariancesProfile(_VariancesProfile):
    """Profile of N(0, diag(lambda, 1))^r against N(0, diag(1, lambda))^r, lambda = 1 + ratio^2.

    The pair is symmetric: swapping the two coordinates swaps P and Q. It is Gaussian noise with a
    public, random signal. For one row (x, y): x + y is N(0, 1 + lambda) under both P and Q, and
    given x + y = s, x - y is normal with variance 4 lambda / (lambda + 1) and mean
    +-s (lambda - 1) / (lambda + 1). So given all r sums, P and Q are normal at the Mahalanobis
    distance mu with mu^2 = (lambda - 1)^2 / lambda times a chi-squared variable with r degrees of
    freedom, and delta is the mean of the Gaussian profile over that mu.
    """

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw losses (lambda - 1) G - (1 - 1 / lambda) G' from two Gamma variables G and G'."""
        large, small = rng.standard_gamma(self.rows / 2, (2, check_count("n", n)))
        losses = self._excess * large - self._excess / (1 + self._excess) * small
        return -losses if reverse else losses

    def _log_integrand(self, y: np.ndarray, epsilon: np.ndarray) -> np.ndarray:
        mu = self._excess * np.sqrt(self.rows / (1 + self._excess)) * np.exp(y / 2)
        log_delta, _ = log_delta_and_error(np.broadcast_to(epsilon, y.shape), mu)
        return self._log_density(y) + log_delta
