"""The Wishart mechanism: it adds a positive semidefinite random matrix to a Gram matrix."""

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.wishart_noise import Wishart
from mechanisms.query.query import Budget, Query
from mechanisms.query.requirements import require_gram


class WishartMechanism(AdditiveMechanism):
    """W ~ Wishart_d(d + 1, c I) with c = 3 B^2 / (2 epsilon).

    The paper has 3 / (2 n epsilon) for (1/n) sum x x^T of n records in the unit ball. Its claim of
    pure epsilon-DP is false: once a record of norm B is removed, the output is with probability
    1 - e^(-epsilon/3) one that was impossible before. `WishartProfile` has the proof and the true
    profile.
    """

    key = "wishart"
    title = "Wishart"
    paper = "Jiang et al. 2016"
    theorem = "Wishart mechanism"
    guarantee = "pure"
    look = ("#99DDFF", "s", 26)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_gram(query)
        return Wishart(shape=query.shape, scale=3 * query.record_bound**2 / (2 * budget.epsilon))
