"""Make the certificates of each mechanism: neighbours, scale, event, and a bound.

P and Q are the probabilities of the event for the neighbours x and x'. `check_certificate.py` has
functions of the same names, which integrate in another way; for DAWA its function is used here too.
Bounds that refute a claim are rounded down.
"""

import math
import operator
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import scipy

import check_certificate
from claims.judged_rows import calibrated
from mechanisms import Budget, Query
from mechanisms.catalogue.product_noise import log_k_for, log_stated_delta
from mechanisms.catalogue.tldp import gaussian_variant, laplace_variant
from mechanisms.privacy.gaussian_profile import mu_for

Certificate = dict[str, Any]
# The largest relative error of P in the quadrature below; `lower_bound` is reduced by it.
_ERROR = 1e-10
_DIGITS = 8
# The number of panels, the nodes of each, and the range of the quadrature over log(radius / sigma).
_PANELS, _NODES, _LOG_RADIUS = 800, 16, (-36.0, 2.6)
# With this many changed components of TLDP, the bound is 1 to nine digits. The number of cells is
# `_CELLS` if fewer components change, and 1 otherwise.
_MOST_CHANGED, _CELLS = 784, 64


def exact(value: float) -> str:
    """Format a number as its source states it: as a short decimal, or as a fraction.

    The denominator is at most 10^7. A number that is neither is formatted with all its digits.
    """
    text = f"{value:.12g}".replace("e+", "e")
    if float(text) == value:
        return text
    near = Fraction(value).limit_denominator(10**7)
    return str(near) if math.isclose(near, value, rel_tol=1e-14, abs_tol=0) else repr(value)


def digits(value: float) -> str:
    """Format a number with 15 significant digits and without a plus sign in the exponent."""
    return f"{value:.15g}".replace("e+", "e")


def rounded(value: mpmath.mpf, digits: int, rounding: str = ROUND_FLOOR) -> str:
    """Format a positive value as a decimal of so many significant digits; it is rounded down.

    `rounding` may be another constant of the module decimal.
    """
    short = Context(prec=digits, rounding=rounding).plus(Decimal(mpmath.nstr(value, 40)))
    return f"{short.normalize():{'f' if short.adjusted() - digits > -26 else 'e'}}"


def size(value: str | int, limit: str | int) -> dict[str, str | int]:
    """Return a size of the change between neighbours, and the largest one that the claim allows."""
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
    """Assemble a certificate, with its fields in the order in which readers need them."""
    claim = {"epsilon": exact(budget.epsilon), "delta": exact(budget.delta)}
    return {
        "setting": setting,
        "mechanism": mechanism,
        "claim": claim,
        **({"step": step} if step else {}),
        "neighbours": neighbours,
        "noise": noise,
        "event": event,
        "bound": bound,
    }


def lower_bound(pair: tuple[Any, Any], epsilon: float, rate: float = 1.0) -> dict[str, str]:
    """Return the largest delta that P and Q prove, less the error of the quadrature, rounded down.

    With a sample, the event has the probabilities `rate` P + (1 - `rate`) Q and Q.

    Args:
        pair: P and Q.
        epsilon: The claimed epsilon.
        rate: The probability that the sample has the record in which x and x' differ.
    """
    with mpmath.workdps(40):
        p, q, rate = mpmath.mpf(pair[0]), mpmath.mpf(pair[1]), mpmath.mpf(rate)
        gain = rate * p - (mpmath.exp(epsilon) - 1 + rate) * q
        return {"delta_at_least": rounded(gain - _ERROR * rate * p, _DIGITS)}


def norm_noise(setting: str, sensitivity: float, budget: Budget) -> Certificate:
    """Confirm pure privacy for noise of density c exp(-|y - x| / b), b = sensitivity / epsilon.

    Args:
        setting: The setting in words.
        sensitivity: The largest |x' - x|, in the norm of the noise.
        budget: The claim.
    """
    largest = exact(sensitivity)
    noise = {"scale": str(Fraction(largest) / Fraction(exact(budget.epsilon)))}
    neighbours, bound = {"distance": size(largest, largest)}, {"delta_at_most": "0"}
    return certificate(setting, "norm_noise", budget, neighbours, noise, {}, bound)


