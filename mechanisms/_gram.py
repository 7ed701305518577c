"""What mechanisms for a Gram matrix A = sum_j x_j x_j^T, ||x_j|| <= B, need of the query."""

from __future__ import annotations

import math

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


def gram_sensitivity(query: Query) -> float:
    """sup ||D||_F, from the record bound B (the query's l2_sensitivity is not used).

    Add-remove: D = +-x x^T, so B^2. Replace: D = x x^T - y y^T with ||D||_F^2 = |x|^4 + |y|^4 -
    2 (x.y)^2, so sqrt(2) B^2, by orthogonal x and y; in one dimension there are none: B^2.
    """
    squared = query.record_bound**2
    orthogonal = query.adjacency == "replace" and query.shape[0] > 1
    return math.sqrt(2) * squared if orthogonal else squared
