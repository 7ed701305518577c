"""plrvo2025: the noise of PLRV-O in DP-SGD against Gaussian noise, by closed forms.

Every element of the noise is Laplace with its own u ~ Gamma(k, theta). The published code has u in
two places: as the rate, of density k theta / 2 (1 + theta |x|)^-(k + 1), in the code for images and
in the one for language at commit c810b25, there times C; as the scale in the one for language at
commit bd849aa.
"""

import functools
import math
from typing import Literal, NamedTuple

import scipy

from claims.judges import judge
from claims.verdicts import NOT_RUN, Finding, Part
from mechanisms import Query
from mechanisms.noise.gamma_mixture import GammaMixture
from mechanisms.privacy.fisher import (
    gamma_mixture_mu,
    gamma_mixture_std,
    kappa_of_gamma_mixture,
)
from mechanisms.privacy.sampling.poisson_sampling import gaussian_epsilon, noise_multiplier
from mechanisms.query.words import rounded_up

# Any number of elements of more than one: the bound is the same.
GRADIENT = 1000


class Run(NamedTuple):
    """A run of the published code, whose u is a rate or a scale, and whose C is `clip`."""

    name: str
    k: float
    theta: float
    u: Literal["rate", "scale"]
    clip: float
    sampling: float
    steps: int
    epsilon: float
    delta: float


@judge
def mixture_noise(*, networks: list[str], runs: list[Run]) -> Finding:
    """The size and the privacy of the noise in runs; the accuracies of the claim are not run."""
    return Finding(
        parts=[Part(f"accuracies of {name}", NOT_RUN) for name in networks],
        detail=" ".join(_in_words(run) for run in runs),
        calibration="published",
    )


def scale_mixture_std(k: float, theta: float) -> float:
    """The standard deviation of Laplace noise of scale u ~ Gamma(k, theta), the root of 2 E u^2."""
    return theta * math.sqrt(2 * k * (k + 1))


def _in_words(run: Run) -> str:
    k, theta, clip = run.k, run.theta, run.clip
    sampled = run.sampling, run.steps, run.delta
    own = {"rate": gamma_mixture_std, "scale": scale_mixture_std}[run.u](k, theta) / clip
    gaussian = gaussian_multiplier(run.epsilon, *sampled)
    words = (
        f"{run.name}: k = {k:g}, theta = {theta:g}, u as the {run.u}, C = {clip:g}, sampling "
        f"rate {run.sampling:.4g}, {run.steps} steps, delta {run.delta:g}. The noise has "
        f"the standard deviation {own:.3g} C in each element, and Gaussian noise of epsilon "
        f"{run.epsilon:g}, by loss distributions, {gaussian:.3g} C."
    )
    if run.u == "scale":
        return f"{words} The privacy of this noise was not computed."
    limit = gamma_mixture_mu(k, theta, clip)
    query = Query(shape=(GRADIENT,), l2_sensitivity=clip)
    above = GammaMixture(shape=query.shape, order=k, theta=theta).profile(query).above.mu
    near, most = (run_epsilon(1 / mu, *sampled) for mu in (limit, above))
    return (
        f"{words} In high dimension the noise tends to the privacy of a Gaussian of "
        f"{1 / limit:.3g} C, epsilon {near:.3g}; epsilon is at most {rounded_up(most)} in any "
        f"dimension, where {run.epsilon:g} is claimed. kappa {kappa_of_gamma_mixture(k):.4g}: "
        "at equal privacy it has that many times the variance of the Gaussian."
    )


@functools.cache
def gaussian_multiplier(epsilon: float, sampling: float, steps: int, delta: float) -> float:
    """The standard deviation over C of Gaussian noise with this epsilon for the whole run."""

    def excess(log_multiplier: float) -> float:
        return run_epsilon(math.exp(log_multiplier), sampling, steps, delta) - epsilon

    # By Renyi DP some more noise is needed: at most 20% more here.
    most = math.log(noise_multiplier(epsilon, delta, sampling, steps))
    return math.exp(scipy.optimize.brentq(excess, most - 0.2, most, xtol=1e-4))


def run_epsilon(multiplier: float, sampling: float, steps: int, delta: float) -> float:
    """Epsilon of a run of DP-SGD with Gaussian noise of `multiplier` C."""
    # Privacy loss distributions: the bound by Renyi DP is 10% above theirs here.
    from dp_accounting.pld import PLDAccountant

    return gaussian_epsilon(multiplier, sampling, steps, delta, accountant=PLDAccountant())
