"""Template of noise of a density f(||x||): copy this file to `mechanisms/catalogue/<name>.py`.

f must fall with the radius. The exact privacy profile and the calibration are computed from f.
"""

from dataclasses import dataclass

import mpmath
import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.radial_noise import RadialNoise
from mechanisms.query.option import Option, is_number
from mechanisms.query.query import Unsupported


@dataclass(frozen=True, kw_only=True)
class StudentTNoise(RadialNoise):
    """Multivariate Student-t noise: a Gaussian divided by sqrt(chi^2 / nu), nu = `freedom`."""

    freedom: float

    def log_density(self, radius):
        return -(self.freedom + self.size) / 2 * np.log1p(radius**2 / self.freedom)

    def steepness(self, radius):
        return (self.freedom + self.size) / (1 + self.freedom / radius**2)

    def sample_radius(self, rng, trials):
        return np.sqrt(self.size * rng.f(self.size, self.freedom, trials))

    def log_moments(self):
        half, nu = mpmath.mpf(self.size) / 2, mpmath.mpf(self.freedom)
        return tuple(
            k * mpmath.log(nu) + mpmath.log(mpmath.rf(half, k) / mpmath.rf(nu / 2 - k, k))
            if nu > 2 * k
            else mpmath.inf
            for k in (1, 2, 3, 4)
        )


class StudentT(AdditiveMechanism):
    """Student-t noise with the scale at which the true delta is the budget's."""

    key = "student-t"
    title = "Student-t"
    paper = "this suite"
    theorem = "RadialProfile"
    guarantee = "approximate"
    options = {
        "freedom": Option(
            10.0, "a number >= 3", lambda nu: is_number(nu) and nu >= 3, "degrees of freedom"
        )
    }

    @classmethod
    def noise_for(cls, query, budget, freedom=10.0):
        if query.size < 2:
            raise Unsupported("needs an answer of at least two numbers")
        noise = StudentTNoise(shape=query.shape, scale=query.reach, freedom=freedom)
        return noise.scaled(noise.profile(query).scale_factor(budget.epsilon, budget.delta))
