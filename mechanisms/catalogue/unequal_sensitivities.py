"""Independent noise that is not identically distributed, for elements of unequal sensitivity.

Element i of the answer changes by at most lambda_i, and all elements may change at once.
"""

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.unequal_noise import UnequalGaussian, UnequalLaplace
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.option import Option, as_floats
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta


def _are_positive_or_none(value) -> bool:
    if value is None:
        return True
    array = as_floats(value)
    return array is not None and bool((array > 0).all())


SENSITIVITIES = {
    "sensitivities": Option(
        None,
        "positive numbers in the shape of the answer, or null for linf_sensitivity everywhere",
        _are_positive_or_none,
        "lambda, how far each element may move; must not depend on the data",
    )
}


def largest_changes(query: Query, sensitivities) -> np.ndarray:
    """lambda in the query's shape.

    Raises:
        Unsupported: Neither the option nor the query states one.
        ValueError: Of another shape, or larger than the query's linf_sensitivity.
    """
    if sensitivities is None:
        if query.linf_sensitivity is None:
            raise Unsupported("needs the option sensitivities, or linf_sensitivity")
        return np.full(query.shape, query.linf_sensitivity)
    changes = np.asarray(sensitivities, dtype=float)
    if changes.shape != query.shape:
        raise ValueError(
            f"option sensitivities must have the query's shape {query.shape}, got {changes.shape}"
        )
    largest = query.linf_sensitivity
    if largest is not None and (changes > largest * (1 + 1e-9)).any():
        raise ValueError(
            f"option sensitivities must be at most linf_sensitivity = {largest:g}, got "
            f"{changes.max():g}; state the larger number for the query, or lower the option"
        )
    return changes


class UnequalMechanism(AdditiveMechanism):
    """Noise for the changes that `sensitivities` states."""

    options = SENSITIVITIES

    def share_covered(self, change):
        largest = largest_changes(self.query, self.settings["sensitivities"])
        moved = np.abs(change)
        return float(min(1.0, (largest[moved > 0] / moved[moved > 0]).min(initial=1.0)))


class UnequalGaussianMechanism(UnequalMechanism):
    """sigma_i^2 = lambda_i sum(lambda) / mu^2: the least sum of variances at mu.

    By Cauchy and Schwarz: all elements together have mu^2 = sum lambda_i^2 / sigma_i^2, so that
    sum(sigma^2) mu^2 >= sum(lambda)^2. Independent noise of one variance needs M sum(lambda^2) in
    its place. mu is that of the budget (Balle and Wang 2018, Theorem 8).
    """

    key = "inid-gaussian"
    title = "i.n.i.d. Gaussian"
    paper = "Muthukrishnan and Kalyani 2025"
    theorem = "arXiv:2302.03511, i.n.i.d. Gaussian mechanism"
    guarantee = "approximate"
    look = ("#8C6D31", "v", 38)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, sensitivities):
        require_delta(budget)
        changes = largest_changes(query, sensitivities)
        mu = float(mu_for(budget.epsilon, budget.delta))
        return UnequalGaussian(changes=changes, scales=np.sqrt(changes * changes.sum()) / mu)


class UnequalLaplaceMechanism(UnequalMechanism):
    """b_i = lambda_i^(1/3) sum(lambda^(2/3)) / epsilon: the least sum of variances at epsilon.

    All elements together have the largest loss sum lambda_i / b_i; by Hölder's inequality the least
    sum of b_i^2 at which it is epsilon is sum(lambda^(2/3))^3 / epsilon^2.
    """

    key = "inid-laplace"
    title = "i.n.i.d. Laplace"
    paper = "Muthukrishnan and Kalyani 2025"
    theorem = "arXiv:2302.03511, i.n.i.d. Laplace mechanism"
    guarantee = "pure"
    look = ("#AD494A", "^", 39)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, sensitivities):
        changes = largest_changes(query, sensitivities)
        total = float(np.sum(changes ** (2 / 3)))
        return UnequalLaplace(changes=changes, scales=np.cbrt(changes) * total / budget.epsilon)
