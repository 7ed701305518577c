"""The largest Mahalanobis norm of a change of the answer under matrix Gaussian noise."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.privacy.gaussian_profile import worst_case_mu
from mechanisms.query.query import Query
from mechanisms.query.supremum import Supremum, best_bounds

# Up to this many elements all vertices of the box are tried: 2^15 take some milliseconds.
VERTEX_AXES = 16
# Up to this many cells all pairs of cells are tried, which takes half a second.
LARGEST_MOVES = 8192


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixDeviations:
    """The standard deviations of noise (m, n) along its row and its column directions.

    A change D (m, n) of the answer has the Mahalanobis norm
    mu(D) = ||diag(1 / row_std) R^T D C diag(1 / column_std)||_F.

    Args:
        row_std: (m,), positive.
        column_std: (n,), positive.
        row_directions: R, orthogonal (m, m), one direction per column, or None for the identity.
        column_directions: C, orthogonal (n, n), or None.
    """

    row_std: np.ndarray
    column_std: np.ndarray
    row_directions: np.ndarray | None = None
    column_directions: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(m, n)."""
        return len(self.row_std), len(self.column_std)

    @property
    def along_axes(self) -> bool:
        """Whether all directions are the identity, so that the elements are independent."""
        return self.row_directions is None and self.column_directions is None

    @property
    def independent(self) -> bool:
        """Whether the elements are independent and have one standard deviation."""
        return not (np.ptp(self.row_std) or np.ptp(self.column_std))

    @property
    def least_std(self) -> float:
        """The least standard deviation of the noise in any direction."""
        return float(self.row_std.min() * self.column_std.min())

    @cached_property
    def element_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Arrays (m,) and (n,) whose entries i and j multiply to mu of a unit change of (i, j)."""
        return tuple(
            1 / std if directions is None else np.linalg.norm(directions / std, axis=1)
            for std, directions in self.axes
        )

    def mu_of(self, change: np.ndarray) -> float:
        """Return mu of one change (m, n)."""
        for std, directions in self.axes:
            # The second iteration handles the columns and transposes the change back.
            seen = change if directions is None else directions.T @ change
            change = (seen / std[:, None]).T
        return float(np.linalg.norm(change))

    def mu_of_records(self, records: np.ndarray, signs: np.ndarray) -> float:
        """Return mu of D = sum_k signs_k x_k x_k^T for the columns x_k of `records` (m, k).

        mu^2 is a sum over pairs of records, so that no array (m, n) is needed.
        """
        products = 1.0
        for std, directions in self.axes:
            seen = (records if directions is None else directions.T @ records) / std[:, None]
            products = products * (seen.T @ seen)
        return math.sqrt(signs @ products @ signs)

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """Return R diag(1 / row_std) (m, m) and C diag(1 / column_std) (n, n)."""
        return tuple(
            np.diag(1 / std) if directions is None else directions / std
            for std, directions in self.axes
        )

    def least_directions(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the directions of least noise of the rows (m, rank) and the columns (n, rank)."""
        found = []
        for std, directions in self.axes:
            least = np.argsort(std, kind="stable")[:rank]
            if directions is None:
                found.append((np.arange(len(std))[:, None] == least).astype(float))
            else:
                found.append(directions[:, least])
        return tuple(found)

    @property
    def axes(self) -> tuple[tuple[np.ndarray, np.ndarray | None], ...]:
        """(row_std, row_directions) and (column_std, column_directions)."""
        return (
            (self.row_std, self.row_directions),
            (self.column_std, self.column_directions),
        )


def largest_mu(noise: MatrixDeviations, query: Query) -> Supremum:
    """Bound sup mu over the changes (m, n) within the query's l2, l1 and linf sensitivity.

    The result is exact for noise along the axes (`worst_case_mu`) and for equal noise in all
    directions. Otherwise the upper bounds are the suprema over the l2 ball, over the l1 ball and,
    for few elements, over the element box. mu is convex, so it is largest at a vertex of the l1
    ball, the change of one element, and at a vertex of the box. The changes that attain the upper
    bounds, scaled to keep the query's sensitivities, give lower bounds. Both bounds are equal if
    the query allows the change that attains the least upper bound.
    """
    if noise.independent:
        mu = query.reach / noise.least_std
        return Supremum(mu, mu)
    if noise.along_axes:
        mu = worst_case_mu(
            np.outer(noise.row_std, noise.column_std),
            l2_sensitivity=query.l2_sensitivity,
            l1_sensitivity=query.l1_sensitivity,
            linf_sensitivity=query.linf_sensitivity,
        )
        return Supremum(mu, mu)
    upper = [query.reach / noise.least_std]
    rows, columns = noise.element_weights
    least_noise = np.outer(*(each[:, 0] for each in noise.least_directions(1)))
    element = np.zeros(noise.shape)
    element[rows.argmax(), columns.argmax()] = 1.0
    changes = [least_noise, np.sign(least_noise), element]
    if query.l1_sensitivity is not None:
        upper.append(query.l1_sensitivity * float(rows.max() * columns.max()))
    if query.linf_sensitivity is not None and element.size <= VERTEX_AXES:
        vertex = worst_vertex(np.kron(*noise.roots())).reshape(noise.shape)
        upper.append(query.linf_sensitivity * noise.mu_of(vertex))
        changes.append(vertex)
    return best_bounds(
        (allowed_share(change, query) * noise.mu_of(change) for change in changes), upper
    )


