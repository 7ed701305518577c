"""Independent Laplace noise: of one rate for the l1 ball, and of random rates for the l2 ball."""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.gamma_mixture import GammaMixture
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.privacy.sampling.l2_ball_moments import ORDERS, largest_reach, least_epsilon
from mechanisms.query.option import Option, is_number
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta


class Laplace(AdditiveMechanism):
    """b = l1_sensitivity / epsilon: pure epsilon-DP, whatever delta the budget has."""

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


class PLRVO(AdditiveMechanism):
    """Laplace noise of scale 1 / u_i on element i, u_i ~ Gamma(k, theta) drawn anew for each.

    theta is the largest at which the epsilon that the published code states for one release is the
    budget's: `stated_epsilon` of mechanisms/privacy/sampling/l2_ball_moments.py. The code states
    it for runs of DP-SGD; this is its formula at rate 1 and one step. Its settings for images have
    k = 33000: nearly Laplace noise of scale 1 / (k theta).
    """

    key = "plrv-o"
    title = "PLRV-O"
    paper = "Yang et al. 2025"
    theorem = "arXiv:2509.06264, one release as its published code accounts"
    guarantee = "approximate"
    look = ("#A0522D", "<", 35)
    options = {
        "k": Option(
            33000,
            "a number > 8",
            lambda order: is_number(order) and 8 < order < math.inf,
            "order of the gamma distribution; the published code has 33000 for CIFAR-10",
        )
    }

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, k):
        require_delta(budget)
        least = least_epsilon(budget.delta)
        if budget.epsilon <= least * (1 + 1e-9):
            raise Unsupported(
                f"states no epsilon of {least:.3g} or less at delta = {budget.delta:g}, because "
                f"its accountant stops at order {ORDERS[-1]}"
            )
        reach = largest_reach(query.size, float(k), budget.epsilon, budget.delta)
        theta = reach / query.l2_sensitivity
        return GammaMixture(shape=query.shape, order=float(k), theta=theta)
