"""Workloads: linear queries W x on a histogram x, represented by their Gram matrix.

The matrix mechanism sees a workload W (q x n) only through V = W^T W (n x n): the total squared
error of unbiased answers with noise of covariance C on x is tr(W C W^T) = tr(V C). So a workload
of many rows gives `gram()` in closed form; `matrix()` writes the rows out for small n.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce

import numpy as np

from mechanisms.privacy.profile import check_count


class Workload(ABC):
    """q linear queries over n cells; cells are numbered 0 to n - 1.

    Attributes:
        cells: n, at least 1.
        queries: q, at least 1.
    """

    cells: int
    queries: int

    def gram(self) -> np.ndarray:
        """Return V = W^T W, a new (n, n) float64 array; long workloads do not form W."""
        rows = self.matrix()
        return rows.T @ rows

    @abstractmethod
    def matrix(self) -> np.ndarray:
        """Return W itself, (q, n), for small n."""

    def trace(self) -> float:
        """Return tr V, the sum of the squares of all coefficients of W."""
        return float(np.trace(self.gram()))

    def gram_times(self, cells: np.ndarray) -> np.ndarray:
        """Return V x for every vector x along the last axis of `cells`, (..., n)."""
        return cells @ self.gram()


@dataclass(frozen=True)
class _Named(Workload):
    """A workload that is determined by its number of cells and a few parameters."""

    cells: int

    def __post_init__(self) -> None:
        check_count("cells", self.cells)


class Identity(_Named):
    """Every cell."""

    @property
    def queries(self):
        return self.cells

    def trace(self):
        # Without the matrix, for any number of cells.
        return float(self.cells)

    def gram_times(self, cells):
        return cells

    def matrix(self):
        return np.eye(self.cells)

    gram = matrix


class Total(_Named):
    """The sum of all cells."""

    queries = 1

    def trace(self):
        return float(self.cells)

    def gram_times(self, cells):
        return np.broadcast_to(cells.sum(axis=-1, keepdims=True), cells.shape)

    def matrix(self):
        return np.ones((1, self.cells))


class Average(_Named):
    """The mean of all cells."""

    queries = 1

    def trace(self):
        return 1 / self.cells

    def gram_times(self, cells):
        return np.broadcast_to(cells.mean(axis=-1, keepdims=True) / self.cells, cells.shape)

    def matrix(self):
        return np.full((1, self.cells), 1 / self.cells)


class Prefix(_Named):
    """x_0 + ... + x_k for every k."""

    @property
    def queries(self):
        return self.cells

    def trace(self):
        return self.cells * (self.cells + 1) / 2

    def gram(self):
        _, last = _ends(self.cells)
        return (self.cells - last).astype(float)

    def gram_times(self, cells):
        return _from_the_end(cells.cumsum(axis=-1))

    def matrix(self):
        return np.tri(self.cells)


class AllRange(_Named):
    """x_i + ... + x_j for every i <= j: n (n + 1) / 2 queries."""

    @property
    def queries(self):
        return self.cells * (self.cells + 1) // 2

    def trace(self):
        # Cell i lies in (i + 1) (n - i) ranges.
        return self.cells * (self.cells + 1) * (self.cells + 2) / 6

    def gram(self):
        first, last = _ends(self.cells)
        return (first + 1.0) * (self.cells - last)

    def gram_times(self, cells):
        # The sum over a range is a difference of two of the n + 1 prefix sums, the empty one too.
        sums = cells.cumsum(axis=-1)
        centred = sums - sums.sum(axis=-1, keepdims=True) / (self.cells + 1)
        return (self.cells + 1) * _from_the_end(centred)

    def matrix(self):
        return _ranges(*np.triu_indices(self.cells), self.cells)


class Explicit(Workload):
    """A workload that is given as a matrix (q, n).

    Raises:
        TypeError: Not an array of real numbers.
        ValueError: Rows of unequal lengths; not two-dimensional, empty, not finite, or zero.
    """

    def __init__(self, matrix) -> None:
        try:
            array = np.asarray(matrix)
        except ValueError:
            raise ValueError("the rows of a workload matrix must have equal lengths") from None
        if array.dtype.kind not in "iuf" and array.size:
            raise TypeError(f"a workload matrix must hold real numbers, got {array.dtype}")
        if array.ndim != 2 or not array.size:
            raise ValueError(
                f"a workload matrix must be a non-empty (q, n) array, got shape {array.shape}; "
                "one query is one row, (1, n)"
            )
        if not np.isfinite(array).all():
            bad = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise ValueError(f"a workload matrix must be finite, got {array[bad]} at index {bad}")
        if not array.any():
            raise ValueError("a workload matrix must have a nonzero element")
        self._matrix = array.astype(float)
        self.queries, self.cells = array.shape

    def trace(self):
        return float(np.vdot(self._matrix, self._matrix))

    def gram_times(self, cells):
        return cells @ self._matrix.T @ self._matrix

    def matrix(self):
        return self._matrix.copy()


@dataclass(frozen=True)
class Kronecker(Workload):
    """W_1 x ... x W_d: every product of one query per axis of a d-dimensional histogram.

    Cells are those of the C-ordered (row-major) flattened histogram.
    """

    factors: tuple[Workload, ...]

    def __post_init__(self) -> None:
        factors = tuple(self.factors) if isinstance(self.factors, (tuple, list)) else ()
        if not factors or not all(isinstance(factor, Workload) for factor in factors):
            raise TypeError(f"factors must be one Workload per axis, got {self.factors!r}")
        object.__setattr__(self, "factors", factors)

    @property
    def cells(self):
        return int(np.prod([factor.cells for factor in self.factors]))

    @property
    def queries(self):
        return int(np.prod([factor.queries for factor in self.factors]))

    def gram(self):
        return reduce(np.kron, [factor.gram() for factor in self.factors])

    def matrix(self):
        return reduce(np.kron, [factor.matrix() for factor in self.factors])


NAMED = {
    "identity": Identity,
    "total": Total,
    "average": Average,
    "prefix": Prefix,
    "all-range": AllRange,
}


def _from_the_end(cells: np.ndarray) -> np.ndarray:
    """Return x_j + ... + x_(n-1) for every j, along the last axis."""
    return np.flip(np.flip(cells, axis=-1).cumsum(axis=-1), axis=-1)


def _ends(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the smaller and the larger index of every pair of cells, each (n, n)."""
    index = np.arange(cells)
    return np.minimum.outer(index, index), np.maximum.outer(index, index)


def _ranges(first: np.ndarray, last: np.ndarray, cells: int) -> np.ndarray:
    """Return one row of zeros and ones per range, (q, n); both ends belong to the range."""
    index = np.arange(cells)
    return ((first[:, None] <= index) & (index <= last[:, None])).astype(float)