def largest_move(noise: MatrixDeviations, query: Query) -> Supremum:
    """Bound sup mu over the changes of a histogram: one cell, or two cells by opposite amounts."""
    if query.adjacency == "add-remove" or noise.independent or noise.along_axes:
        # The worst change in the l1 ball is of one cell; without correlations signs do not matter.
        return largest_mu(noise, query)
    own = np.outer(*(weights**2 for weights in noise.element_weights))
    if own.size > LARGEST_MOVES:
        # The move between the two cells with the least noise gives a lower bound.
        move = np.zeros(own.size)
        move[np.argpartition(own.ravel(), -2)[-2:]] = 1.0, -1.0
        lower = query.record_bound * noise.mu_of(move.reshape(own.shape))
        return best_bounds([lower], [largest_mu(noise, query).upper])
    rows, columns = (root @ root.T for root in noise.roots())  # the inverse covariances
    # For each row that a record leaves, mu^2 / B^2 over (column left, row and column entered).
    largest = max(
        (left[:, None, None] + own - 2 * row[:, None] * columns[:, None, :]).max()
        for left, row in zip(own, rows, strict=True)
    )
    mu = query.record_bound * math.sqrt(largest)
    return Supremum(mu, mu)


def largest_gram_mu(noise: MatrixDeviations, query: Query) -> Supremum:
    """Bound sup mu over D = +-x x^T or x x^T - y y^T, for records of norm at most B = record_bound.

    One upper bound is the supremum over the l2 ball. The other is B^2 sqrt(sum_k 1 / (r_k c_k)^2),
    where r and c are the row and column deviations in ascending order and k runs to the rank of D,
    one or two. It holds because the eigenvalues of D are at most B^2 in size, and the singular
    values of the product in mu(D) are log-majorised by the products of the singular values of its
    factors (Horn 1950). If rows and columns have the same directions u_k of least noise,
    x = B u_1 and y = B u_2 attain it. Records that are shortened to keep the sensitivities of the
    query give lower bounds.
    """
    rank = 2 if query.adjacency == "replace" and query.size > 1 else 1
    least = np.sort(noise.row_std)[:rank] * np.sort(noise.column_std)[:rank]
    square = query.record_bound**2
    upper = [query.reach / noise.least_std, square * float(np.linalg.norm(1 / least))]
    signs = np.array([1.0, -1.0])[:rank]
    axes = np.eye(query.shape[0], rank)
    lower = (
        min(1.0, _record_share(records, signs, query))
        * square
        * noise.mu_of_records(records, signs)
        for records in (*noise.least_directions(rank), axes)
    )
    return best_bounds(lower, upper)


def _record_share(records: np.ndarray, signs: np.ndarray, query: Query) -> float:
    """Return `allowed_share` of B^2 sum_k signs_k x_k x_k^T for the columns x_k of `records`."""
    # All other rows and columns of the change are zero; records along axes leave at most two.
    met = records[records.any(axis=1)]
    return allowed_share(query.record_bound**2 * (met * signs) @ met.T, query)


def allowed_share(change: np.ndarray, query: Query) -> float:
    """Return the largest multiple of a change within the query's l2, l1 and linf sensitivity."""
    size = np.abs(change)
    return query.largest_multiple(l2=np.linalg.norm(change), l1=size.sum(), linf=size.max())


def worst_vertex(seen: np.ndarray) -> np.ndarray:
    """Return the signs d (m,) with the largest ||seen^T d||, for `seen` (m, k).

    A convex function on a box is largest at a vertex. All 2^(m-1) vertices are tried (d and -d
    count once), so m must be small, such as `VERTEX_AXES`.
    """
    size = len(seen)
    signs = 1 - 2 * (np.arange(2 ** (size - 1))[:, None] >> np.arange(size) & 1)
    return signs[np.linalg.norm(signs @ seen, axis=1).argmax()]
