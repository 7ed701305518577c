"""Certificates against TLDP, which keeps each component with a small probability, else adds noise.

The noise is Laplace or Gaussian.
"""

import math
from fractions import Fraction

import mpmath
import numpy as np

from claims.certificates.certificate_format import (
    Certificate,
    certificate,
    digits,
    exact,
    lower_bound,
    size,
)
from claims.certificates.gaussian import half_space_probabilities
from mechanisms import Budget, Query
from mechanisms.catalogue.tldp import gaussian_variant, laplace_variant

# With this many changed components the bound is 1 to nine digits, so more add nothing.
_MOST_CHANGED, _CELLS = 784, 64


def score_laws(loss: float, cells: int, changed: int) -> np.ndarray:
    """Return the law of the sum of the scores for x, under Laplace noise.

    The law for x' is its mirror image.

    Args:
        loss: The change of a component over the scale of the noise.
        cells: The number of parts of the line from x_i to x'_i; the score of a component is the
            number of their midpoints between y_i and x'_i.
        changed: The number of components that differ.
    """
    middles = (2 * np.arange(cells) + 1) / (2 * cells)
    tails = np.concatenate([[1.0], np.exp(-loss * middles) / 2, [0.0]])
    one = -np.diff(tails)[::-1]
    law = np.ones(1)
    for _ in range(changed):
        law = np.convolve(law, one)
    return law


def best_score(law: np.ndarray, epsilon: float) -> tuple[int, float, float]:
    """Return the score s for which {score >= s} maximises P - e^epsilon Q, with P and Q."""
    above = np.cumsum(law[::-1])[::-1]
    below = np.cumsum(law)[::-1]
    gains = above - math.exp(min(epsilon, 700.0)) * below
    score = int(np.argmax(gains[1:])) + 1
    return score, float(above[score]), float(below[score])


def add_kept_event(
    pair: tuple[mpmath.mpf, mpmath.mpf], log_keep: float, changed: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """Return P and Q of an event after outputs with kept components have been assigned to a side.

    Outputs with some y_i = x_i are added, and those with some y_i = x'_i are removed.

    Args:
        pair: P and Q of the event, given that every component is noisy.
        log_keep: The logarithm of the probability that a component is kept.
        changed: The number of components that differ.
    """
    noisy = mpmath.exp(changed * mpmath.log1p(-mpmath.exp(log_keep)))
    return 1 - noisy * (1 - pair[0]), noisy * pair[1]


def tldp(setting: str, letter: str, query: Query, epsilon: float, weight: float) -> Certificate:
    """Refute TLDP-L or TLDP-G, with one weight for all components (0 for no weights)."""
    laplace = letter == "l"
    width, budget = query.linf_sensitivity, Budget(epsilon=epsilon)
    if query.structure == "gram":
        # Records have four features: x = (1, 1, 1, 1), y = (1, 1, -1, -1) in units of the bound.
        # Half the elements of x x^T - y y^T are 0 and half are 2, where one may be up to 4.
        changed, share = query.size // 2, Fraction(1, 2)
    else:
        changed, share = min(query.changed, _MOST_CHANGED), Fraction(1)
    noise, log_keep = (laplace_variant if laplace else gaussian_variant)(query, budget)
    step = width * float(share)
    with mpmath.workdps(40):
        if laplace:
            cells = _CELLS if changed < _CELLS else 1
            law = score_laws(step / noise.scale, cells, changed)
            score, *pair = best_score(law, epsilon)
            event, scale = {"cells": cells, "score": score}, noise.scale
            # The margin covers the rounding errors of sums of many positive terms.
            pair = [mpmath.mpf(min(pair[0] * (1 - 1e-11), 1.0)), mpmath.mpf(pair[1] * (1 + 1e-11))]
        else:
            scale = noise.sigma
            mu = step * math.sqrt(changed) / scale
            z = float(f"{mu / 2 - epsilon / mu:.9g}")
            event, pair = {"z": repr(z)}, half_space_probabilities(z, mu)
        p, q = add_kept_event(pair, log_keep + math.log1p(-weight), changed)
        bound = lower_bound(p, q, epsilon)
    changed_by = exact(width) if share == 1 else str(Fraction(exact(width)) * share)
    return certificate(
        setting,
        "tldp",
        budget,
        {"changed": size(changed, query.size), "change": size(changed_by, exact(width))},
        {"laplace": int(laplace), "weight": exact(weight), "scale": digits(scale)},
        event,
        bound,
    )
