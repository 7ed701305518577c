"""Matrix-variate Gaussian noise: a covariance along the rows and one along the columns."""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from mechanisms.noise.distribution import (
    Noise,
    uncorrelated_variance,
    variance_along,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.noise.mahalanobis import (
    MatrixDeviations,
    largest_gram_mu,
    largest_move,
    largest_mu,
)
from mechanisms.privacy.gaussian_profile import gaussian_between
from mechanisms.query.query import Query
from mechanisms.query.supremum import Supremum


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixGaussian(MatrixDeviations, Noise):
    """Noise U1 N U2^T with N (m, n) standard normal and U_k = directions_k diag(std_k).

    k is 1 for rows and 2 for columns. The covariance of the noise in C order is the Kronecker
    product of U1 U1^T and U2 U2^T, which is never formed. Identity directions are passed as None
    and cost no matrix product.

    Args:
        row_std: (m,) standard deviations along the row directions.
        column_std: (n,) standard deviations along the column directions.
        row_directions: Orthogonal (m, m), one direction per column, or None for the identity.
        column_directions: Orthogonal (n, n) or None.
    """

    scale_field = "row_std"

    def sample(self, rng, trials, dtype=np.float64):
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
        # The trace of a power of a Kronecker product is the product of the traces.
        return LossMoments(
            tuple(
                2 ** (k - 1)
                * math.factorial(k - 1)
                * math.prod(float(np.sum(std ** (2 * k))) for std, _ in self.axes)
                for k in (1, 2, 3, 4)
            )
        )

    def parameters(self):
        largest = self.row_std.max() * self.column_std.max()
        return {"sigma_min": self.least_std, "sigma_max": float(largest)}

    def profile(self, query):
        """Return the Gaussian profile of the largest mu over all changes, or bounds on it."""
        bounds = self._largest_mu(query)
        slack = (
            "the query excludes the worst change of the l2 ball, and the noise is not along axes"
        )
        if query.gram_change is not None:
            slack = (
                "the least noise of rows and of columns lies in different directions, or the query "
                "excludes the worst pair of records"
            )
        return gaussian_between(bounds.lower, bounds.upper, slack)

    def _largest_mu(self, query: Query) -> Supremum:
        if query.structure == "histogram":
            return largest_move(self, query)
        if query.gram_change is not None:
            return largest_gram_mu(self, query)
        if not query.one_column:
            return largest_mu(self, query)
        # D = d e_j^T: the weight of the worst column j times the largest mu(d) under row noise.
        weight = float(self.element_weights[1].max())
        rows = replace(self, column_std=np.ones(1), column_directions=None)
        return Supremum(*(weight * mu for mu in largest_mu(rows, query)))

    def squared_norm_survival(self, threshold):
        if not self.independent:
            return None
        return scipy.special.chdtrc(self.size, threshold / self.least_std**2)

    def workload_variance(self, factors):
        """Return prod_k tr(V_k U_k U_k^T) over both axes, V_k being the Gram matrix of factor k.

        The result is None if the factors do not match the axes, unless the noise is `independent`.
        """
        if self.independent:
            return uncorrelated_variance(self, factors)
        if tuple(factor.cells for factor in factors) != self.shape:
            return None
        return math.prod(
            variance_along(factor.gram(), std, directions)
            for factor, (std, directions) in zip(factors, self.axes, strict=True)
        )


def orthonormal(name: str, directions, size: int) -> np.ndarray | None:
    """Return `directions`, one per column, as a float array, or None for the identity.

    Raises:
        ValueError: The shape is not (size, size), or the columns are not orthonormal to 1e-8. The
            message names the option `name`.
    """
    if directions is None:
        return None
    directions = np.asarray(directions, dtype=float)
    if directions.shape != (size, size):
        raise ValueError(f"option {name} must have shape {(size, size)}, got {directions.shape}")
    worst = float(np.abs(directions.T @ directions - np.eye(size)).max())
    if worst > 1e-8:
        raise ValueError(
            f"the columns of option {name} must be orthonormal, got inner products off by "
            f"{worst:.2g}; orthonormalise them first (numpy.linalg.qr)"
        )
    return None if np.array_equal(directions, np.eye(size)) else directions
