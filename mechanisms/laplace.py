"""Independent Laplace noise calibrated to the l1 sensitivity."""

from __future__ import annotations

from mechanisms.contract.mechanism import AdditiveMechanism
from mechanisms.contract.query import Budget, Query, Unsupported
from mechanisms.noise.laplace_noise import IndependentLaplace


class Laplace(AdditiveMechanism):
    """b = l1_sensitivity / epsilon: pure epsilon-DP, whatever delta the budget has."""

    key = "laplace"
    title = "Laplace"
    paper = "Dwork et al. 2006"
    theorem = "Theorem 1"
    guarantee = "pure"

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        if query.l1_sensitivity is None:
            bound = query.size**0.5 * query.l2_sensitivity
            raise Unsupported(
                f"needs l1_sensitivity; sqrt(M) l2_sensitivity = {bound:g} is always valid"
            )
        return IndependentLaplace(shape=query.shape, scale=query.l1_sensitivity / budget.epsilon)
