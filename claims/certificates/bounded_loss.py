"""Certificates of noise whose likelihood ratios need no integral: norm noise and Wishart noise."""

from fractions import Fraction

import mpmath

from claims.certificates.certificate_format import (
    Certificate,
    certificate,
    exact,
    lower_bound,
    size,
)
from mechanisms import Budget, Query


def norm_noise(setting: str, sensitivity: float, budget: Budget) -> Certificate:
    """Certify noise of density exp(-|y - x| / b) in any norm, with b = sensitivity / epsilon."""
    largest = exact(sensitivity)
    return certificate(
        setting,
        "norm_noise",
        budget,
        {"distance": size(largest, largest)},
        {"scale": str(Fraction(largest) / Fraction(exact(budget.epsilon)))},
        {},
        {"delta_at_most": "0"},
    )


def wishart(setting: str, query: Query, budget: Budget) -> Certificate:
    """Refute the Wishart mechanism with one record of the largest norm against no record."""
    with mpmath.workdps(40):
        p = -mpmath.expm1(-mpmath.mpf(budget.epsilon) / 3)
        bound = lower_bound(p, 0, budget.epsilon)
    longest = exact(query.record_bound**2)
    scale = Fraction(longest) * 3 / (2 * Fraction(exact(budget.epsilon)))
    return certificate(
        setting,
        "wishart",
        budget,
        {"record_squared": size(longest, longest)},
        {"scale": str(scale)},
        {},
        bound,
    )
