"""plrvo2025: the noise of PLRV-O in DP-SGD against Gaussian noise, by closed forms.

The published code draws every element of the noise from a Laplace law whose rate is
Gamma(k, theta), of density k theta / 2 (1 + theta |x|)^-(k + 1).
"""

from __future__ import annotations

import math

import scipy

from mechanisms import Query
from mechanisms.accounting.poisson_sampling import gaussian_epsilon
from mechanisms.noise.gamma_mixture import GammaMixture
from mechanisms.profiles.fisher import (
    gamma_mixture_mu,
    gamma_mixture_std,
    kappa_of_gamma_mixture,
)
from paper_figures.judged_rows import rounded_up
from paper_figures.ledger import Claim, judge
from paper_figures.results import Results
from paper_figures.verdicts import NOT_RUN, Finding, Part

# Any number of elements of more than one: the bound is the same.
GRADIENT = 1000


@judge()
def mixture_noise(claim: Claim, results: Results) -> Finding:
    """The size and the privacy of the noise in a run; the accuracies of the claim are not run.

    Arguments: k, theta, clip (C), rate, steps, epsilon, delta: a run of the published code.
    """
    a = claim.arguments
    k, theta, clip = float(a["k"]), a["theta"], a["clip"]
    own = gamma_mixture_std(k, theta) / clip

    def epsilon(multiplier: float) -> float:
        # Privacy loss distributions: the bound by Renyi DP is 10% above theirs here.
        from dp_accounting.pld import PLDAccountant

        run = a["rate"], a["steps"], a["delta"]
        return gaussian_epsilon(multiplier, *run, accountant=PLDAccountant())

    def excess(log_multiplier: float) -> float:
        return epsilon(math.exp(log_multiplier)) - a["epsilon"]

    gaussian = math.exp(scipy.optimize.brentq(excess, math.log(0.5), math.log(1e3), xtol=1e-4))
    limit = gamma_mixture_mu(k, theta, clip)
    query = Query(shape=(GRADIENT,), l2_sensitivity=clip)
    above = GammaMixture(shape=query.shape, order=k, theta=theta).profile(query).above.mu
    near, most = epsilon(1 / limit), epsilon(1 / above)
    return Finding(
        parts=[Part("accuracies", NOT_RUN)],
        detail=(
            f"k = {k:g}, theta = {theta:g}, C = {clip:g}, rate {a['rate']:g}, {a['steps']} steps, "
            f"delta {a['delta']:g}. The noise has the standard deviation {own:.3g} C in each "
            f"element, and Gaussian noise of epsilon {a['epsilon']:g}, by loss distributions, "
            f"{gaussian:.3g} C. In high dimension the noise tends to the privacy of a Gaussian of "
            f"{1 / limit:.3g} C, epsilon {near:.3g}; epsilon is at most {rounded_up(most)} in any "
            f"dimension, where {a['epsilon']:g} is claimed: private, and loose. kappa "
            f"{kappa_of_gamma_mixture(k):.4g}: at equal privacy it has that many times the "
            "variance of the Gaussian."
        ),
        calibration="published",
    )
