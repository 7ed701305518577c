"""The cost of a search: the best of a random number of runs is released, and nothing else.

Liu and Talwar 2019 and Papernot and Steinke 2022 bound it by pure and by Renyi DP; here it is
bounded by the profile of one run, after Koskela, Redberg and Wang 2024 (arXiv:2402.06701). Let f be
the generating function of the number of runs K, and q the probability that a run is worse than y
(or as good and placed before it). The best run is y with density f'(q) times that of one run. If
f'(q) <= e^c f'(q') for any two neighbours' q and q', then

    delta_search(epsilon) <= sum f'(q) (P(y) - e^(epsilon - c) Q(y))_+ <= E[K] delta(epsilon - c),

as f' <= f'(1) = E[K]. One run is (e, d)-DP for every e and d = delta(e), hence
1 - q' <= e^e (1 - q) + d and q - q' <= delta(0). This gives c:

- truncated negative binomial, f'(q) = E[K] (g / (1 - (1 - g) q))^(eta + 1) with g in (0, 1):
  c = (eta + 1) ln(e^e + (1 - g) d / g) at the best e; for a pure guarantee (eta + 1) e, so that the
  search costs (eta + 2) e (Papernot and Steinke 2022, Corollary 3; eta = 1 is the geometric
  distribution of Liu and Talwar 2019);
- Poisson, f'(q) = E[K] e^(E[K] (q - 1)): c = E[K] delta(0).
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.numerics import log1mexp
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_positive, real_array

# Epsilons of one run that are tried for the best c.
_TRIED = np.r_[0.0, np.geomspace(1e-6, 100.0, 400)]


def check_runs(runs: float, eta: float | None) -> None:
    """ValueError unless a number of runs can have this mean and shape, see `SearchProfile`."""
    check_positive("runs", runs)
    if eta is not None and not -1 < real_array("eta", eta) < math.inf:
        raise ValueError(f"eta must be finite and > -1, got {eta}")
    if eta is not None and runs <= 1:
        raise ValueError(f"runs must be > 1 on average if their number is not Poisson, got {runs}")


@dataclass(frozen=True, kw_only=True)
class SearchProfile(PrivacyProfile):
    """An upper bound for the best of K runs, each with the profile `base`; the lower one is 0.

    Args:
        base: Of one run, its score included.
        runs: E[K]: > 1 for a truncated negative binomial K, > 0 for Poisson.
        eta: Shape of the truncated negative binomial distribution, > -1; 1 is geometric, 0
            logarithmic. None: K is Poisson (at K = 0 nothing is released).
    """

    base: PrivacyProfile
    runs: float
    eta: float | None = 1.0

    calibrated_curve = "upper"
    attains_largest_loss = False  # not known

    def __post_init__(self) -> None:
        check_runs(self.runs, self.eta)

    @property
    def largest_loss(self) -> float:
        """(eta + 2) times that of one run; for Poisson it is bounded by c too."""
        if self.eta is None:
            return self.base.largest_loss + self._cost
        return (self.eta + 2) * self.base.largest_loss

    def _scaled(self, factor: float) -> PrivacyProfile:
        return replace(self, base=self.base.scaled(factor))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        upper = self._bound(epsilon)
        end, here = self._chord
        near = epsilon < end
        upper[near] = np.minimum(upper[near], np.log(_below(epsilon[near], end, here)))
        return Bounds(np.full(epsilon.shape, -np.inf), upper, upper)

    def _bound(self, epsilon: np.ndarray) -> np.ndarray:
        left = epsilon - self._cost
        one = np.asarray(self.base.log_delta(np.maximum(left, 0.0)).upper)
        return np.where(left >= 0, np.minimum(one + math.log(self.runs), 0.0), 0.0)

    @cached_property
    def _chord(self) -> tuple[float, float]:
        """The epsilon whose delta says most of delta(0), and that delta."""
        epsilon = self._cost + _TRIED[1:]
        delta = np.exp(self._bound(epsilon))
        best = int(np.argmin(_below(np.zeros(1), epsilon, delta)))
        return float(epsilon[best]), float(delta[best])

    @cached_property
    def _cost(self) -> float:
        """c."""
        if self.eta is None:
            return self.runs * float(self.base.delta(0.0).upper)
        delta = np.asarray(self.base.delta(_TRIED).upper)
        own = self.base.largest_loss if math.isfinite(self.base.largest_loss) else math.inf
        log_g = self.log_success
        fails = log1mexp(log_g) - log_g  # ln((1 - g) / g)
        ratios = np.logaddexp(_TRIED, np.log(np.maximum(delta, 1e-320)) + fails)
        return (self.eta + 1) * min(float(ratios.min()), own)

    @property
    def log_success(self) -> float:
        """ln g of the truncated negative binomial distribution with the mean E[K]."""
        eta = self.eta

        def excess(log_g: float) -> float:
            # ln of eta (1 - g) / (g (1 - g^eta)), with its limit at eta = 0.
            x = eta * log_g
            if abs(x) > 1e-17:
                power = max(x, 0.0) + log1mexp(-abs(x)) - math.log(abs(eta))
            else:
                power = math.log(-log_g)
            return float(log1mexp(log_g) - log_g - power) - math.log(self.runs)

        # A mean that is nearly 1 or too large for this shape: the end on the private side, or inf.
        low, high = -1e20, -1e-9
        if excess(high) > 0:
            return high
        return scipy.optimize.brentq(excess, low, high) if excess(low) > 0 else -math.inf


def _below(epsilon: np.ndarray, end: np.ndarray | float, delta: np.ndarray | float) -> np.ndarray:
    """What (end, delta)-DP in both directions says of delta at a smaller epsilon >= 0.

    The chord between -end and end: delta is convex in e^epsilon.
    """
    fall = -np.expm1(-end) + np.exp(-end) * delta - delta
    return delta + fall * np.expm1(epsilon - end) / np.expm1(-2 * end)
