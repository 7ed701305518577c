"""The improved matrix Gaussian mechanism of imgm2022."""

import math

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.option import positive_integer
from mechanisms.query.query import Budget, Query


class IMGM(AdditiveMechanism):
    """Noise (s sqrt(T) / B) N with N standard normal (imgm2022 Theorems 2 to 4, Algorithm 1).

    B solves g(B) = delta. It is the mu of the analytic Gaussian mechanism, so the two mechanisms
    are the same at T = 1. The claim covers T releases together.
    """

    key = "imgm"
    title = "IMGM"
    paper = "imgm2022"
    theorem = "Theorems 2 and 4"
    guarantee = "approximate"
    look = ("#332288", "X", 10)
    options = {"compositions": positive_integer("T, the releases that share the budget")}

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, compositions):
        root = float(mu_for(budget.epsilon, budget.delta))
        sigma = query.l2_sensitivity * math.sqrt(compositions) / root
        return IndependentGaussian(shape=query.shape, sigma=sigma)

    def profile_of_release(self):
        return self.noise.profile(self.query)

    def profile(self):
        return self.profile_of_release().compose(self.settings["compositions"])
