"""kappa = Fisher information x variance: what i.i.d. noise costs in high dimension.

I.i.d. noise from a symmetric distribution with variance v and Fisher information of location I is
added to each of M elements. As M grows, a change of l2 norm s that is spread over all elements has
a privacy loss that tends to that of Gaussian noise with mu = s sqrt(I): a sum of M small losses,
each of variance I s^2 / M. Gaussian noise of the same variance has mu = s / sqrt(v). By the
Cramer-Rao inequality kappa = I v >= 1, with equality for the Gaussian alone. To be as private
against that one change, any other distribution needs kappa times the variance.
"""

import math

GAUSSIAN, LAPLACE = 1.0, 2.0
# What tables say about a column of kappa.
MEANING = (
    "kappa is the Fisher information times the variance of i.i.d. noise: in high dimension, such "
    "noise needs at least kappa times the variance of Gaussian noise for the same privacy."
)


def kappa_of_gamma_mixture(shape: float) -> float:
    """Of Laplace noise whose rate is Gamma(k, theta), for any theta: PLRV-O, k = `shape` > 2.

    2 k (k + 1)^2 / ((k + 2) (k - 1) (k - 2)), which falls to 2 as k grows.
    """
    if shape <= 2:
        raise ValueError(f"shape must be > 2 for a finite variance, got {shape}")
    return 2 * shape * (shape + 1) ** 2 / ((shape + 2) * (shape - 1) * (shape - 2))


def gamma_mixture_std(shape: float, theta: float) -> float:
    """The standard deviation of Laplace noise with a Gamma(k, theta) rate, k > 2.

    Its density is k theta / 2 (1 + theta |x|)^-(k + 1).
    """
    return math.sqrt(2 / ((shape - 1) * (shape - 2))) / theta


def gamma_mixture_mu(shape: float, theta: float, sensitivity: float) -> float:
    """mu = s sqrt(I) of that noise in high dimension: s theta (k + 1) sqrt(k / (k + 2))."""
    return sensitivity * theta * (shape + 1) * math.sqrt(shape / (shape + 2))
