"""The change of an answer that matrix Gaussian noise hides least: the largest Mahalanobis norm."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechanisms.privacy.gaussian_profile import worst_case_mu
from mechanisms.query.query import Query
from mechanisms.query.supremum import Supremum, best_bounds

# Elements up to which all vertices of the box are tried: 2^15 of them take some milliseconds.
VERTEX_AXES = 16
# Cells up to which all pairs of them are tried: half a second.
LARGEST_MOVES = 8192


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixDeviations:
    """The standard deviations of a noise (m, n) along the rows and along the columns.

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
        """Whether no directions turn the noise, so that its elements are independent."""
        return self.row_directions is None and self.column_directions is None

    @property
    def independent(self) -> bool:
        """Whether the elements are independent and of one standard deviation."""
        return not (np.ptp(self.row_std) or np.ptp(self.column_std))

    @property
    def least_std(self) -> float:
        """The least standard deviation along any change of norm 1."""
        return float(self.row_std.min() * self.column_std.min())

    @cached_property
    def element_weights(self) -> tuple[np.ndarray, np.ndarray]:
        """mu of a unit change of element (i, j) is the product of entries i (m,) and j (n,)."""
        rows, columns = (
            1 / std if directions is None else np.linalg.norm(directions / std, axis=1)
            for std, directions in self.axes
        )
        return rows, columns

    def mu_of(self, change: np.ndarray) -> float:
        """mu of one change (m, n)."""
        for std, directions in self.axes:
            # The second turn does the columns and turns the change back.
            seen = change if directions is None else directions.T @ change
            change = (seen / std[:, None]).T
        return float(np.linalg.norm(change))

    def mu_of_records(self, records: np.ndarray, signs: np.ndarray) -> float:
        """mu of D = sum_k signs_k x_k x_k^T, where the x_k are the columns of `records` (m, k).

        The product of two sums of outer products: no matrix (m, n) is made.
        """
        products = 1.0
        for std, directions in self.axes:
            seen = (records if directions is None else directions.T @ records) / std[:, None]
            products = products * (seen.T @ seen)
        return math.sqrt(signs @ products @ signs)

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """R diag(1 / row_std) (m, m) and C diag(1 / column_std) (n, n)."""
        rows, columns = (
            np.diag(1 / std) if directions is None else directions / std
            for std, directions in self.axes
        )
        return rows, columns

    def least_directions(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """The directions of least noise of rows (m, rank) and of columns (n, rank)."""
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
        """The standard deviations and the directions of the rows, and those of the columns."""
        return (
            (self.row_std, self.row_directions),
            (self.column_std, self.column_directions),
        )


def largest_mu(noise: MatrixDeviations, query: Query) -> Supremum:
    """sup mu over the changes (m, n) with the query's l2, l1 and linf sensitivity.

    Exact for noise along the axes (`worst_case_mu`) and for equal noise everywhere. Otherwise the
    supremum over the l2 ball, that over the l1 ball (a convex function is largest at a vertex,
    the change of one element) and, with few elements, that over the element box (at one of its
    vertices) are upper bounds. Changes that attain them, scaled to keep the query's sensitivities,
    give lower bounds: where nothing is cut off, both are equal.
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
    """sup mu over the changes of a histogram: one cell, or two of them by opposite amounts."""
    if query.adjacency == "add-remove" or noise.independent or noise.along_axes:
        # One cell is the l1 ball's worst change; without correlations the signs do not matter.
        return largest_mu(noise, query)
    own = np.outer(*(weights**2 for weights in noise.element_weights))
    if own.size > LARGEST_MOVES:
        # The two cells with the least noise of their own: one of the moves.
        move = np.zeros(own.size)
        move[np.argpartition(own.ravel(), -2)[-2:]] = 1.0, -1.0
        lower = query.record_bound * noise.mu_of(move.reshape(own.shape))
        return best_bounds([lower], [largest_mu(noise, query).upper])
    rows, columns = (root @ root.T for root in noise.roots())  # the inverse covariances
    # For each row that a record leaves: the squares (column left, row entered, column entered).
    largest = max(
        (left[:, None, None] + own - 2 * row[:, None] * columns[:, None, :]).max()
        for left, row in zip(own, rows, strict=True)
    )
    mu = query.record_bound * math.sqrt(largest)
    return Supremum(mu, mu)


def largest_gram_mu(noise: MatrixDeviations, query: Query) -> Supremum:
    """sup mu over D = +-x x^T or x x^T - y y^T, records of norm at most B = record_bound.

    Upper bounds: the l2 ball, and B^2 sqrt(sum_k 1 / (r_k c_k)^2), r and c the ascending row and
    column deviations. k runs to the rank of D, one or two, whose eigenvalues are at most B^2. The
    singular values of U1^-1 D U2^-T are log-majorised by the products of those of its factors (Horn
    1950), which bounds its norm by this. x = B u_1 and y = B u_2 attain it where the directions u_k
    of the least deviations are those of rows and of columns; shorter records keep what else the
    query states.
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
    """`allowed_share` of B^2 sum_k signs_k x_k x_k^T, the x_k being the columns of `records`."""
    # The other rows and columns of the change are zero; noise along axes leaves two.
    met = records[records.any(axis=1)]
    return allowed_share(query.record_bound**2 * (met * signs) @ met.T, query)


def allowed_share(change: np.ndarray, query: Query) -> float:
    """The largest multiple of a change that keeps the query's l2, l1 and linf sensitivity."""
    size = np.abs(change)
    return query.largest_multiple(l2=np.linalg.norm(change), l1=size.sum(), linf=size.max())


def worst_vertex(seen: np.ndarray) -> np.ndarray:
    """The vector of signs d with the largest ||seen^T d||, (m,), for `seen` (m, k).

    A convex function is largest over a box at one of its vertices. All 2^(m-1) of them (d and -d
    count once) are tried, so that m must be small, such as `VERTEX_AXES`.
    """
    size = len(seen)
    signs = 1 - 2 * (np.arange(2 ** (size - 1))[:, None] >> np.arange(size) & 1)
    return signs[np.linalg.norm(signs @ seen, axis=1).argmax()]
