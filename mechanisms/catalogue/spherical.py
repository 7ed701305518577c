"""Spherical noise: the l2 mechanism and the generalised gamma family."""

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.radial_noise import Spherical
from mechanisms.privacy.spherical.spherical_optimum import least_noise
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_dimensions


class L2Mechanism(AdditiveMechanism):
    """Density proportional to exp(-||x||_2 / b) with b = s / epsilon: pure epsilon-DP.

    ||x - D|| - ||x|| <= ||D|| <= s bounds the privacy loss by s / b.
    """

    key = "l2"
    title = "l2 mechanism"
    paper = "Hardt and Talwar 2010"
    theorem = "K-norm mechanism with the l2 ball"
    guarantee = "pure"
    look = ("#117733", ">", 14)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_dimensions(query)
        return Spherical(
            shape=query.shape,
            radial_shape=float(query.size),
            power=1.0,
            scale=query.l2_sensitivity / budget.epsilon,
        )


class SphericalGamma(AdditiveMechanism):
    """Density proportional to ||x||^(a - M) exp(-(||x|| / b)^p), exactly calibrated.

    A search finds the (a, p) of least expected squared error at the budget. It starts at the l2
    mechanism and at the Gaussian, exactly calibrated, so its result is never worse than either.
    """

    key = "spherical-gamma"
    title = "Spherical gamma"
    paper = "arXiv:2606.08681"
    theorem = "exact profile of a radial density"
    guarantee = "approximate"
    look = ("#44AA99", "h", 15)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        require_dimensions(query)
        try:
            best = least_noise(
                budget.epsilon, budget.delta, dimension=query.size, sensitivity=query.reach
            )
        except ArithmeticError as error:
            raise Unsupported(
                f"finds no best shape at epsilon {budget.epsilon:g} for a delta as large as "
                f"{budget.delta}"
            ) from error
        return Spherical(
            shape=query.shape, radial_shape=best.radial_shape, power=best.power, scale=best.scale
        )
