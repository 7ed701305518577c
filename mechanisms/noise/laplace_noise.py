"""Independent Laplace noise of one scale on every element."""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.noise.distribution import Noise
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.laplace_profile import laplace_profile
from mechanisms.query.query import Query, Shifts, concentrated


@dataclass(frozen=True, kw_only=True)
class IndependentLaplace(Noise):
    """Independent Laplace noise of scale b (variance 2 b^2) on every element."""

    shape: tuple[int, ...]
    scale: float

    independent = True

    def sample(self, rng, trials, dtype=np.float64):
        # The difference of two exponentials is Laplace, and numpy draws them in both precisions.
        draws = rng.standard_exponential((trials, *self.shape), dtype)
        draws -= rng.standard_exponential((trials, *self.shape), dtype)
        draws *= draws.dtype.type(self.scale)
        return draws

    def loss(self):
        raw = (math.factorial(2 * k) * self.scale ** (2 * k) for k in (1, 2, 3, 4))
        return LossMoments.of_sum(tuple(raw), self.size)

    def parameters(self):
        return {"b": self.scale}

    def profile(self, query):
        """Return the profile of the worst change, `Query.largest_shifts` (see `LaplaceProfile`).

        If l2_sensitivity, or the records of a d x d Gram matrix, may exclude that change, the
        result has two bounds. The upper one concentrates a bound on ||D||_1 in few elements; the
        lower one belongs to a change that the query allows. At delta = 0 both are equal, except for
        a Gram matrix with odd d > 1 under replace. The result is None if the query states neither
        l1_sensitivity nor linf_sensitivity, unless one record changes a Gram matrix.
        """
        bounds = self._change_bounds(query)
        if bounds is None:
            return None
        above, below = (laplace_profile(shifts, self.scale) for shifts in bounds)
        slack = "l2_sensitivity excludes the worst change of Laplace noise that the query states"
        if query.gram_change is not None:
            slack = "the worst change of a Gram matrix is not known for Laplace noise"
        return enclosed(above, below, slack)

    def _change_bounds(self, query: Query) -> tuple[Shifts, Shifts] | None:
        """Return shifts that dominate every change of the query, and the shifts of one change.

        The result is None if that of `profile` is.
        """
        shifts = query.largest_shifts
        if query.gram_change is not None:
            return _gram_bounds(query)
        if shifts is None:
            return None
        if shifts.norm <= query.l2_sensitivity * (1 + 1e-9):
            return shifts, shifts
        # In the l2 ball ||D||_1 is largest if all elements change by the same amount.
        total = min(
            shifts.count * shifts.width + shifts.rest,
            math.sqrt(query.changed) * query.l2_sensitivity,
        )
        return (
            concentrated(total, query.linf_sensitivity or math.inf, query.changed),
            Shifts(query.changed, total / query.changed, 0.0),
        )


def _gram_bounds(query: Query) -> tuple[Shifts, Shifts]:
    """Return shifts that dominate x x^T or x x^T - y y^T, |x|, |y| <= B, and those of one change.

    No element changes by more than B^2. Because ||D||_1 <= d ||D||_F, ||D||_1 is at most d B^2
    under add-remove and at most sqrt(2) d B^2 under replace. Under add-remove,
    x = B (1, ..., 1) / sqrt(d) attains this. Under replace with even d,
    x_i = B sqrt(2 / d) cos t_i and y_i = B sqrt(2 / d) sin t_i attain it, with t_i = pi / 8 for one
    half of the elements and -3 pi / 8 for the other half: for all i and j
    |x_i x_j - y_i y_j| = (2 B^2 / d) |cos(t_i + t_j)| = sqrt(2) B^2 / d. Under replace with odd
    d > 1, one x_i and y_i are 0. Records are shortened to keep the sensitivities of the query.
    """
    size = query.shape[0]
    even = size if query.adjacency == "add-remove" or size == 1 else size - size % 2
    width = query.gram_change / even
    share = min(1.0, query.largest_multiple(l2=query.gram_change, l1=even**2 * width, linf=width))
    largest = min(query.record_bound**2, query.linf_sensitivity or math.inf, query.reach)
    total = min(size * query.reach, query.l1_sensitivity or math.inf)
    return concentrated(total, largest, query.size), Shifts(even**2, share * width, 0.0)
