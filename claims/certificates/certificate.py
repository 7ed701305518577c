"""A certificate: how it writes numbers, and the order of its fields.

Bounds that refute a claim are rounded down, and bounds that confirm one are rounded up.
"""

import math
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath

from mechanisms import Budget

Certificate = dict[str, Any]
# The relative error in P that the writer's quadrature may have; the bound is reduced by it.
_ERROR = 1e-10
_DIGITS = 8


def exact(value: float) -> str:
    """Write a number as its source does: a short decimal, or a fraction of small denominator."""
    text = f"{value:.12g}".replace("e+", "e")
    if float(text) == value:
        return text
    near = Fraction(value).limit_denominator(10**7)
    return str(near) if math.isclose(near, value, rel_tol=1e-14, abs_tol=0) else repr(value)


def digits(value: float) -> str:
    """Write a number with fifteen digits and no plus sign."""
    return f"{value:.15g}".replace("e+", "e")


def rounded(value: mpmath.mpf, digits: int, rounding: str = ROUND_FLOOR) -> str:
    """Round a positive value, down by default, to this many digits, as a decimal."""
    short = Context(prec=digits, rounding=rounding).plus(Decimal(mpmath.nstr(value, 40)))
    return f"{short.normalize():{'f' if short.adjusted() - digits > -26 else 'e'}}"


def size(value: str | int, limit: str | int) -> dict[str, str | int]:
    """Return a size of the change between neighbours, and the most that the claim allows."""
    return {"is": value, "at_most": limit}


def certificate(
    setting: str,
    mechanism: str,
    budget: Budget,
    neighbours: dict,
    noise: dict,
    event: dict,
    bound: dict,
    step: dict | None = None,
) -> Certificate:
    """Assemble a certificate in reading order; delta is the text "0" for a pure claim."""
    claim = {"epsilon": exact(budget.epsilon), "delta": exact(budget.delta)}
    own = {"setting": setting, "mechanism": mechanism, "claim": claim}
    own |= {"step": step} if step else {}
    return own | {"neighbours": neighbours, "noise": noise, "event": event, "bound": bound}


def lower_bound(pair: tuple[Any, Any], epsilon: float, rate: float = 1.0) -> dict[str, str]:
    """Return P - e^epsilon Q minus the error of the probabilities, rounded down.

    Args:
        pair: P and Q.
        epsilon: The claim.
        rate: The probability that a sample holds the record in which x and x' differ.
    """
    with mpmath.workdps(40):
        p, q, rate = mpmath.mpf(pair[0]), mpmath.mpf(pair[1]), mpmath.mpf(rate)
        gain = rate * p - (mpmath.exp(epsilon) - 1 + rate) * q
        return {"delta_at_least": rounded(gain - _ERROR * rate * p, _DIGITS)}
