"""The staircase mechanism: the least error of pure privacy."""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.staircase_noise import Staircase, raw_of_body
from mechanisms.privacy.staircase_shells import (
    LARGEST,
    LARGEST_EPSILON,
    best_cut,
    best_theta,
    first_and_last,
)
from mechanisms.query.query import Budget, Query, Unsupported


class StaircaseMechanism(AdditiveMechanism):
    """Density constant between the radii (k + theta) s, falling by e^-epsilon at each of them.

    A change within s crosses at most one of them: epsilon-DP. theta is that of the least E||x||^2.
    The norm is that of the least error among l1, l2 and linf, of those whose sensitivity s is
    stated. For changes in an l2 ball, and for one number, no epsilon-DP mechanism has less
    worst-case mean squared error: docs/the_limit.md proves it. At delta > 0 the exact calibration
    shrinks s. The noise of one number it cuts off instead, where delta pays for what is beyond, as
    the truncated Laplacian mechanism does (Geng, Ding, Guo and Kumar 2020).
    """

    key = "staircase"
    title = "Staircase"
    paper = "Kulesza et al. 2025"
    theorem = "general staircase mechanism; Geng and Viswanath 2014 in one dimension"
    guarantee = "pure"
    look = ("#004D40", "P", 45)

    @classmethod
    def build(cls, query, budget, calibration, settings):
        epsilon, delta = budget.epsilon, budget.delta
        exact = calibration == "exact" and query.size == 1 and delta > 0
        cut = best_cut(epsilon, delta) if exact else None
        if cut is None:
            return super().build(query, budget, calibration, settings)
        theta, end = cut
        noise = Staircase(
            shape=query.shape, norm="linf", step=epsilon, theta=theta, width=query.reach, end=end
        )
        return cls(query=query, budget=budget, calibration="exact", settings=settings, noise=noise)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        epsilon = budget.epsilon
        if epsilon > LARGEST_EPSILON:
            raise Unsupported(f"supports epsilon up to {LARGEST_EPSILON:g}, got {epsilon:g}")
        first, last = first_and_last(query.size, epsilon)
        if last - first >= LARGEST:
            raise Unsupported(
                f"has more than {LARGEST:,} steps at epsilon {epsilon:g} and {query.size:,} "
                "elements; there the mechanisms laplace, l2 and k-norm have the same error"
            )
        norm, width = min(_sensitivities(query).items(), key=lambda each: _error(*each, query.size))
        return Staircase(
            shape=query.shape,
            norm=norm,
            step=epsilon,
            theta=best_theta(query.size, epsilon),
            width=width,
        )


def _sensitivities(query: Query) -> dict[str, float]:
    if query.size == 1:
        return {"linf": query.reach}
    stated = {
        "l2": query.l2_sensitivity,
        "l1": query.l1_sensitivity,
        "linf": query.linf_sensitivity,
    }
    return {norm: width for norm, width in stated.items() if width is not None}


def _error(norm: str, width: float, size: int) -> float:
    """The root of E||x||^2 up to a factor that all norms share."""
    return width * math.sqrt(raw_of_body(norm, size)[0])
