"""Exact draws of integers: every probability is a ratio of integers, and none is rounded.

Uniform integers from random bits are the only randomness. Discrete Gaussian: Canonne, Kamath
and Steinke 2020, Algorithms 1 to 3. Poisson: Duchon and Duvignau 2016, Algorithm 1, for mean 1,
thinning of it for a mean below 1, and rejection for a large mean.
"""

import math
from fractions import Fraction

import numpy as np

# From this mean on a Poisson variable is drawn by rejection.
_LARGE_MEAN = 16


class ExactIntegers:
    """Draws from a generator whose bits are uniform.

    Args:
        rng: Gives the bits, 64 at a time.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._bits, self._left = 0, 0

    def below(self, limit: int) -> int:
        """Uniform on 0, ..., limit - 1, for limit >= 1."""
        width = (limit - 1).bit_length()
        while True:
            drawn = self._take(width)
            if drawn < limit:
                return drawn

    def bernoulli(self, share: Fraction) -> bool:
        """True with probability `share`, in [0, 1]."""
        return self.below(share.denominator) < share.numerator

    def bernoulli_exp(self, rate: Fraction) -> bool:
        """True with probability e^-rate, for rate >= 0."""
        while rate > 1:
            if not self.bernoulli_exp(Fraction(1)):
                return False
            rate -= 1
        trials = 1
        while self.bernoulli(rate / trials):
            trials += 1
        return trials % 2 == 1

    def discrete_laplace(self, scale: int) -> int:
        """P(x) proportional to e^(-|x| / scale), scale >= 1."""
        while True:
            part = self.below(scale)
            if not self.bernoulli_exp(Fraction(part, scale)):
                continue
            whole = 0
            while self.bernoulli_exp(Fraction(1)):
                whole += 1
            size, negative = part + scale * whole, bool(self.below(2))
            if size or not negative:
                return -size if negative else size

    def discrete_gaussian(self, variance: Fraction) -> int:
        """P(x) proportional to e^(-x^2 / (2 variance)), variance > 0."""
        scale = math.isqrt(math.floor(variance)) + 1
        while True:
            drawn = self.discrete_laplace(scale)
            gap = abs(drawn) - variance / scale
            if self.bernoulli_exp(gap**2 / (2 * variance)):
                return drawn

    def poisson(self, mean: Fraction) -> int:
        """A Poisson variable of that mean >= 0, in time proportional to its square root."""
        whole = math.floor(mean)
        if whole < _LARGE_MEAN:
            total = sum(self._poisson_one() for _ in range(whole))
        else:
            total = self._poisson_whole(whole)
        part = mean - whole
        if part:
            total += sum(self.bernoulli(part) for _ in range(self._poisson_one()))
        return total

    def skellam(self, variance: Fraction) -> int:
        """The difference of two Poisson variables of mean variance / 2."""
        return self.poisson(variance / 2) - self.poisson(variance / 2)

    def _poisson_one(self) -> int:
        value, size, last = 1, 1, 0
        while True:
            place = 1 + self.below(size + 1)
            if place == size + 1:
                value += 1
            elif place > last:
                value, last = value - 1, size + 1
            else:
                return value
            size += 1

    def _poisson_whole(self, mean: int) -> int:
        """By rejection, for a whole mean n >= 16, whose values n - 1 and n are equally likely.

        At a distance d from these, above and below, the probability falls by the factors
        prod n / (n + j) and prod (n - j) / n, j = 1, ..., d, the former the larger one. Blocks of
        more than sqrt(n) distances are proposed, each half as often as the one before. At the start
        of the second block the former is at most e^-1/2, and every further block more than halves
        it: 2^block times the factor never exceeds 5/4.
        """
        width = math.isqrt(mean) + 1
        while True:
            above, block = self.below(2), 0
            while self.below(2):
                block += 1
            distance = block * width + self.below(width)
            if above:
                likely, of = mean**distance, math.perm(mean + distance, distance)
            else:
                likely, of = math.perm(mean - 1, distance), mean**distance
            if self.below(5 * of) < (likely << block) * 4:
                return mean + distance if above else mean - 1 - distance

    def _take(self, width: int) -> int:
        while self._left < width:
            fresh = int(self._rng.integers(0, 1 << 64, dtype=np.uint64))
            self._bits |= fresh << self._left
            self._left += 64
        drawn = self._bits & ((1 << width) - 1)
        self._bits >>= width
        self._left -= width
        return drawn
