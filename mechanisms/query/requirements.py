"""Checks of a query or a budget that several mechanisms share; each raises Unsupported."""

from mechanisms.query.query import Budget, Query, Unsupported


def require_delta(budget: Budget) -> None:
    """Raise Unsupported unless delta > 0."""
    if budget.delta == 0:
        raise Unsupported("needs delta > 0, because its guarantee is approximate")


def require_dimensions(query: Query) -> None:
    """Raise Unsupported for a single number, which has no direction to draw."""
    if query.size < 2:
        raise Unsupported("needs at least 2 elements; for a single number use laplace")


def matrix_shape(query: Query) -> tuple[int, int]:
    """Return (m, n) of a matrix-valued query; raise Unsupported for any other shape."""
    if len(query.shape) != 2:
        raise Unsupported(
            f"is defined for matrix-valued queries, got shape {query.shape}; give a vector of "
            "length M the shape (M, 1)"
        )
    return query.shape


def require_gram(query: Query) -> None:
    """Raise Unsupported unless the answer is a Gram matrix that one record changes."""
    if query.structure != "gram":
        raise Unsupported(
            "needs structure 'gram': an answer sum_j x_j x_j^T over records of norm at most "
            "record_bound"
        )
    if query.adjacency == "local":
        raise Unsupported(
            "needs adjacency add-remove or replace: under local privacy the query does not state "
            "how many records one person contributes"
        )


def require_histogram(query: Query) -> None:
    """Raise Unsupported unless the answer is a vector or matrix with an l1 sensitivity."""
    if len(query.shape) > 2:
        raise Unsupported(f"is defined for histograms of one or two axes, got shape {query.shape}")
    if query.l1_sensitivity is None:
        raise Unsupported(
            "needs l1_sensitivity: for a histogram 1 if a record is added or removed, 2 if one is "
            "replaced"
        )
