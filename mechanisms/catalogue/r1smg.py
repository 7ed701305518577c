"""The rank-1 singular multivariate Gaussian mechanism of r1smg2024."""

import math

import scipy

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.radial_noise import Spherical
from mechanisms.query.query import Budget, Query, Unsupported


def log_psi(size: int, delta: float) -> float:
    """Return ln psi of `R1SMG` for M = `size` > 2."""
    ratio = (
        scipy.special.gammaln((size - 1) / 2)
        - scipy.special.gammaln(size / 2)
        - 0.5 * math.log(math.pi)
    )
    return 2 / (size - 2) * float(math.log(delta) + ratio)


class R1SMG(AdditiveMechanism):
    """n = v sqrt(sigma_*) z, v uniform on the sphere, z ~ N(0, 1), sigma_* = 2 s^2 / (eps psi).

    Spherical noise whose radius is half-normal, whatever M is. sigma_* is a variance: the
    eigenvalue of the covariance v sigma_* v^T. The noise along v has the standard deviation
    sqrt(sigma_*), and its expected squared norm is sigma_*. psi is
    (delta Gamma((M-1)/2) / (sqrt(pi) Gamma(M/2)))^(2/(M-2)): delta^(2/(M-2)) times a factor that
    tends to 1 as M grows.

    The claim, which Remark 1 limits to epsilon below 1/M, is false at every such setting of the
    papers: the proof of Theorem 5 bounds the angle between independent directions, and two noises
    that meet at one output are not independent.
    """

    key = "r1smg"
    title = "R1SMG"
    paper = "r1smg2024"
    theorem = "Theorem 5"
    guarantee = "approximate"
    look = ("#D55E00", "o", 1)

    @classmethod
    def limit(cls, query, budget):
        if budget.epsilon * query.size >= 1:
            return (
                f"the theorem is claimed for epsilon < 1/M = {1 / query.size:.3g} only; epsilon is "
                f"{budget.epsilon:g}"
            )
        return None

    @classmethod
    def noise_for(cls, query: Query, budget: Budget):
        if query.size <= 2:
            raise Unsupported(f"needs at least 3 elements (Theorem 5), got {query.size}")
        log_sigma_star = math.log(2 * query.l2_sensitivity**2 / budget.epsilon) - log_psi(
            query.size, budget.delta
        )
        # With R = sqrt(sigma_*) |z|, (R / sqrt(2 sigma_*))^2 ~ Gamma(1/2).
        scale = math.sqrt(2) * math.exp(log_sigma_star / 2)
        return Spherical(shape=query.shape, radial_shape=1.0, power=2.0, scale=scale)

    def parameters(self):
        return {"sigma_star": self.noise.scale**2 / 2}
