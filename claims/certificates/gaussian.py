"""Certificates of Gaussian noise: the guarantee of the least variance, and IMGM's batch budget."""

import math
from fractions import Fraction

import mpmath

from claims.certificates.certificate_format import (
    Certificate,
    certificate,
    exact,
    lower_bound,
    rounded,
)
from mechanisms import Budget
from mechanisms.privacy.gaussian_profile import mu_for


def half_space_probabilities(z: float, mu: float) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return P and Q of {<y - x, x' - x> <= z sigma |x' - x|} at |x - x'| = mu sigma."""
    return mpmath.ncdf(z), mpmath.ncdf(mpmath.mpf(z) - mu)


def root(budget: Budget) -> mpmath.mpf:
    """Return mu of the analytic Gaussian to 14 digits, rounded to the private side of the root."""
    with mpmath.workdps(60):
        epsilon, delta = mpmath.mpf(exact(budget.epsilon)), mpmath.mpf(exact(budget.delta))
        start = mpmath.mpf(float(mu_for(budget.epsilon, budget.delta)))

        def excess(mu):
            p, q = half_space_probabilities(mu / 2 - epsilon / mu, mu)
            return p - mpmath.exp(epsilon) * q - delta

        found = mpmath.findroot(excess, (start * (1 - 1e-9), start * (1 + 1e-9)), tol=1e-60)
        return mpmath.mpf(rounded(found, 14))


def _text(mu: mpmath.mpf) -> str:
    with mpmath.workdps(40):
        return mpmath.nstr(mu, 14, min_fixed=-(10**3), max_fixed=10**3)


def gaussian_holds(setting: str, budget: Budget) -> Certificate:
    """Certify that analytic Gaussian noise has at most the claimed delta."""
    return certificate(
        setting,
        "gaussian",
        budget,
        {},
        {"scale": _text(root(budget))},
        {},
        {"delta_at_most": exact(budget.delta)},
    )


def imgm_batch(setting: str, budget: Budget, rate: Fraction, *, sampled: bool) -> Certificate:
    """Refute IMGM's noise at (epsilon / q, delta / q) for a claim of (epsilon, delta).

    Args:
        setting: The setting in words.
        budget: The claim.
        rate: q, the share of the records in a batch.
        sampled: Whether the batch is a secret sample; otherwise the releases cover all records.
    """
    epsilon, delta = (Fraction(exact(value)) / rate for value in (budget.epsilon, budget.delta))
    with mpmath.workdps(60):
        mu = root(Budget(epsilon=float(epsilon), delta=float(delta)))
        loss = float(budget.epsilon)
        if sampled:
            loss = math.log1p(math.expm1(loss) / float(rate))
        z = float(f"{float(mu) / 2 - loss / float(mu):.12g}")
        p, q = half_space_probabilities(z, mu)
        bound = lower_bound(p, q, budget.epsilon, float(rate) if sampled else 1.0)
    step = {"epsilon": str(epsilon), "delta": str(delta), "rate": str(rate) if sampled else 1}
    return certificate(
        setting, "gaussian", budget, {}, {"scale": _text(mu)}, {"z": repr(z)}, bound, step
    )
