"""How far one record can move the gradient: the clipping rule, and the query that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mechanisms import Query

RULES = ("l2", "linf")


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """Gradients of single examples are clipped to `bound`, and then added up.

    rule: "l2", scaled down to norm `bound` (Abadi et al. 2016, imgm2022, r1smg2024); or "linf",
    every element cut to [-bound, bound] (mgm2021). bound: positive.

    The sum is clipped once more by the same rule at `batch` times the bound, `batch` being the
    expected number of examples. That is a projection onto a ball or box, so that it moves no two
    sums further apart in the rule's own norm; it hardly ever binds, and it gives the answer the
    finite range that MVG and IDN ask for.
    """

    rule: str
    bound: float

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {RULES}, got {self.rule!r}")
        if not 0 < self.bound < math.inf:
            raise ValueError(f"bound must satisfy 0 < bound < infinity, got {self.bound!r}")

    def clip(self, rows, times: float = 1.0):
        """Rows (n, M) of a tensor, each clipped to `times` the bound."""
        bound = times * self.bound
        if self.rule == "linf":
            return rows.clamp(-bound, bound)
        return rows * (bound / rows.norm(dim=1, keepdim=True)).clamp(max=1.0)

    def query(self, size: int, batch: int) -> Query:
        """The sum of clipped gradients of `size` parameters as a query; see the class.

        Its shape is (1, M): a row, which mechanisms for vectors and for matrices both take. Of all
        shapes of M elements it is the one for which MGM, UDN and MVG need the least noise without
        knowledge of informative directions.

        Adjacency: one record is added or removed. For "l2" with bound C the sum moves by at most
        C in l2, hence by C sqrt(M) in l1. For "linf" with bound c: c per element, c sqrt(M) in
        l2, c M in l1.
        """
        root = math.sqrt(size)
        if self.rule == "l2":
            return Query(
                shape=(1, size),
                l2_sensitivity=self.bound,
                l1_sensitivity=self.bound * root,
                frobenius_bound=batch * self.bound,
            )
        return Query(
            shape=(1, size),
            l2_sensitivity=self.bound * root,
            l1_sensitivity=self.bound * size,
            linf_sensitivity=self.bound,
            element_range=(-batch * self.bound, batch * self.bound),
            frobenius_bound=batch * self.bound * root,
        )
