"""Independent Laplace noise."""

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.query.query import Budget, Query, Unsupported


class Laplace(AdditiveMechanism):
    """Noise of scale b = l1_sensitivity / epsilon: pure epsilon-DP, whatever the budget's delta."""

    key = "laplace"
    title = "Laplace"
    paper = "Dwork et al. 2006"
    theorem = "Theorem 1"
    guarantee = "pure"
    look = ("#882255", "<", 13)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        if query.l1_sensitivity is None:
            bound = query.size**0.5 * query.l2_sensitivity
            raise Unsupported(
                f"needs l1_sensitivity; sqrt(M) l2_sensitivity = {bound:g} is always valid"
            )
        return IndependentLaplace(shape=query.shape, scale=query.l1_sensitivity / budget.epsilon)
