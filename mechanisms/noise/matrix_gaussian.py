"""Matrix-variate Gaussian noise: a covariance along the rows and one along the columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from mechanisms.contract.query import Query
from mechanisms.noise.distribution import (
    Noise,
    box_binds,
    checked_dtype,
    gram_slack,
    uncorrelated_variance,
    variance_along,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.profiles import fisher
from mechanisms.profiles.gaussian_profile import (
    VERTEX_AXES,
    GaussianProfile,
    worst_case_mu,
    worst_vertex_mu,
)


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
        """The largest mu over the l2 ball, cut with the element box where `slack` is None."""
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
        # Noise along the coordinate axes meets its worst change at whole counts.
        whole = query.structure == "counts" and self._diagonal()
        if query.structure in ("counts", "votes") and not (whole or self._uniform()):
            return f"the profile ignores what structure {query.structure!r} excludes"
        if self._diagonal() or not box_binds(query, query.l2_sensitivity):
            return None
        if query.one_column and (self.row_directions is None or self._box_in_ball(query)):
            return None
        return "the profile uses the element box only for noise along the coordinate axes"

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
        """Why no records attain `_gram_mu` or the l2 ball, or None if some do."""
        if self._uniform():
            return None
        if query.l2_sensitivity < query.gram_change * (1 - 1e-12):
            return "the profile ignores that l2_sensitivity excludes some changes of records"
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
                return "the least noise of rows and of columns lies in different directions"
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

    def kappa(self):
        return fisher.GAUSSIAN if self._uniform() else None

    def workload_variance(self, factors):
        """The product of tr(V_k U_k U_k^T) over both axes, if there is one factor for each."""
        if self._uniform():
            return uncorrelated_variance(self, factors)
        if tuple(factor.cells for factor in factors) != self.shape:
            return None
        axes = (
            (self.row_std, self.row_directions),
            (self.column_std, self.column_directions),
        )
        return math.prod(
            variance_along(factor.gram(), std, directions)
            for factor, (std, directions) in zip(factors, axes, strict=True)
        )


def _gram_rank(query: Query) -> int:
    """The largest rank of the change that one record makes to a Gram matrix."""
    return 2 if query.adjacency == "replace" else 1
