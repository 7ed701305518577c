"""Product noise: a half-normal radius in a uniform direction."""

import contextlib
import functools
import math
from collections.abc import Iterator

import mpmath
import scipy

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.radial_noise import Spherical
from mechanisms.query.option import Option, is_number
from mechanisms.query.query import Budget, Query, Unsupported

# The stated delta and the budget's count as equal up to this relative difference.
_SAME_DELTA = 1e-9
# Decimal digits of mpmath.
_DIGITS = 30


def log_multiplier(size: int, log_k: float) -> float:
    """Return ln t for t = epsilon sigma_M / s.

    t^2 = 2 k^(4/M) (M/4 + 3/2)^(1 + 4/M) / e^(1 + 2/M).
    """
    power = 4 / size
    square = math.log(2) + power * log_k - 1 - power / 2
    return (square + (1 + power) * math.log(size / 4 + 1.5)) / 2


def log_stated_delta(size: int, epsilon: float, log_k: float) -> float:
    """Return ln of the stated delta for (M, epsilon, k), which with l = epsilon / t is

        e^(-l^2/2) / (k sqrt(pi)) [F(M/4 + 1/2; 1/2; l^2/2) + sqrt(2) l F(M/4 + 1; 3/2; l^2/2)]
            sqrt(M - 1) / (sqrt(M/2 - 3/2) sqrt(M/2 + 3/4)),    F = 1F1, M > 3.

    It falls with k, roughly as 1 / k.

    Raises:
        mpmath.libmp.NoConvergence: The series of F do not converge.
    """
    with mpmath.workdps(_DIGITS):
        quarter = mpmath.mpf(size) / 4
        length = mpmath.exp(math.log(epsilon) - log_multiplier(size, log_k))
        x = length**2 / 2
        kummer = mpmath.hyp1f1(quarter + 0.5, 0.5, x)
        kummer += mpmath.sqrt(2) * length * mpmath.hyp1f1(quarter + 1, 1.5, x)
        dimension = mpmath.sqrt((size - 1) / ((2 * quarter - 1.5) * (2 * quarter + 0.75)))
        return float(mpmath.log(kummer * dimension) - x - log_k - mpmath.log(mpmath.pi) / 2)


@functools.lru_cache(maxsize=256)
def log_k_for(size: int, epsilon: float, delta: float) -> float:
    """Return ln of the k whose stated delta is `delta` in (0, 1); raise as `log_stated_delta`."""

    def excess(log_k: float) -> float:
        return log_stated_delta(size, epsilon, log_k) - math.log(delta)

    low = high = -math.log(delta)
    step = 1.0
    while excess(low) < 0:
        low, step = low - step, 2 * step
    step = 1.0
    while excess(high) > 0:
        high, step = high + step, 2 * step
    return low if low == high else float(scipy.optimize.brentq(excess, low, high, xtol=1e-13))


@contextlib.contextmanager
def _unsupported_where_divergent(query: Query, budget: Budget) -> Iterator[None]:
    try:
        yield
    except (mpmath.libmp.NoConvergence, OverflowError):
        raise Unsupported(
            "cannot meet this budget: the hypergeometric series of its stated delta do not "
            f"converge for {query.size} elements at epsilon {budget.epsilon:g}"
        ) from None


class ProductNoise(AdditiveMechanism):
    """n = sigma_M |z| h, z ~ N(0, 1), h uniform on the sphere; sigma_M = (s / epsilon) t.

    It belongs to the spherical family with a = 1 and power 2, like R1SMG, but has another scale. t
    and the stated delta follow from a parameter k > 0 by the formulas of the paper's published
    code, in `log_multiplier` and `log_stated_delta`.

    With the option k the claim is (epsilon, the stated delta), and the budget may have delta 0.
    Otherwise k is chosen so that the stated delta is the budget's. As published, the claim is false
    at every setting of the papers.
    """

    key = "product-noise"
    title = "Product noise"
    paper = "Liu et al. 2026"
    theorem = "arXiv:2512.06253, as its published code calibrates"
    guarantee = "approximate"
    look = ("#5E2CA5", "D", 34)
    options = {
        "k": Option(
            None,
            "a number > 0, or null: from the budget's delta",
            lambda k: k is None or (is_number(k) and k > 0),
            "k of the stated delta, which falls as 1/k; the published code has 1000 and 40000",
        )
    }

    @classmethod
    def build(cls, query, budget, calibration, settings):
        if query.size <= 3:
            raise Unsupported(f"needs at least 4 elements, got {query.size}")
        return super().build(query, budget, calibration, settings)

    @classmethod
    def stated_budget(cls, query, budget, settings):
        k = settings["k"]
        if k is None or query.size <= 3:
            return budget
        with _unsupported_where_divergent(query, budget):
            log_stated = log_stated_delta(query.size, budget.epsilon, math.log(k))
        stated = math.exp(min(log_stated, 0.0))
        if not 0 < stated < 1:
            raise Unsupported(
                f"states ln(delta) = {log_stated:.6g} at k = {k:g}: delta is not in (0, 1)"
            )
        if budget.delta and abs(budget.delta - stated) > _SAME_DELTA * stated:
            raise Unsupported(
                f"states delta = {stated:.6g} at k = {k:g}, and the budget has delta = "
                f"{budget.delta:g}: give one of the two"
            )
        return Budget(epsilon=budget.epsilon, delta=stated)

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, k):
        with _unsupported_where_divergent(query, budget):
            log_k = math.log(k) if k else log_k_for(query.size, budget.epsilon, budget.delta)
        sigma = query.l2_sensitivity / budget.epsilon * math.exp(log_multiplier(query.size, log_k))
        # For R = sigma |z|, (R / (sqrt(2) sigma))^2 ~ Gamma(1/2).
        return Spherical(shape=query.shape, radial_shape=1.0, power=2.0, scale=math.sqrt(2) * sigma)

    def parameters(self):
        return {"sigma_m": self.noise.scale / math.sqrt(2)}
