"""plrvo2025: the noise of PLRV-O in DP-SGD against Gaussian noise, by closed forms.

The published code draws every element of the noise from a Laplace law whose rate is
Gamma(k, theta), of density k theta / 2 (1 + theta |x|)^-(k + 1).
"""

from __future__ import annotations

from mechanisms.accounting.poisson_sampling import gaussian_epsilon, noise_multiplier
from mechanisms.profiles.fisher import (
    gamma_mixture_mu,
    gamma_mixture_std,
    kappa_of_gamma_mixture,
)
from paper_figures.judged_rows import rounded_up
from paper_figures.ledger import Claim, judge
from paper_figures.results import Results
from paper_figures.rules import statement
from paper_figures.verdicts import Finding


@judge()
def mixture_noise(claim: Claim, results: Results) -> Finding:
    """Whether the noise is smaller than Gaussian noise of the claimed epsilon.

    Arguments: k, theta, clip (C), rate, steps, epsilon, delta: a run of the published code.
    """
    a = claim.arguments
    k, theta, clip = float(a["k"]), a["theta"], a["clip"]
    run = a["rate"], a["steps"]
    own = gamma_mixture_std(k, theta) / clip
    gaussian = noise_multiplier(a["epsilon"], a["delta"], *run)
    mu = gamma_mixture_mu(k, theta, clip)
    true = gaussian_epsilon(1 / mu, *run, a["delta"])
    return Finding(
        parts=[
            statement(
                "smaller than Gaussian noise of that epsilon",
                own < gaussian,
                f"{own:.3g} C in each element, and {gaussian:.3g} C",
            )
        ],
        detail=(
            f"k = {k:g}, theta = {theta:g}, C = {clip:g}, rate {a['rate']:g}, {a['steps']} steps, "
            f"delta {a['delta']:g}; Gaussian noise by Renyi accounting. In high dimension the "
            f"noise is as private as a Gaussian of {1 / mu:.3g} C: epsilon at most "
            f"{rounded_up(true)} where {a['epsilon']:g} is claimed: private, and loose. kappa "
            f"{kappa_of_gamma_mixture(k):.4g}: at equal privacy it has that many times the "
            "variance of the Gaussian. The accuracies were not run."
        ),
        calibration="published",
    )
