"""The noise distributions that additive mechanisms draw from.

A distribution knows how to draw, the exact moments of its squared norm, how it scales and its
privacy profile for a query. A mechanism only decides how large the noise has to be.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import mpmath
import numpy as np
from scipy import special

from mechanisms.contract import Query
from mechanisms.loss import LossMoments
from mechanisms.privacy.gaussian import (
    VERTEX_AXES,
    GaussianProfile,
    worst_case_mu,
    worst_vertex_mu,
)
from mechanisms.privacy.products import LaplaceProfile
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.spherical import SphericalProfile
from mechanisms.workloads import Workload

# Floats drawn at a time by `loss_samples`: 64 MiB of float64, whatever the shape.
CHUNK = 1 << 23


class Noise(ABC):
    """Additive noise of a fixed shape, zero-mean unless the subclass says otherwise.

    A frozen dataclass in every subclass.
    """

    shape: tuple[int, ...]

    @abstractmethod
    def sample(self, rng: np.random.Generator, trials: int, dtype=np.float64) -> np.ndarray:
        """Draw an array (trials, *shape) of float32 or float64."""

    @abstractmethod
    def loss(self) -> LossMoments:
        """The exact moments of L = ||n||^2."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """The distribution of `factor` times this noise, factor > 0."""

    @abstractmethod
    def parameters(self) -> dict[str, float]:
        """Named scale parameters, the family's own scale first."""

    def profile(self, query: Query) -> PrivacyProfile | None:
        """The worst pair over the query's sensitivity set, or None where it is not known."""
        return None

    def slack(self, query: Query) -> str | None:
        """Why `profile` may be worse than the worst pair, or None where it is exactly that.

        A profile with slack proves a claim but cannot refute one, and has no exact footing.
        """
        return None

    def loss_survival(self, threshold: np.ndarray) -> np.ndarray | None:
        """P(L > threshold) elementwise, or None where there is no closed form."""
        return None

    def workload_variance(self, factors: tuple[Workload, ...]) -> float | None:
        """E||W n||^2, the total variance of linear queries; None where it is not computed.

        W is the Kronecker product of `factors`, over as many cells in all as the noise has
        elements (flattened in C order).
        """
        return None

    def loss_samples(self, rng: np.random.Generator, trials: int) -> np.ndarray:
        """`trials` draws of L, in chunks so that memory does not grow with the trials."""
        size = math.prod(self.shape)
        at_once = max(1, CHUNK // size)
        losses = np.empty(trials)
        for start in range(0, trials, at_once):
            count = min(at_once, trials - start)
            draws = self.sample(rng, count).reshape(count, size)
            losses[start : start + count] = np.vecdot(draws, draws)
        return losses


def checked_dtype(dtype) -> np.dtype:
    """float32 or float64 as a dtype; TypeError for anything else."""
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"noise is drawn as float32 or float64, got dtype {dtype}")
    return dtype


def _variance_along(gram: np.ndarray, std: np.ndarray, directions: np.ndarray | None) -> float:
    """tr(V U U^T) for U = directions diag(std)."""
    own = np.diag(gram) if directions is None else np.vecdot(directions, gram @ directions, axis=0)
    return float(own @ std**2)


def _uncorrelated_variance(noise: Noise, factors: tuple[Workload, ...]) -> float:
    """E||W n||^2 = tr(W^T W) E L / M for uncorrelated elements of one variance."""
    trace = math.prod(factor.trace() for factor in factors)
    return trace * noise.loss().mean / math.prod(noise.shape)


def _box_binds(query: Query, change: float) -> bool:
    """Whether no single element may move by as much as `change`."""
    return query.linf_sensitivity is not None and query.linf_sensitivity < change


def gram_slack(query: Query) -> str | None:
    """Why no change of a Gram matrix may be as large as `Query.reach`, if so."""
    if query.gram_change is None or not _box_binds(query, query.record_bound**2 * (1 - 1e-12)):
        return None
    return "no element can move by record_bound^2, as the worst pair of the ball of records does"


