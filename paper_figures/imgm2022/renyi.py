"""Privacy accounting: DP-SGD budgets, their split over steps, and a Renyi divergence."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from mechanisms.profiles.gaussian_profile import mu_for
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import close, listed, verdict_on_statement

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.


@judge()
def renyi_divergence(claim: Claim, results: Results) -> Finding:
    """imgm2022 eq. (52) against the Renyi divergence of IMGM's noise, by quadrature.

    Arguments: epsilon, delta, orders (alpha).
    """
    a = claim.arguments
    mu = float(mu_for(a["epsilon"], a["delta"]))
    eta = mu**2 / 2
    true, equal, bound = [], [], []
    for alpha in a["orders"]:
        true.append(_renyi(alpha, mu))
        equal.append((2 * alpha + 1) * eta / (alpha - 1) * math.exp(eta * (alpha**2 + alpha)))
        growth = math.exp(mu * (alpha**2 + alpha) / 2)
        bound.append((2 * alpha + 1) * mu / (2 * (alpha - 1)) * growth)
    quadrature = max(abs(t / (al * eta) - 1) for t, al in zip(true, a["orders"], strict=True))
    same = all(close(e, t, claim.tolerance) for e, t in zip(equal, true, strict=True))
    looseness = np.divide(bound, true)
    return Finding(
        ours=f"{listed(f'{t:.4g}' for t in true)} at alpha = "
        f"{listed(f'{alpha:g}' for alpha in a['orders'])}, where the expression in eta has "
        f"{listed(f'{e:.4g}' for e in equal)}",
        verdict=verdict_on_statement(same and quadrature <= 1e-6),
        detail=(
            f"One-dimensional quadrature at B = {mu:.5g}, the B of ({a['epsilon']:g}, "
            f"{a['delta']:g}); it agrees with alpha B^2/2 to {quadrature:.0e}. The final bound of "
            f"eq. (52) is above the true value there, by a factor of {looseness.min():.3g} to "
            f"{looseness.max():.3g}, so that the RDP guarantee drawn from it is true but loose."
        ),
        calibration="published",
    )


def _renyi(alpha: float, mu: float) -> float:
    """D_alpha(N(mu, 1) || N(0, 1)) by quadrature of p^alpha q^(1 - alpha), scaled by its peak."""
    peak = alpha * mu
    log_peak = alpha * (alpha - 1) * mu**2 / 2

    def integrand(x: float) -> float:
        log_p, log_q = -((x - mu) ** 2) / 2, -(x**2) / 2
        exponent = alpha * log_p + (1 - alpha) * log_q - log_peak
        return math.exp(exponent) / math.sqrt(2 * math.pi)

    mass, _ = integrate.quad(integrand, peak - 12, peak + 12, epsabs=0, epsrel=1e-12)
    return (math.log(mass) + log_peak) / (alpha - 1)
