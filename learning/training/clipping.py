"""How far one record can move the gradient: clipping in l2, and the query that follows.

The sums of clipped per-example gradients are computed in clipped_sums.py.
"""

import math
from dataclasses import dataclass

from mechanisms import Query


@dataclass(frozen=True, kw_only=True)
class Clipping:
    """Clipping of per-example gradients to l2 norm `bound` > 0 before they are added up.

    Abadi et al. 2016, imgm2022 and r1smg2024 clip in this way. The sum is clipped once more, to l2
    norm `batch` times `bound`, where `batch` is the expected number of examples. This projection
    onto a ball moves no two sums further apart. It rarely takes effect, but gives the answer the
    bounded norm that MVG needs.
    """

    bound: float

    def factors(self, squares):
        """Return the factors (n,), at most 1, that clip gradients with these squared norms (n,)."""
        return squares.rsqrt().mul_(self.bound).clamp_(max=1.0)

    def clip_sum(self, total, batch: int):
        """Clip a sum (M,) of clipped gradients to l2 norm `batch` times `bound`."""
        norm, bound = math.sqrt(total @ total), batch * self.bound
        return total if norm <= bound else total * (bound / norm)

    def query(self, size: int, batch: int) -> Query:
        """Return the query of the sum of clipped gradients with respect to M = `size` parameters.

        Its shape is (1, M): a row, which mechanisms for vectors and for matrices both take. Among
        all shapes of M elements, MGM, UDN and MVG need the least noise for this one if they know no
        informative directions.

        Adjacency: one record is added or removed. The sum then moves by at most the bound C in l2
        norm, and hence by at most C sqrt(M) in l1 norm.
        """
        return Query(
            shape=(1, size),
            l2_sensitivity=self.bound,
            l1_sensitivity=self.bound * math.sqrt(size),
            frobenius_bound=batch * self.bound,
        )
