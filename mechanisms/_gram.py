"""What mechanisms for a Gram matrix A = sum_j x_j x_j^T, ||x_j|| <= B, need of the query."""

from __future__ import annotations

from mechanisms.contract import Query, Unsupported


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