def wishart(setting: str, query: Query, budget: Budget) -> Certificate:
    """Refute the Wishart mechanism: x' has one more record than x, of the largest l2 norm."""
    with mpmath.workdps(40):
        pair = -mpmath.expm1(-mpmath.mpf(budget.epsilon) / 3), 0
    longest = exact(query.record_bound**2)
    noise = {"scale": str(Fraction(longest) * 3 / (2 * Fraction(exact(budget.epsilon))))}
    neighbours = {"record_squared": size(longest, longest)}
    bound = lower_bound(pair, budget.epsilon)
    return certificate(setting, "wishart", budget, neighbours, noise, {}, bound)


def dawa(setting: str, query: Query, budget: Budget) -> Certificate:
    """Refute DAWA as published, at its default ratio, by the neighbours with the largest P / Q.

    One cell changes, or two if a record moves, or every other cell if all may change. The event
    is that each bucket is a single cell. `check_certificate.dawa` computes P and Q.
    """
    n, one, l1 = query.size, Fraction(exact(query.linf_sensitivity)), exact(query.l1_sensitivity)
    epsilon = exact(budget.epsilon)
    if query.structure == "histogram" and query.adjacency == "replace":
        places = [(n // 4, n // 2)]
    else:
        places = [(n // 2, n)] if query.one_column else [(n // 2, n), (0, 2)]
    changes = []
    for start, stride in places:
        count = len(range(start, n, stride))
        neighbours = {
            "n": n,
            "l1": size(str(count * one), str(Fraction(l1))),
            "l2_squared": size(str(count * one**2), exact(query.l2_sensitivity**2)),
            "linf": size(str(one), str(one)),
            "start": start,
            "stride": stride,
        }
        given = {name: check_certificate.parse_number(value) for name, value in neighbours.items()}
        _, p, q = check_certificate.dawa(check_certificate.parse_number(epsilon), 0, None, **given)
        changes.append((float((p / q).log()), neighbours))
    loss, neighbours = max(changes, key=operator.itemgetter(0))
    noise = {"scale": str(4 * Fraction(l1) / Fraction(epsilon))}
    bound = {"epsilon_at_least": rounded(mpmath.mpf(loss) * (1 - 1e-9), 5)}
    return certificate(setting, "dawa", budget, neighbours, noise, {}, bound)


def _half_spaces(z: Any, mu: Any) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return P and Q of {<y - x, x' - x> <= z sigma |x' - x|} for |x' - x| = mu sigma."""
    return mpmath.ncdf(z), mpmath.ncdf(mpmath.mpf(z) - mu)


def _root(budget: Budget) -> str:
    """Return mu = sensitivity / sigma of the analytic Gaussian, rounded down to 14 digits.

    A smaller mu is more private.
    """
    with mpmath.workdps(60):
        epsilon, delta = mpmath.mpf(exact(budget.epsilon)), mpmath.mpf(exact(budget.delta))
        start = mpmath.mpf(float(mu_for(budget.epsilon, budget.delta)))

        def excess(mu: mpmath.mpf) -> mpmath.mpf:
            p, q = _half_spaces(mu / 2 - epsilon / mu, mu)
            return p - mpmath.exp(epsilon) * q - delta

        found = mpmath.findroot(excess, (start * (1 - 1e-9), start * (1 + 1e-9)), tol=1e-60)
        return rounded(found, 14)


def gaussian_holds(setting: str, budget: Budget) -> Certificate:
    """Confirm that the delta of analytic Gaussian noise is at most the claimed one."""
    noise, bound = {"scale": _root(budget)}, {"delta_at_most": exact(budget.delta)}
    return certificate(setting, "gaussian", budget, {}, noise, {}, bound)


def imgm_batch(setting: str, budget: Budget, rate: Fraction, *, sampled: bool) -> Certificate:
    """Refute a claim of (epsilon, delta) for IMGM's noise at the budget (epsilon / q, delta / q).

    Args:
        setting: The setting in words.
        budget: The claim.
        rate: q, the share of the records that a batch has.
        sampled: Whether one batch, a secret sample, is released; otherwise every record is in a
            batch that is released.
    """
    epsilon, delta = (Fraction(exact(value)) / rate for value in (budget.epsilon, budget.delta))
    mu = _root(Budget(epsilon=float(epsilon), delta=float(delta)))
    loss = float(budget.epsilon)
    if sampled:
        loss = math.log1p(math.expm1(loss) / float(rate))
    z = float(f"{float(mu) / 2 - loss / float(mu):.12g}")
    with mpmath.workdps(60):
        pair = _half_spaces(z, mpmath.mpf(mu))
    bound = lower_bound(pair, budget.epsilon, float(rate) if sampled else 1.0)
    step = {"epsilon": str(epsilon), "delta": str(delta), "rate": str(rate) if sampled else 1}
    noise, event = {"scale": mu}, {"z": repr(z)}
    return certificate(setting, "gaussian", budget, {}, noise, event, bound, step)


def _ball_probabilities(size: int, rho: float, tau: float) -> tuple[float, float]:
    """Return P and Q of {|y - x| <= sqrt(1 - tau^2) |y - x'|} for half-normal spherical noise.

    The noise has a uniform direction and the norm sigma |z|, z ~ N(0, 1). P and Q are integrals
    over the norm here, and over the direction in the checker.

    Args:
        size: The number of elements M, at least 3.
        rho: |x - x'| / sigma, above 0.
        tau: The parameter of the event, in (0, 1).
    """
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(*_LOG_RADIUS, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    z = np.exp((edges[:-1, None] + half) + half * nodes).ravel()
    mass = (half * weights).ravel() * z * 2 * scipy.stats.norm.pdf(z)
    r, excess, shape = z / rho, tau**2 / (1 - tau**2), (0.5, (size - 1) / 2)
    cosine = (1 - excess * r**2) / (2 * r)
    square = np.minimum(cosine**2, 1.0)
    inside = 0.5 * (1 + np.sign(cosine) * scipy.special.betainc(*shape, square))
    square = np.minimum(((tau**2 * r**2 + 1) / (2 * r)) ** 2, 1.0)
    outside = scipy.special.betaincc(*shape, square)
    return float(mass @ inside), float(mass @ outside / 2)


def _ball(
    query: Query, sigma: float, epsilon: float, rate: float = 1.0
) -> tuple[dict, dict, dict[str, str]]:
    """Return neighbours, event and bound for spherical noise with a half-normal norm.

    If an output lies kappa times as far from x' as from x, its privacy loss is (M - 1) ln kappa
    plus a small term from the norm of the noise.

    Args:
        query: The query.
        sigma: The scale of the norm of the noise, sigma |N(0, 1)|.
        epsilon: The claimed epsilon.
        rate: The probability in (0, 1] that the sample has the record in which x and x' differ.
    """
    loss = math.log1p(math.expm1(epsilon) / rate)
    tau = float(f"{math.sqrt(-math.expm1(-2 * loss / (query.size - 1))):.12g}")
    pair = _ball_probabilities(query.size, query.reach / sigma, tau)
    distance = size(exact(query.reach**2), exact(query.l2_sensitivity**2))
    neighbours = {"m": query.size, "distance_squared": distance}
    return neighbours, {"tau": repr(tau)}, lower_bound(pair, epsilon, rate)


def r1smg(
    setting: str, query: Query, budget: Budget, total: Budget | None = None, rate: float = 1.0
) -> Certificate:
    """Refute R1SMG as published, or the claim for a whole run of DP-SGD by one of its steps.

    Args:
        setting: The setting in words.
        query: The query.
        budget: The budget of the noise.
        total: The claim for the whole run if `budget` is that of a step; None if `budget` is the
            claim.
        rate: The sampling rate of the step.
    """
    sigma = calibrated("r1smg", query, budget).noise.scale / math.sqrt(2)
    claim, step = budget, None
    if total is not None:
        claim = total
        step = {"epsilon": exact(budget.epsilon), "delta": exact(budget.delta), "rate": exact(rate)}
    neighbours, event, bound = _ball(query, sigma, claim.epsilon, rate)
    noise = {"scale": digits(sigma)}
    return certificate(setting, "r1smg", claim, neighbours, noise, event, bound, step)


def product_noise(
    setting: str, query: Query, budget: Budget, k: float | None = None
) -> Certificate:
    """Refute product noise.

    Args:
        setting: The setting in words.
        query: The query.
        budget: The claim; only its epsilon counts if k is given.
        k: The parameter of the noise. If given, the claimed delta is the one that is stated for k,
            rounded up. The default is the k for the claimed delta.
    """
    if k is None:
        # The stated delta falls with k, so round k up to keep delta within the budget.
        log_k = log_k_for(query.size, budget.epsilon, budget.delta)
        text = digits(math.exp(log_k) * (1 + 1e-10))
    else:
        log_stated = log_stated_delta(query.size, budget.epsilon, math.log(k))
        with mpmath.workdps(40):
            stated = mpmath.exp(log_stated) * (1 + 1e-10)
        delta = float(rounded(stated, 12, ROUND_CEILING))
        budget, text = Budget(epsilon=budget.epsilon, delta=delta), str(k)
    pure = Budget(epsilon=budget.epsilon)
    sigma = calibrated("product-noise", query, pure, k=float(text)).noise.scale / math.sqrt(2)
    neighbours, event, bound = _ball(query, sigma, budget.epsilon)
    noise = {"k": text, "scale": digits(sigma)}
    return certificate(setting, "product_noise", budget, neighbours, noise, event, bound)


def _laplace_event(
    loss: float, cells: int, changed: int, epsilon: float
) -> tuple[int, tuple[float, float]]:
    """Return the s for which {sum of scores >= s} maximises P - e^epsilon Q, with this P and Q.

    P is lowered and Q is raised by more than the rounding errors of the sums.

    Args:
        loss: The change of a component over the scale of its Laplace noise.
        cells: The number of equal parts of the line from x_i to x'_i. The score of a component is
            the number of their midpoints that lie between y_i and x'_i.
        changed: The number of components that differ.
        epsilon: The claimed epsilon.
    """
    middles = (2 * np.arange(cells) + 1) / (2 * cells)
    tails = np.concatenate([[1.0], np.exp(-loss * middles) / 2, [0.0]])
    one_score = -np.diff(tails)[::-1]
    sums = np.ones(1)  # the probabilities of the sums for x; in reverse order, for x'
    for _ in range(changed):
        sums = np.convolve(sums, one_score)
    above, below = np.cumsum(sums[::-1])[::-1], np.cumsum(sums)[::-1]
    gains = above - math.exp(min(epsilon, 700.0)) * below
    score = int(np.argmax(gains[1:])) + 1
    p, q = float(above[score]), float(below[score])
    return score, (min(p * (1 - 1e-11), 1.0), q * (1 + 1e-11))


def tldp(setting: str, letter: str, query: Query, epsilon: float, weight: float) -> Certificate:
    """Refute TLDP-L or TLDP-G.

    TLDP keeps each component with a small probability, else adds Laplace or Gaussian noise. All
    outputs with some y_i = x_i are in the event, and none with some y_i = x'_i.

    Args:
        setting: The setting in words.
        letter: "l" for Laplace noise, "g" for Gaussian noise.
        query: The query.
        epsilon: The claimed epsilon.
        weight: The weight of every component, in [0, 1); 0 if there are no weights.
    """
    laplace = letter == "l"
    width, budget = query.linf_sensitivity, Budget(epsilon=epsilon)
    if query.structure == "gram":
        # The record r = (1, 1, 1, 1) is replaced by t = (1, 1, -1, -1), in units of the bound. Half
        # of the elements of r r^T - t t^T are 0, and half are 2; the sensitivity allows 4.
        changed, share = query.size // 2, Fraction(1, 2)
    else:
        changed, share = min(query.changed, _MOST_CHANGED), Fraction(1)
    law, log_keep = (laplace_variant if laplace else gaussian_variant)(query, budget)
    step = width * float(share)
    with mpmath.workdps(40):
        if laplace:
            scale, cells = law.scale, _CELLS if changed < _CELLS else 1
            score, (p, q) = _laplace_event(step / scale, cells, changed, epsilon)
            event = {"cells": cells, "score": score}
        else:
            scale = law.sigma
            mu = step * math.sqrt(changed) / scale
            z = float(f"{mu / 2 - epsilon / mu:.9g}")
            event, (p, q) = {"z": repr(z)}, _half_spaces(z, mu)
        log_keep += math.log1p(-weight)
        noisy = mpmath.exp(changed * mpmath.log1p(-mpmath.exp(log_keep)))
        bound = lower_bound((1 - noisy * (1 - p), noisy * q), epsilon)
    changed_by = exact(width) if share == 1 else str(Fraction(exact(width)) * share)
    neighbours = {"changed": size(changed, query.size), "change": size(changed_by, exact(width))}
    noise = {"laplace": int(laplace), "weight": exact(weight), "scale": digits(scale)}
    return certificate(setting, "tldp", budget, neighbours, noise, event, bound)
