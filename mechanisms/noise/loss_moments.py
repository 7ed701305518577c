"""Moments of the accuracy loss L = ||n||^2, the squared Euclidean norm of the noise n."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class LossMoments:
    """The first four cumulants of L, from which its first four moments follow.

    If L is a sum of M independent terms with non-negative cumulants, its moments about zero are
    sums of non-negative products of cumulants, so nothing cancels. Computing the cumulants of L
    from its moments would lose a factor M^3 of relative accuracy.
    """

    cumulants: tuple[float, float, float, float]

    @classmethod
    def of_sum(cls, raw: tuple, times: int = 1) -> Self:
        """Return the moments of a sum of independent X_i of different laws, `times` of each law.

        raw[k - 1] holds E X_i^k for k = 1..4: an array over the laws, or one number, which may be
        of mpmath, if there is one law.
        """
        return cls(tuple(times * float(np.sum(k)) for k in _cumulants(*raw)))

    @property
    def mean(self) -> float:
        """E L, the expected accuracy loss (r1smg2024, Definition 1)."""
        return self.cumulants[0]

    @property
    def variance(self) -> float:
        """Var L."""
        return self.cumulants[1]

    def raw(self) -> tuple[float, float, float, float]:
        """Return E L, E L^2, E L^3 and E L^4."""
        k1, k2, k3, k4 = self.cumulants
        return (
            k1,
            k2 + k1**2,
            k3 + 3 * k2 * k1 + k1**3,
            k4 + 4 * k3 * k1 + 3 * k2**2 + 6 * k2 * k1**2 + k1**4,
        )

    @property
    def raw_kurtosis(self) -> float:
        """E[L^4] / E[L^2]^2: the kurtosis of r1smg2024 (Section 6). NaN if L = 0."""
        _, second, _, fourth = self._relative_raw()
        return fourth / second / second

    @property
    def raw_skewness(self) -> float:
        """E[L^3] / E[L^2]^{3/2}: the skewness of r1smg2024 (Section 6). NaN if L = 0."""
        _, second, third, _ = self._relative_raw()
        return third / second / math.sqrt(second)

    @property
    def central_kurtosis(self) -> float:
        """E[(L - E L)^4] / Var(L)^2, the usual kurtosis. NaN for a constant L.

        It is 3 for a Gaussian, as in statistics; SciPy and pandas subtract 3 by default.
        """
        return 3 + self._standard(4) if self.variance else math.nan

    @property
    def central_skewness(self) -> float:
        """E[(L - E L)^3] / Var(L)^{3/2}, the usual skewness. NaN for a constant L."""
        return self._standard(3) if self.variance else math.nan

    def _standard(self, order: int) -> float:
        """Return a cumulant over the standard deviation to its order; the power may underflow."""
        deviation = math.sqrt(self.variance)
        return _divided(self.cumulants[order - 1], deviation, order)

    def _relative_raw(self) -> tuple[float, float, float, float]:
        """Return the raw moments of L / u with u = Var L / E L, or u = E L for a constant L.

        If L is a sum of many terms, u is the size of one term. If L is rarely nonzero, u is the
        size of a nonzero L. The result is NaN if L = 0.
        """
        if self.mean == 0:
            return (math.nan,) * 4
        unit = self.variance / self.mean or self.mean
        return LossMoments(
            tuple(_divided(k, unit, i) for i, k in enumerate(self.cumulants, 1))
        ).raw()


def _divided(number: float, by: float, times: int) -> float:
    """Return number / by^times, even if the power alone leaves float64."""
    for _ in range(times):
        number /= by
    return number


def _cumulants(m1, m2, m3, m4):
    return (
        m1,
        m2 - m1**2,
        m3 - 3 * m2 * m1 + 2 * m1**3,
        m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4,
    )


def quadratic_form_cumulants(*factors: np.ndarray) -> np.ndarray:
    """Return cumulants 1 to 4 of z^T G z, (4,), for independent z_i ~ Laplace(1), G symmetric.

    G is the Kronecker product of `factors`. It is not formed, because each sum below is the product
    of the sums of the factors. The sums run over indecomposable partitions of the copies of z into
    blocks of two, four, six and eight (McCullagh, Tensor Methods in Statistics, Section 3.3), one
    sum for each multigraph of blocks. The weights contain the even cumulants 2, 12, 240 and 10080
    of the Laplace distribution.
    """
    k2, k4, k6, k8 = 2.0, 12.0, 240.0, 10080.0
    weights = np.array(
        [
            *(k2,),
            *(2 * k2**2, k4),
            *(8 * k2**3, 12 * k4 * k2, k6),
            *(48 * k2**4, 96 * k4 * k2**2, 48 * k4 * k2**2, 24 * k4**2, 8 * k4**2),
            *(24 * k6 * k2, k8),
        ]
    )
    terms = weights * np.prod([_contractions(factor) for factor in factors], axis=0)
    return np.add.reduceat(terms, [0, 1, 3, 6])


def _contractions(form: np.ndarray) -> np.ndarray:
    """Return the 13 sums of products of up to four entries of a factor that the cumulants need."""
    own = np.diag(form)
    squared = form @ form
    own2 = np.diag(squared)
    own3 = np.vecdot(squared, form)
    entries = form**2
    return np.array(
        [
            *(own.sum(),),
            *(own2.sum(), own @ own),
            *(own3.sum(), own @ own2, np.sum(own**3)),
            *(np.sum(squared**2), own @ own3, own2 @ own2, own @ entries @ own),
            *(np.sum(entries**2), own**2 @ own2, np.sum(own**4)),
        ]
    )
