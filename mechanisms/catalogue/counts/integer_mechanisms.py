"""Integer noise for counts: the discrete Gaussian and the Skellam mechanism.

Continuous noise is drawn in floating point; the last bits of the result depend on the answer and
can reveal it. Integers have exact samplers: mechanisms/noise/exact_integers.py.
"""

import math
from abc import abstractmethod
from fractions import Fraction

import numpy as np
import scipy

from mechanisms.base.guard import generator
from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.noise.distribution import checked_dtype
from mechanisms.noise.exact_integers import ExactIntegers
from mechanisms.noise.integer_noise import IntegerNoise
from mechanisms.privacy.integer_profile import (
    LARGEST_STD,
    DiscreteGaussianProfile,
    IntegerShiftProfile,
    SkellamProfile,
)
from mechanisms.query.option import choice
from mechanisms.query.query import Budget, Query, Unsupported
from mechanisms.query.requirements import require_delta

OPTIONS = {
    "sampler": choice(
        "exact",
        "table",
        description=(
            "of a release: exact in whole numbers, or a table of rounded probabilities, which "
            "differs by 2^-53 per value of the table in total variation and is faster"
        ),
    )
}

# Below this probability of any noise its moments leave float64.
_RAREST = 1e-300
# Whole numbers beyond, and the noise on them, are not all told apart by float64.
_LARGEST_COUNT = 2.0**52


class IntegerMechanism(AdditiveMechanism):
    """Counts plus independent whole multiples of linf_sensitivity, the width of a count.

    The answer must be whole multiples of that width itself. The profile is exact; that of many
    counts has proven bounds.
    """

    options = OPTIONS
    only_adds_noise = True
    # Up to which the exact sampler draws in good time.
    largest_exact_std = LARGEST_STD

    @classmethod
    def noise_for(cls, query: Query, budget: Budget, *, sampler):
        require_delta(budget)
        if query.structure != "counts":
            raise Unsupported(
                "needs structure 'counts': counts in multiples of linf_sensitivity; one record "
                "adds linf_sensitivity to some of them"
            )
        law = cls.law_for(query.most_counts, budget)
        if law.std > LARGEST_STD:
            raise Unsupported(
                f"needs noise of {law.std:.3g} counts; its probabilities are computed one by one, "
                f"for at most {LARGEST_STD:,.0f}"
            )
        if sampler == "exact" and law.std > cls.largest_exact_std:
            raise Unsupported(
                f"needs noise of {law.std:.3g} counts; beyond {cls.largest_exact_std:,.0f} its "
                "exact sampler takes seconds for a number: set sampler to table"
            )
        return IntegerNoise(shape=query.shape, unit=query.linf_sensitivity, law=law)

    @classmethod
    @abstractmethod
    def law_for(cls, count: int, budget: Budget) -> IntegerShiftProfile:
        """The law that the paper's theorem gives where `count` counts change by one."""

    @staticmethod
    @abstractmethod
    def draw(source: ExactIntegers, variance: Fraction) -> int:
        """One exact draw of the law with the variance parameter std^2."""

    def sample(self, rng, trials, dtype=np.float64):
        """By the sampler that a release uses."""
        if self.settings["sampler"] == "table":
            return super().sample(rng, trials, dtype)
        shape = (trials, *self.query.shape)
        source, variance = ExactIntegers(generator(rng)), Fraction(self.noise.law.std) ** 2
        flat = [self.draw(source, variance) for _ in range(math.prod(shape))]
        drawn = self.noise.unit * np.array(flat, dtype=float).reshape(shape)
        return drawn.astype(checked_dtype(dtype))

    @classmethod
    def build(cls, query, budget, calibration, settings):
        mechanism = super().build(query, budget, calibration, settings)
        if mechanism.loss().mean < _RAREST * query.linf_sensitivity**2:
            raise Unsupported(
                f"needs noise that is zero but for a probability below {_RAREST:g}, whose moments "
                "leave float64"
            )
        return mechanism

    def _release(self, value, rng):
        whole = whole_multiples(value, self.noise.unit)
        drawn = np.rint(self.sample(rng, 1)[0] / self.noise.unit)
        return (self.noise.unit * (whole + drawn)).astype(value.dtype)


