"""tldp2025: what its tensors reveal, its noise ratios and its error table, in closed form.

Every component keeps its value with probability p, else Lap(0, b) or N(0, sigma^2) is added. The
worst two tensors differ by Delta in every one of the I components.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from paper_figures.ledger import Claim, Measured, measurement
from paper_figures.measurements.judging import close, judge_statement
from paper_figures.registry import Results


def retention(kind: str, epsilon: float, width: float, count: int) -> float:
    """p of Algorithm 1 for kind "laplace" or "gaussian", I = count and Delta = width."""
    exponent = epsilon - count * epsilon
    constant = 2 * width / epsilon if kind == "laplace" else _sigma(epsilon, width) * 2.5066282746
    return 1 / (1 + constant * math.exp(-exponent)) if exponent > -700 else 0.0


def _sigma(epsilon: float, width: float) -> float:
    return width / math.sqrt(2 * epsilon)
