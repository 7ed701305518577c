"""How far one record can move the gradient: clipping in l2, and the query that follows.

The sums of clipped per-example gradients are computed in clipped_sums.py.
"""

import math
from dataclasses import dataclass

from mechanisms import Query


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """Per-example gradients are scaled down to l2 norm `bound` > 0 and added up.

    As in Abadi et al. 2016, imgm2022 and r1smg2024. The sum is clipped once more, at `batch` times
    the bound, `batch` being the expected number of examples. This is a projection onto a ball,
    which moves no two sums further apart. It rarely takes effect, and gives the answer the bounded
    norm that MVG needs.
    """

    bound: float

    def factors(self, squares):
        """Factors of at most 1 that clip gradients: a tensor (n,), as their squared norms."""
        return squares.rsqrt().mul_(self.bound).clamp_(max=1.0)

    def clip_sum(self, total, batch: int):
        """A sum (M,) of clipped gradients, clipped to `batch` times the bound."""
        norm, bound = math.sqrt(total @ total), batch * self.bound
        return total if norm <= bound else total * (bound / norm)

    def query(self, size: int, batch: int) -> Query:
        """The sum of clipped gradients of `size` parameters as a query; see the class.

        Its shape is (1, M): a row, which mechanisms for vectors and for matrices both take. Among
        all shapes of M elements, MGM, UDN and MVG need the least noise for this one if they know no
        informative directions.

        Adjacency: one record is added or removed; the sum moves by at most the bound C in l2, hence
        by C sqrt(M) in l1.
        """
        return Query(
            shape=(1, size),
            l2_sensitivity=self.bound,
            l1_sensitivity=self.bound * math.sqrt(size),
            frobenius_bound=batch * self.bound,
        )
