"""Positive semidefinite noise on a Gram matrix: a scaled Wishart matrix."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.finite_profile import WishartProfile


@cache
def trace_moment(powers: tuple[int, ...], size: int, freedom: int) -> int:
    """Return E prod_p tr(W^p) over `powers`, for W = G G^T with G standard normal (d, k).

    d is `size` and k is `freedom`. Let p be the first power and q the others. Integration by parts
    on one factor G of the first trace gives
    E[tr W^p F] = (k + p - 1) E[tr W^(p-1) F] + sum_{j=1}^{p-1} E[tr W^(j-1) tr W^(p-j) F]
                  + sum_q 2 q E[tr W^(p+q-1) F / tr W^q],   F = prod_q tr W^q, tr W^0 = d.
    """
    if not powers:
        return 1
    first, rest = powers[0], powers[1:]
    if first == 0:
        return size * trace_moment(rest, size, freedom)

    def moment(*changed: int) -> int:
        return trace_moment(tuple(sorted(changed)), size, freedom)

    total = (freedom + first - 1) * moment(first - 1, *rest)
    total += sum(moment(j - 1, first - j, *rest) for j in range(1, first))
    for index, other in enumerate(rest):
        kept = rest[:index] + rest[index + 1 :]
        total += 2 * other * moment(first + other - 1, *kept)
    return total


@dataclass(frozen=True, kw_only=True)
class Wishart(Noise):
    """Noise W ~ Wishart_d(d + 1, c I), which is c G G^T with G standard normal (d, d + 1).

    Its mean is not zero: E W = (d + 1) c I shifts eigenvalues, but no eigenvector.
    """

    shape: tuple[int, int]
    scale: float

    symmetric = False

    def sample(self, rng, trials, dtype=np.float64):
        size = self.shape[0]
        factors = rng.standard_normal((trials, size, size + 1), dtype)
        draws = factors @ factors.swapaxes(1, 2)
        draws *= draws.dtype.type(self.scale)
        return draws

    def loss(self):
        size = self.shape[0]
        raw = tuple(trace_moment((2,) * k, size, size + 1) for k in (1, 2, 3, 4))
        units = LossMoments.of_sum(raw).cumulants
        return LossMoments(
            tuple(float(unit) * self.scale ** (2 * k) for k, unit in enumerate(units, 1))
        )

    def parameters(self):
        return {"c": self.scale}

    def profile(self, query):
        """Return the profile of a record of norm B, with the longest allowed one as lower bound."""
        longest = query.record_bound**2
        above = WishartProfile(kappa=longest / (2 * self.scale))
        # The largest |x|^2 / B^2 at which x x^T keeps the sensitivities, for x along an axis.
        share = query.change_of_one / longest
        below = above if share >= 1 - 1e-12 else replace(above, kappa=above.kappa * share)
        slack = "the query's sensitivities exclude a record of norm record_bound"
        return enclosed(above, below, slack)
