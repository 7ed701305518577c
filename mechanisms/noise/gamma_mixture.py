"""Laplace noise whose rate is drawn anew for every element, from a gamma distribution."""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from mechanisms.noise.distribution import (
    Noise,
    attained_reach,
    checked_dtype,
)
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy import fisher
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.gamma_mixture_profile import GammaMixtureProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile

# sqrt(pi / 2): see `GammaMixture.profile`.
GAUSSIAN_COVER = math.sqrt(math.pi / 2)


@dataclass(frozen=True, kw_only=True)
class GammaMixture(Noise):
    """Independent Laplace noise of scale 1 / u_i on element i, with u_i ~ Gamma(k, theta).

    Its density is k theta / 2 (1 + theta |x|)^-(k + 1) on every element.

    Args:
        shape: Axes of the answer.
        order: k > 8, so that four moments of the squared norm exist.
        theta: > 0, the scale of the gamma distribution; k theta is the mean rate.
    """

    shape: tuple[int, ...]
    order: float
    theta: float

    uncorrelated = True

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_exponential((trials, *self.shape), dtype)
        draws -= rng.standard_exponential((trials, *self.shape), dtype)
        draws /= rng.standard_gamma(self.order, (trials, *self.shape), dtype)
        draws /= dtype.type(self.theta)
        return draws

    def loss(self):
        # E x^(2j) = (2j)! E u^(-2j), and E u^(-2j) = Gamma(k - 2j) / Gamma(k) theta^(-2j).
        logs = (
            scipy.special.gammaln(2 * j + 1)
            - np.log(scipy.special.poch(self.order - 2 * j, 2 * j))
            - 2 * j * math.log(self.theta)
            for j in (1, 2, 3, 4)
        )
        return LossMoments.of_independent(tuple(float(np.exp(each)) for each in logs), self.size)

    def _scaled(self, factor):
        return replace(self, theta=self.theta / factor)

    def parameters(self):
        return {"theta": self.theta, "k": self.order}

    def profile(self, query):
        """Exact for one number; else between a Gaussian profile and that of one change.

        Above: an element that changes by D_i has no loss above e_i = (k + 1) log(1 + theta |D_i|).
        Whatever has pure e_i-privacy has mu_i-Gaussian privacy with Phi(mu_i / 2) = e^(e_i) /
        (1 + e^(e_i)), as the trade-off curve of the former, two straight lines, lies above the
        convex curve of the latter with the same corner (Dong, Roth and Su 2022); and mu_i <=
        sqrt(pi / 2) e_i. Over the l2 ball of radius s the sum of mu_i^2 is therefore at most
        pi / 2 ((k + 1) theta s)^2, in any dimension.

        Below: one element changes, in closed form. A change of all elements can be worse: as M
        grows it tends to a Gaussian pair of mu = (k + 1) theta s sqrt(k / (k + 2)), see
        `mechanisms/privacy/fisher.py`, which is a limit and no bound.
        """
        if query.size == 1:
            return self._of_change(query.reach)
        above = GaussianProfile(mu=GAUSSIAN_COVER * (self.order + 1) * self.theta * query.reach)
        # A Gram matrix changes by two such elements where one record replaces another.
        pair = query.gram_change is not None and query.adjacency == "replace"
        limits = (query.linf_sensitivity, query.l1_sensitivity)
        largest = attained_reach(query) / math.sqrt(2 if pair else 1)
        below = self._of_change(min([largest, *(each for each in limits if each is not None)]))
        return BoundedProfile(above=above, below=below)

    def _of_change(self, change: float) -> GammaMixtureProfile:
        return GammaMixtureProfile(order=self.order, theta=self.theta, sensitivity=change)

    def slack(self, query):
        if query.size == 1:
            return None
        return "the worst change of the l2 ball is not known for Laplace noise of a random rate"

    def kappa(self):
        return fisher.kappa_of_gamma_mixture(self.order)