@dataclass(frozen=True, kw_only=True)
class NoNoise(Noise):
    """The value itself: the non-private control."""

    shape: tuple[int, ...]

    def sample(self, rng, trials, dtype=np.float64):
        return np.zeros((trials, *self.shape), checked_dtype(dtype))

    def loss(self):
        return LossMoments((0.0, 0.0, 0.0, 0.0))

    def scaled(self, factor):
        return self

    def parameters(self):
        return {"sigma": 0.0}

    def workload_variance(self, factors):
        return 0.0


@dataclass(frozen=True, kw_only=True)
class IndependentGaussian(Noise):
    """Independent N(0, sigma^2) on every element of an answer of any shape."""

    shape: tuple[int, ...]
    sigma: float

    def sample(self, rng, trials, dtype=np.float64):
        draws = rng.standard_normal((trials, *self.shape), checked_dtype(dtype))
        draws *= draws.dtype.type(self.sigma)
        return draws

    def loss(self):
        size, variance = math.prod(self.shape), self.sigma**2
        return LossMoments(
            tuple(2 ** (k - 1) * math.factorial(k - 1) * size * variance**k for k in (1, 2, 3, 4))
        )

    def scaled(self, factor):
        return replace(self, sigma=self.sigma * factor)

    def parameters(self):
        return {"sigma": self.sigma}

    def profile(self, query):
        return GaussianProfile(mu=query.reach / self.sigma)

    def slack(self, query):
        return gram_slack(query)

    def loss_survival(self, threshold):
        return special.chdtrc(math.prod(self.shape), np.asarray(threshold) / self.sigma**2)

    def workload_variance(self, factors):
        return _uncorrelated_variance(self, factors)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixGaussian(Noise):
    """U1 N U2^T with N standard normal (m x n) and U_k = directions_k diag(std_k).

    The covariance of vec(n) is the Kronecker product of U1 U1^T and U2 U2^T; it is never formed.
    Directions equal to the identity are passed as None and cost no matrix product.

    Args:
        row_std: (m,) standard deviations along the row directions.
        column_std: (n,) standard deviations along the column directions.
        row_directions: Orthogonal (m, m), one direction per column, or None for the identity.
        column_directions: Orthogonal (n, n) or None.
    """

    row_std: np.ndarray
    column_std: np.ndarray
    row_directions: np.ndarray | None = None
    column_directions: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.row_std), len(self.column_std)

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, *self.shape), dtype)
        if self.row_directions is None:
            draws *= self.row_std.astype(dtype)[:, None]
        else:
            draws = (self.row_directions * self.row_std).astype(dtype) @ draws
        if self.column_directions is not None:
            return draws @ (self.column_directions * self.column_std).T.astype(dtype)
        if not np.all(self.column_std == 1):
            draws *= self.column_std.astype(dtype)
        return draws

    def loss(self):
        # tr((A kron B)^k) = tr(A^k) tr(B^k)
        return LossMoments(
            tuple(
                2 ** (k - 1)
                * math.factorial(k - 1)
                * float(np.sum(self.row_std ** (2 * k)) * np.sum(self.column_std ** (2 * k)))
                for k in (1, 2, 3, 4)
            )
        )

    def scaled(self, factor):
        return replace(self, row_std=self.row_std * factor)

    def parameters(self):
        products = self.row_std.min() * self.column_std.min()
        largest = self.row_std.max() * self.column_std.max()
        return {"sigma_min": float(products), "sigma_max": float(largest)}

    def profile(self, query):
        """mu over the l2 ball, and over its cut with the element box where `slack` is None."""
        if query.one_column:
            return GaussianProfile(mu=self._column_weight() * self._one_column_mu(query))
        if query.gram_change is not None:
            ball = query.reach / self.parameters()["sigma_min"]
            return GaussianProfile(mu=min(ball, self._gram_mu(query)))
        if not self._diagonal() or query.linf_sensitivity is None:
            return GaussianProfile(mu=query.l2_sensitivity / self.parameters()["sigma_min"])
        if self._uniform():
            return GaussianProfile(mu=query.reach / self.parameters()["sigma_min"])
        mu = worst_case_mu(
            np.outer(self.row_std, self.column_std),
            l2_sensitivity=query.l2_sensitivity,
            linf_sensitivity=query.linf_sensitivity,
        )
        return GaussianProfile(mu=mu)

    def slack(self, query):
        if query.gram_change is not None:
            return gram_slack(query) or self._gram_directions_slack(query)
        if self._diagonal() or not _box_binds(query, query.l2_sensitivity):
            return None
        if query.one_column and (self.row_directions is None or self._box_in_ball(query)):
            return None
        return "the element box is not used for noise along other directions than the axes"

    def _gram_mu(self, query: Query) -> float:
        """B^2 sqrt(sum_k 1 / (r_k c_k)^2), r and c the ascending row and column deviations.

        k runs to the rank of D = +-x x^T or x x^T - y y^T, one or two, whose eigenvalues are at
        most B^2. The singular values of U1^-1 D U2^-T are log-majorised by the products of those of
        its factors (Horn 1950), which bounds its norm by this. x = B u_1 and y = B u_2 attain it
        where the directions u_k of the least deviations are those of rows and of columns.
        """
        rank = _gram_rank(query)
        least = np.sort(self.row_std)[:rank] * np.sort(self.column_std)[:rank]
        return query.record_bound**2 * float(np.linalg.norm(1 / least))

    def _gram_directions_slack(self, query: Query) -> str | None:
        """Why `_gram_mu` or the l2 ball is not attained by records, if so."""
        if self._uniform():
            return None
        if query.l2_sensitivity < query.gram_change * (1 - 1e-12):
            return "l2_sensitivity cuts off changes of records, which is not used for this noise"
        if np.ptp(self.row_std) and np.ptp(self.column_std):
            rows, columns = (
                np.eye(len(std))[:, order] if directions is None else directions[:, order]
                for std, directions in (
                    (self.row_std, self.row_directions),
                    (self.column_std, self.column_directions),
                )
                for order in [np.argsort(std, kind="stable")[: _gram_rank(query)]]
            )
            if not np.allclose(np.abs(np.vecdot(rows, columns, axis=0)), 1, rtol=0, atol=1e-12):
                return "rows and columns have the least noise in different directions"
        return None

    def _column_weight(self) -> float:
        """The largest ||diag(1 / column_std) column_directions^T e_j|| over the columns j."""
        if self.column_directions is None:
            return float(1 / self.column_std.min())
        return float(np.linalg.norm(self.column_directions / self.column_std, axis=1).max())

    def _one_column_mu(self, query: Query) -> float:
        """mu of the worst change of one column, under the row noise alone."""
        l2, linf = query.l2_sensitivity, query.linf_sensitivity
        if self.row_directions is None:
            return worst_case_mu(self.row_std, l2_sensitivity=l2, linf_sensitivity=linf)
        if self._box_in_ball(query):
            return worst_vertex_mu(self.row_directions, self.row_std, linf)
        return l2 / float(self.row_std.min())

    def _box_in_ball(self, query: Query) -> bool:
        """Whether the element box of one column lies in the l2 ball and has few vertices."""
        rows, linf = len(self.row_std), query.linf_sensitivity
        if linf is None or rows > VERTEX_AXES:
            return False
        return linf * math.sqrt(rows) <= query.l2_sensitivity * (1 + 1e-12)

    def _diagonal(self) -> bool:
        return self.row_directions is None and self.column_directions is None

    def _uniform(self) -> bool:
        return not (np.ptp(self.row_std) or np.ptp(self.column_std))

    def loss_survival(self, threshold):
        if not self._uniform():
            return None
        sigma = self.parameters()["sigma_min"]
        return special.chdtrc(math.prod(self.shape), np.asarray(threshold) / sigma**2)

    def workload_variance(self, factors):
        """The product of tr(V_k U_k U_k^T) over both axes, where there is one factor for each."""
        if self._uniform():
            return _uncorrelated_variance(self, factors)
        if tuple(factor.cells for factor in factors) != self.shape:
            return None
        axes = (
            (self.row_std, self.row_directions),
            (self.column_std, self.column_directions),
        )
        return math.prod(
            _variance_along(factor.gram(), std, directions)
            for factor, (std, directions) in zip(factors, axes, strict=True)
        )


