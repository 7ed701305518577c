"""Independent noise with a separate scale for every element, for unequal sensitivities."""

import math
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from mechanisms.noise.distribution import Noise, checked_dtype
from mechanisms.noise.loss_moments import LossMoments
from mechanisms.privacy.bounded_profile import enclosed
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.unequal_releases import UnequalReleasesProfile
from mechanisms.query.query import Query

# Sensitivities that are computed apart differ by rounding.
_SLACK = 1 + 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class _Unequal(Noise):
    """What both kinds share.

    Args:
        changes: lambda_i > 0, how far each element may move, of the query's shape.
        scales: The scale of each element's noise, > 0, of that shape.
    """

    changes: np.ndarray
    scales: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.scales.shape

    def _scaled(self, factor):
        return replace(self, scales=self.scales * factor)

    def _variances(self) -> np.ndarray:
        raise NotImplementedError

    def workload_variance(self, factors):
        # The noise of two elements is independent: only the diagonal of W^T W counts.
        asked = reduce(np.kron, (factor.gram().diagonal() for factor in factors))
        return float(self._variances().ravel() @ asked)


class UnequalGaussian(_Unequal):
    """Independent N(0, scales_i^2) on element i."""

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_normal((trials, *self.shape), dtype)
        draws *= self.scales.astype(dtype)
        return draws

    def loss(self):
        squares = self.scales**2
        return LossMoments(
            tuple(
                2 ** (k - 1) * math.factorial(k - 1) * float(np.sum(squares**k))
                for k in (1, 2, 3, 4)
            )
        )

    def parameters(self):
        return {"sigma_min": float(self.scales.min()), "sigma_max": float(self.scales.max())}

    def profile(self, query):
        """The largest mu over |D_i| <= lambda_i and the l2 ball: a fractional knapsack in D_i^2."""
        variances = self.scales.ravel() ** 2
        squares = self.changes.ravel() ** 2
        order = np.argsort(variances, kind="stable")
        left = query.l2_sensitivity**2 - (np.cumsum(squares[order]) - squares[order])
        taken = np.clip(left, 0.0, squares[order])
        profile = GaussianProfile(mu=math.sqrt(float(np.sum(taken / variances[order]))))
        return profile if self.slack(query) is None else enclosed(profile)

    def slack(self, query):
        return _excluded(query, self.changes, ball=False)

    def _variances(self):
        return self.scales**2


class UnequalLaplace(_Unequal):
    """Independent Laplace noise of scale scales_i (variance 2 scales_i^2) on element i."""

    def sample(self, rng, trials, dtype=np.float64):
        dtype = checked_dtype(dtype)
        draws = rng.standard_exponential((trials, *self.shape), dtype)
        draws -= rng.standard_exponential((trials, *self.shape), dtype)
        draws *= self.scales.astype(dtype)
        return draws

    def loss(self):
        scales = self.scales.ravel()
        return LossMoments.of_sum(
            tuple(math.factorial(2 * k) * scales ** (2 * k) for k in (1, 2, 3, 4))
        )

    def parameters(self):
        return {"b_min": float(self.scales.min()), "b_max": float(self.scales.max())}

    def profile(self, query):
        """All elements move by lambda_i: the profile of one rises with its shift.

        The largest loss is the sum of lambda_i / b_i.
        """
        losses, times = np.unique((self.changes / self.scales).ravel(), return_counts=True)
        parts = tuple(
            (LaplaceProfile(l1_sensitivity=float(loss), scale=1.0), int(count))
            for loss, count in zip(losses, times, strict=True)
        )
        alike = len(parts) == 1
        profile = parts[0][0].compose(parts[0][1]) if alike else UnequalReleasesProfile(parts=parts)
        return profile if self.slack(query) is None else enclosed(profile)

    def slack(self, query):
        return _excluded(query, self.changes, ball=True)

    def _variances(self):
        return 2 * self.scales**2


def _excluded(query: Query, changes: np.ndarray, *, ball: bool) -> str | None:
    """Why no two answers differ by the worst change, or None if some do.

    Args:
        ball: Whether the l2 ball excludes the worst change too; else it is already within it.
    """
    l1, l2 = float(np.sum(changes)), float(np.linalg.norm(changes))
    known = query.l1_sensitivity is not None and query.l1_sensitivity * _SLACK < l1
    if known or (ball and query.l2_sensitivity * _SLACK < l2) or query.structure is not None:
        return "other sensitivities of the query exclude that all elements move by theirs"
    return None
