"""TLDP (tldp2025): every component keeps its value with a small probability, or else gets noise.

Delta is the range of one component (Section 3.1): the query's linf_sensitivity, by default the
width of its element_range. I is the number of components. As in the paper, the probability p of
keeping a value depends on the unit of the values, because p compensates for the density of the
noise at 0, which has a unit.

The noise of each component spends the whole epsilon, so I components reveal I times as much. A kept
value reveals itself, because another value produces it with probability 0. Kept values are rare: of
784 values with a range of 1, on average at most 0.18 (Laplace, at epsilon = 1/783) and 6.7
(Gaussian, at epsilon = 1/1566) are kept. At epsilon 1 the average is e^-777, so the weights, which
change p alone, change nothing that a run could show.

Only elements that differ between neighbours reveal anything: in general all elements, those of one
column (structure "records"), or the one or two cells that one record changes ("histogram").

The exact calibration rescales the noise and leaves p as it is. It exists if the budget's delta
exceeds the probability that any of those elements is kept.
"""

import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.public_information import MEAN_RECORD
from mechanisms.noise.distribution import Noise
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.keep_or_noise import KeepOrNoise
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.query.option import shares
from mechanisms.query.query import Budget, Query, Unsupported


def laplace_variant(query: Query, budget: Budget) -> tuple[IndependentLaplace, float]:
    """Return Lap(0, b) with b = Delta / epsilon, and log p.

    p = e^x / (2b + e^x) with x = epsilon - I Delta / b.
    """
    width = component_range(query)
    b = width / budget.epsilon
    exponent = budget.epsilon - query.size * width / b
    return IndependentLaplace(shape=query.shape, scale=b), log_keep(exponent, 2 * b)


def gaussian_variant(query: Query, budget: Budget) -> tuple[IndependentGaussian, float]:
    """Return N(0, sigma^2) with sigma^2 = Delta^2 / (2 epsilon), and log p.

    p = e^x / (c + e^x) with c = sigma sqrt(2 pi) and x = epsilon - I Delta^2 / (2 sigma^2).
    """
    width = component_range(query)
    sigma = width / math.sqrt(2 * budget.epsilon)
    exponent = budget.epsilon - query.size * width**2 / (2 * sigma**2)
    noise = IndependentGaussian(shape=query.shape, sigma=sigma)
    return noise, log_keep(exponent, sigma * math.sqrt(2 * math.pi))


def component_range(query: Query) -> float:
    """Return Delta, or raise Unsupported if the query states no range of a component."""
    if query.linf_sensitivity is None:
        raise Unsupported(
            "needs element_range or linf_sensitivity: Delta is the range of one component"
        )
    return query.linf_sensitivity


def log_keep(exponent: float, constant: float) -> float:
    """Return log p for p = e^exponent / (constant + e^exponent); p itself may underflow."""
    return -float(np.logaddexp(0.0, math.log(constant) - exponent))


def weighted(query: Query, log_p: float, weights) -> np.ndarray:
    """Return log((1 - w) p) for weights w of the first two axes; it broadcasts to the tensor.

    Raises:
        ValueError: The weights do not have the shape of the first two axes (for a vector: of its
            one axis).
    """
    axes = query.shape[:2]
    weights = np.full(axes, 0.5) if weights is None else np.asarray(weights, dtype=float)
    if weights.shape != axes:
        raise ValueError(f"option weights must have shape {axes}, got {weights.shape}")
    with np.errstate(divide="ignore"):
        kept = log_p + np.log1p(-weights)
    return kept.reshape(axes + (1,) * (len(query.shape) - 2))


WEIGHTS = {
    "weights": shares(
        "w, one for each element of the first two axes: a value is kept with probability (1 - w) "
        "p; null is 1/2 everywhere, as the paper gives no numbers; must not depend on the data"
    )
}


class _TLDP(AdditiveMechanism):
    """Base class: noise on the components that are not kept."""

    paper = "tldp2025"
    theorem = "Theorem 1"
    guarantee = "local"
    variant: ClassVar[Callable[[Query, Budget], tuple[Noise, float]]]

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, **options):
        noise, log_p = cls.variant(query, budget)
        kept = weighted(query, log_p, **options) if options else np.array(log_p)
        return KeepOrNoise(noise=noise, log_keep=kept)


class TLDPLaplace(_TLDP):
    """TLDP-L: Lap(0, Delta / epsilon) on the components that are not kept.

    It claims pure epsilon-DP for a whole tensor, which is false: every component spends epsilon.
    """

    key = "tldp-l"
    title = "TLDP-L"
    look = ("#E7298A", "P", 28)
    variant = staticmethod(laplace_variant)


class TLDPGaussian(_TLDP):
    """TLDP-G: N(0, Delta^2 / (2 epsilon)) on the components that are not kept.

    It claims pure epsilon-DP, which is false: no Gaussian noise provides it.
    """

    key = "tldp-g"
    title = "TLDP-G"
    look = ("#225555", "X", 29)
    variant = staticmethod(gaussian_variant)


class WeightedTLDPLaplace(TLDPLaplace):
    """TLDP-L-w: TLDP-L that keeps a value of weight w with probability (1 - w) p.

    Its claim is false, like that of TLDP-L.
    """

    key = "tldp-l-w"
    title = "TLDP-L-w"
    theorem = "Theorem 3"
    look = ("#FFAABB", "p", 30)
    options = WEIGHTS
    public_information = {"weights": MEAN_RECORD}


class WeightedTLDPGaussian(TLDPGaussian):
    """TLDP-G-w: TLDP-G that keeps a value of weight w with probability (1 - w) p.

    Its claim is false, like that of TLDP-G.
    """

    key = "tldp-g-w"
    title = "TLDP-G-w"
    theorem = "Theorem 3"
    look = ("#7777CC", "H", 31)
    options = WEIGHTS
    public_information = {"weights": MEAN_RECORD}
