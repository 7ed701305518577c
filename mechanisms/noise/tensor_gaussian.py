"""Tensor-variate Gaussian noise: one covariance for each axis of the answer."""

import functools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.noise.distribution import (
    Noise,
    checked_dtype,
    uncorrelated_variance,
    variance_along,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.noise.matrix_gaussian import MatrixGaussian
from mechanisms.query.query import Query


@dataclass(frozen=True, kw_only=True, eq=False)
class TensorGaussian(Noise):
    """A standard normal tensor times U_k = directions_k diag(std_k) along each axis k.

    The covariance of vec(n) is the Kronecker product of the U_k U_k^T; it is never formed. For an
    answer whose only sensitivity is s in the l2 norm, the worst change is s times the product of
    the directions of least noise: mu = s / prod_k min(std_k).

    Args:
        stds: For each axis k its (n_k,) standard deviations along the directions.
        directions: For each axis an orthogonal (n_k, n_k), one direction per column, or None for
            the identity.
    """

    stds: tuple[np.ndarray, ...]
    directions: tuple[np.ndarray | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(std) for std in self.stds)

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, *self.shape), dtype)
        for axis, (std, directions) in enumerate(zip(self.stds, self.directions, strict=True), 1):
            last = np.moveaxis(draws, axis, -1)  # a view
            if directions is None:
                last *= std.astype(dtype)
            else:
                draws = np.moveaxis(last @ (directions * std).T.astype(dtype), -1, axis)
        return np.ascontiguousarray(draws)

    def loss(self):
        return LossMoments.of_kronecker_gaussian(*self.stds)

    def _scaled(self, factor):
        first, *others = self.stds
        return replace(self, stds=(first * factor, *others))

    def parameters(self):
        return {
            "sigma_min": math.prod(float(std.min()) for std in self.stds),
            "sigma_max": math.prod(float(std.max()) for std in self.stds),
        }

    def profile(self, query):
        """Gaussian, with the largest mu over the changes that the query allows, or bounds of it."""
        return self._unfolded.profile(self._of_matrix(query))

    def slack(self, query):
        return self._unfolded.slack(self._of_matrix(query))

    def squared_norm_survival(self, threshold):
        return self._unfolded.squared_norm_survival(threshold)

    def kappa(self):
        return self._unfolded.kappa()

    def workload_variance(self, factors):
        """The product over the axes of tr(V_k U_k U_k^T), if there is one factor for each."""
        if not any(np.ptp(std) for std in self.stds):
            return uncorrelated_variance(self, factors)
        if tuple(factor.cells for factor in factors) != self.shape:
            return None
        return math.prod(
            variance_along(factor.gram(), std, directions)
            for factor, std, directions in zip(factors, self.stds, self.directions, strict=True)
        )

    @cached_property
    def _unfolded(self) -> MatrixGaussian:
        """The same noise with the longest axis as rows and all others as columns.

        What one record changes has no order of elements, so that both have one profile.
        """
        rows = int(np.argmax(self.shape))
        others = [axis for axis in range(len(self.shape)) if axis != rows]
        turned = [self.directions[axis] for axis in others]
        turns = None
        if any(each is not None for each in turned):
            turns = _product(
                np.eye(self.shape[axis]) if each is None else each
                for axis, each in zip(others, turned, strict=True)
            )
        return MatrixGaussian(
            row_std=self.stds[rows],
            column_std=_product(self.stds[axis] for axis in others),
            row_directions=self.directions[rows],
            column_directions=turns,
        )

    def _of_matrix(self, query: Query) -> Query:
        return replace(query, shape=self._unfolded.shape)


def _product(factors) -> np.ndarray:
    """The Kronecker product of all factors."""
    return functools.reduce(np.kron, factors, np.ones(1))
