"""Privacy accounting: DP-SGD budgets, their split over steps, and a Renyi divergence."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate

from mechanisms.accounting.poisson_sampling import gaussian_epsilon, step_budget
from mechanisms.profiles.gaussian_profile import mu_for
from paper_figures.drawings import Results
from paper_figures.judging import (
    close,
    judge_numbers,
    judge_statement,
    listed,
)
from paper_figures.ledger import Claim, Measured, measurement

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.
COARSE_ORDERS = [1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, *range(5, 64), 128, 256, 512]


@measurement()
def training_budget(claim: Claim, results: Results) -> Measured:
    """Total epsilon of DP-SGD with Poisson sampling: RDP as the papers use it, and PLD.

    Arguments: records, batch, epochs, delta; stated, pairs of noise multiplier and epsilon.
    """
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    a = claim.arguments
    steps = a["epochs"] * a["records"] // a["batch"]

    def totals(accountant) -> list[float]:
        return [
            gaussian_epsilon(
                sigma, a["batch"] / a["records"], steps, a["delta"], accountant=accountant()
            )
            for sigma, _ in a["stated"]
        ]

    sigmas = [sigma for sigma, _ in a["stated"]]
    ours, coarse = totals(RdpAccountant), totals(lambda: RdpAccountant(COARSE_ORDERS))
    tight = totals(lambda: PLDAccountant(value_discretization_interval=1e-3))
    pairs = list(zip(ours, (stated for _, stated in a["stated"]), strict=True))
    words = listed(f"{e:.4g} at sigma {s:g}" for e, s in zip(ours, sigmas, strict=True))
    differ = ", ".join(f"{e / stated - 1:+.1%}" for e, stated in pairs)
    return Measured(
        ours=f"{words} ({differ})",
        verdict=judge_numbers(pairs, claim.tolerance),
        detail=(
            f"q = {a['batch']}/{a['records']}, {a['epochs']} epochs ({steps} steps), delta "
            f"{a['delta']:g}, Poisson sampling, a record added or removed, dp_accounting's orders. "
            "With TensorFlow Privacy's coarser ones "
            f"{listed(f'{e:.5g}' for e in coarse)}; by privacy loss distributions at most "
            f"{listed(f'{e:.4g}' for e in tight)}."
        ),
        calibration="published",
    )


@measurement()
def split_over_steps(claim: Claim, results: Results) -> Measured:
    """Step budgets of eq. (16) from the stated totals.

    Arguments: records, batch, epochs, delta, slack (delta'); stated, pairs of total epsilon and
    (epsilon_0, delta_0); other_records, for a rate that is told besides.
    """
    a = claim.arguments
    pairs, words, others = [], [], []
    for total, stated in a["stated"]:
        split = step_budget(total, a["delta"], a["batch"] / a["records"], a["epochs"], a["slack"])
        pairs += zip(split, stated, strict=True)
        words.append(f"({split[0]:.3g}, {split[1]:.3g})")
        if "other_records" in a:
            rate = a["batch"] / a["other_records"]
            others.append(step_budget(total, a["delta"], rate, a["epochs"], a["slack"])[0])
    differ = ", ".join(f"{ours / stated - 1:+.1%}" for ours, stated in pairs[::2])
    other = (
        f" With q = {a['batch']}/{a['other_records']} it would be "
        f"{listed(f'{e:.3g}' for e in others)}."
        if others
        else ""
    )
    return Measured(
        ours=f"{listed(words)} (epsilon_0 {differ})",
        verdict=judge_numbers(pairs, claim.tolerance),
        detail=(
            f"Totals {listed(f'{total:g}' for total, _ in a['stated'])} as stated, delta "
            f"{a['delta']:g}, delta' {a['slack']:g}, q = {a['batch']}/{a['records']}, "
            f"{a['epochs']} epochs, T = epochs/q.{other}"
        ),
        calibration="published",
    )


@measurement()
def renyi_divergence(claim: Claim, results: Results) -> Measured:
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
    return Measured(
        ours=f"{listed(f'{t:.4g}' for t in true)} at alpha = "
        f"{listed(f'{alpha:g}' for alpha in a['orders'])}, where the expression in eta has "
        f"{listed(f'{e:.4g}' for e in equal)}",
        verdict=judge_statement(same and quadrature <= 1e-6),
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