def whole_multiples(value: np.ndarray, unit: float) -> np.ndarray:
    """The value in units, as whole numbers in float64.

    Exactly where the multiples of the unit are exact, that of a whole number or a power of two;
    else within the rounding of a short sum, which must be far below the unit.

    Raises:
        ValueError: It is none, or so large that float64 does not tell whole numbers apart.
    """
    exact = value.astype(float)
    whole = np.rint(exact / unit)
    if (np.abs(whole) > _LARGEST_COUNT).any():
        raise ValueError(
            f"the value must be at most 2^52 times linf_sensitivity = {unit:g}: beyond, float64 "
            "does not tell counts apart"
        )
    rounding = np.zeros(whole.shape)
    if not (unit.is_integer() or math.frexp(unit)[0] == 0.5):
        rounding = 8 * np.finfo(value.dtype).eps * np.abs(exact)
    if (np.abs(exact - unit * whole) > rounding).any() or (rounding > unit / 8).any():
        raise ValueError(f"the value must be whole multiples of linf_sensitivity = {unit:g}")
    return whole


class DiscreteGaussian(IntegerMechanism):
    """P(x) proportional to e^(-x^2 / (2 sigma^2)), sigma^2 = k / (2 rho).

    k counts change by one, so that the noise is rho-zCDP; rho is the largest with
    rho + 2 sqrt(rho ln(1 / delta)) <= epsilon (Bun and Steinke 2016, Proposition 1.3).
    """

    key = "discrete-gaussian"
    title = "Discrete Gaussian"
    paper = "Canonne et al. 2020"
    theorem = "Theorem 4, as concentrated DP"
    guarantee = "approximate"
    look = ("#17789A", "d", 42)

    @classmethod
    def law_for(cls, count, budget):
        log = math.log(1 / budget.delta)
        root_rho = budget.epsilon / (math.sqrt(log + budget.epsilon) + math.sqrt(log))
        return DiscreteGaussianProfile(std=math.sqrt(count / 2) / root_rho)

    @staticmethod
    def draw(source, variance):
        return source.discrete_gaussian(variance)


class Skellam(IntegerMechanism):
    """The difference of two Poisson variables of mean v / 2, with the least v for which some order
    alpha > 1 has

        alpha k / (2 v) + min(((2 alpha - 1) k + 6 k) / (4 v^2), 3 k / (2 v))
            + (ln(1 / delta) + (alpha - 1) ln(1 - 1 / alpha) - ln(alpha)) / (alpha - 1) <= epsilon,

    the Renyi divergence at l2 sensitivity sqrt(k) and l1 sensitivity k, and its conversion
    (Canonne, Kamath and Steinke 2020, Proposition 12).
    """

    key = "skellam"
    title = "Skellam"
    paper = "Agarwal et al. 2021"
    theorem = "Theorem 3.5, as the code of distributed DP calibrates"
    guarantee = "approximate"
    look = ("#6B8E23", "h", 43)
    # The exact sampler multiplies about as many whole numbers as the standard deviation says.
    largest_exact_std = 10_000.0

    @classmethod
    def law_for(cls, count, budget):
        def excess(log_variance: float) -> float:
            stated = skellam_epsilon(count, math.exp(log_variance), budget.delta)
            return stated - budget.epsilon

        low = high = math.log(count * (1 + math.log(1 / budget.delta)) / budget.epsilon**2)
        while excess(low) < 0:
            low -= 1.0
        while excess(high) > 0:
            high += 1.0
        log_variance = low if low == high else scipy.optimize.brentq(excess, low, high, xtol=1e-12)
        return SkellamProfile(std=math.exp(float(log_variance) / 2))

    @staticmethod
    def draw(source, variance):
        return source.skellam(variance)


def skellam_epsilon(count: int, variance: float, delta: float) -> float:
    """The epsilon that is stated where `count` counts change by one, at the best order alpha."""

    def at(log_excess: float) -> float:
        excess = math.exp(log_excess)
        order = 1 + excess
        second = ((2 * order - 1) * count + 6 * count) / (4 * variance**2)
        renyi = order * count / (2 * variance) + min(second, 3 * count / (2 * variance))
        tail = -math.log(delta) + excess * math.log(excess / order) - math.log(order)
        return renyi + tail / excess

    found = scipy.optimize.minimize_scalar(at, bounds=(-10.0, 40.0), method="bounded")
    return float(found.fun)
