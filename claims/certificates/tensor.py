"""TLDP: Laplace or Gaussian noise on every component, which is kept with a small probability."""

import math
from fractions import Fraction

import mpmath
import numpy as np

from claims.certificates.gaussian import half_space_probabilities
from claims.certificates.written import Certificate, certificate, digits, exact, lower_bound, size
from mechanisms import Budget, Query
from mechanisms.catalogue.tldp import gaussian_variant, laplace_variant

# More components than these do not add to a bound that is one to nine digits.
_MOST_CHANGED, _CELLS = 784, 64


def score_laws(loss: float, cells: int, changed: int) -> np.ndarray:
    """The law of the sum of the scores for x, under Laplace noise; for x' it is its mirror image.

    Args:
        loss: Change of a component over the scale of the noise.
        cells: Parts of the line between x_i and x'_i; a score is how many middles y_i passes.
        changed: Components that differ.
    """
    middles = (2 * np.arange(cells) + 1) / (2 * cells)
    tails = np.concatenate([[1.0], np.exp(-loss * middles) / 2, [0.0]])
    one = -np.diff(tails)[::-1]
    law = np.ones(1)
    for _ in range(changed):
        law = np.convolve(law, one)
    return law


def best_score(law: np.ndarray, epsilon: float) -> tuple[int, float, float]:
    """The score from which on P - e^epsilon Q is largest, with P and Q."""
    above = np.cumsum(law[::-1])[::-1]
    below = np.cumsum(law)[::-1]
    gains = above - math.exp(min(epsilon, 700.0)) * below
    score = int(np.argmax(gains[1:])) + 1
    return score, float(above[score]), float(below[score])


def with_kept(
    pair: tuple[mpmath.mpf, mpmath.mpf], log_keep: float, changed: int
) -> tuple[mpmath.mpf, mpmath.mpf]:
    """P and Q of: some y_i = x_i, or the event with no y_i = x'_i; log_keep is that of p."""
    noisy = mpmath.exp(changed * mpmath.log1p(-mpmath.exp(log_keep)))
    return 1 - noisy * (1 - pair[0]), noisy * pair[1]


def tldp(setting: str, letter: str, query: Query, epsilon: float, weight: float) -> Certificate:
    """TLDP-L or TLDP-G, with one weight for all components or none."""
    laplace = letter == "l"
    width, budget = query.linf_sensitivity, Budget(epsilon=epsilon)
    if query.structure == "gram":
        # x = (1, 1, 1, 1) and y = (1, 1, -1, -1), in units of the bound: half of x x^T - y y^T is 0
        # and the other half of its elements are 2, where an element is at most 4.
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
            # Of a sum of many terms that are all positive.
            pair = [mpmath.mpf(min(pair[0] * (1 - 1e-11), 1.0)), mpmath.mpf(pair[1] * (1 + 1e-11))]
        else:
            scale = noise.sigma
            mu = step * math.sqrt(changed) / scale
            z = float(f"{mu / 2 - epsilon / mu:.9g}")
            event, pair = {"z": repr(z)}, half_space_probabilities(z, mu)
        p, q = with_kept(pair, log_keep + math.log1p(-weight), changed)
        bound = lower_bound(p, q, epsilon)
    change = size(exact_times(width, share), exact(width))
    return certificate(
        setting,
        "tldp",
        budget,
        {"changed": size(changed, query.size), "change": change},
        {"laplace": int(laplace), "weight": exact(weight), "scale": digits(scale)},
        event,
        bound,
    )


def exact_times(value: float, factor: Fraction) -> str:
    return exact(value) if factor == 1 else str(Fraction(exact(value)) * factor)