def _gram_rank(query: Query) -> int:
    """The largest rank of the change that one record makes to a Gram matrix."""
    return 2 if query.adjacency == "replace" else 1


def _largest_l1_change(query: Query) -> tuple[int, float] | None:
    """(k, w): Laplace noise is least private where k elements move by w each.

    Shift belongs on as few elements as possible (see LaplaceProfile): as many as the l1 ball
    allows move by all of linf_sensitivity. Where that number is no whole one, (1, l1_sensitivity),
    which is worse than any change of the query. None without either sensitivity.
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
            return "the changes that a record makes to a Gram matrix are not used for Laplace noise"
        count, width = change
        if _box_binds(query, width):
            return (
                "no single element can move by l1_sensitivity, and the element box is used only "
                "where l1_sensitivity is a whole multiple of linf_sensitivity"
            )
        if width * math.sqrt(count) > query.l2_sensitivity * (1 + 1e-9):
            return "the l2 ball is not used for Laplace noise, and it cuts off the worst pair"
        return None

    def workload_variance(self, factors):
        return _uncorrelated_variance(self, factors)


@dataclass(frozen=True, kw_only=True)
class Spherical(Noise):
    """Noise R v with v uniform on the unit sphere of R^M and (R / scale)^power ~ Gamma(a/power).

    The density is proportional to ||x||^(a - M) exp(-(||x|| / scale)^power): the Gaussian is
    (a, power) = (M, 2), the l2 mechanism (M, 1), R1SMG (1, 2).

    Args:
        shape: Axes of the answer; M is their product.
        radial_shape: a, in (0, M].
        power: Positive.
        scale: Positive, in units of the answer.
    """

    shape: tuple[int, ...]
    radial_shape: float
    power: float
    scale: float

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, math.prod(self.shape)), dtype)
        radius = rng.standard_gamma(self.radial_shape / self.power, trials) ** (1 / self.power)
        draws *= (self.scale * radius / np.sqrt(np.vecdot(draws, draws)))[:, None].astype(dtype)
        return draws.reshape(trials, *self.shape)

    def loss(self):
        with mpmath.workdps(60):
            a, p, b = (mpmath.mpf(v) for v in (self.radial_shape, self.power, self.scale))
            log_raw = tuple(
                2 * k * mpmath.log(b) + mpmath.loggamma((a + 2 * k) / p) - mpmath.loggamma(a / p)
                for k in (1, 2, 3, 4)
            )
        return LossMoments.of_radius(log_raw)

    def scaled(self, factor):
        return replace(self, scale=self.scale * factor)

    def parameters(self):
        return {"b": self.scale, "a": self.radial_shape, "power": self.power}

    def profile(self, query):
        return SphericalProfile(
            dimension=query.size,
            shape=self.radial_shape,
            power=self.power,
            scale=self.scale,
            sensitivity=query.reach,
        )

    def slack(self, query):
        return gram_slack(query)

    def loss_survival(self, threshold):
        radius = np.sqrt(np.asarray(threshold)) / self.scale
        return special.gammaincc(self.radial_shape / self.power, radius**self.power)

    def workload_variance(self, factors):
        # A direction without preference: the covariance is E R^2 / M times the identity.
        return _uncorrelated_variance(self, factors)
