"""What mechanisms require of a query or a budget, refused with the reason where it is absent."""

from __future__ import annotations

from mechanisms.contract.query import Budget, Query, Unsupported


def require_delta(budget: Budget) -> None:
    """Raise Unsupported unless delta > 0: no finite Gaussian noise gives delta = 0."""
    if budget.delta == 0:
        raise Unsupported("needs delta > 0: no finite amount of Gaussian noise is pure DP")


def require_dimensions(query: Query) -> None:
    """Raise Unsupported for one single number: there is no sphere to draw a direction from."""
    if query.size < 2:
        raise Unsupported("needs at least 2 elements; for a single number it is Laplace noise")


def matrix_shape(query: Query) -> tuple[int, int]:
    """(m, n) of a matrix-valued query, otherwise Unsupported."""
    if len(query.shape) != 2:
        raise Unsupported(
            f"is defined for matrix-valued queries, got shape {query.shape}; state the answer as "
            "a matrix, a vector of length M for example as (M, 1)"
        )
    return query.shape


def require_gram(query: Query) -> None:
    """Unsupported unless the answer is a Gram matrix that one record changes."""
    if query.structure != "gram":
        raise Unsupported(
            "needs structure 'gram': an answer sum_j x_j x_j^T of records with norm at most "
            "record_bound"
        )
    if query.adjacency == "local":
        raise Unsupported(
            "needs adjacency add-remove or replace: how many records the one person of local "
            "privacy contributes to a Gram matrix is not stated"
        )


def require_histogram(query: Query) -> None:
    """Unsupported unless the answer is a vector or matrix of counts with an l1 sensitivity."""
    if len(query.shape) > 2:
        raise Unsupported(f"is defined for histograms of one or two axes, got shape {query.shape}")
    if query.l1_sensitivity is None:
        raise Unsupported(
            "needs l1_sensitivity: for a histogram 1 where a record is added or removed, 2 where "
            "one is replaced"
        )
