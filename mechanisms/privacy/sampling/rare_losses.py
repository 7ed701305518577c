"""Bounds on a run of many steps whose large losses are so rare that no grid resolves them."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.privacy.composition import chord_masses
from mechanisms.privacy.numerics import ULP

# The losses of a step, divided by the largest that matters; every sixteenth is a cut.
RELATIVE = np.r_[0.0, np.geomspace(1e-6, 1.0, 1024)]
_EVERY = 16
# Orders of the moments that are tried, multiplied by the loss at the cut.
_EXPONENTS = np.geomspace(0.1, 700.0, 64)
# Probabilities below _LEAST may be wrong; others have a relative error of at most _ROUNDING.
_LEAST, _ROUNDING = 1e-300, 1e-9


@dataclass(frozen=True, kw_only=True)
class RareLosses:
    """Bounds on delta of a run that split the losses of a step at a cut.

    Args:
        losses: Losses of a step, rising from 0.
        curve: Upper bounds of a step's delta at `losses`, for removing a record.
        tails: Maps losses to P(L > loss), Q(L > loss) and their difference, of a better pair.
        steps: Steps of the run.
    """

    losses: np.ndarray
    curve: np.ndarray
    tails: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    steps: int

    def log_upper(self, epsilon: np.ndarray) -> np.ndarray:
        """Return ln of an upper bound of delta: Chernoff's below a cut, plus P(a loss is infinite).

        In the worse pair of the chords, losses beyond the cut count as infinite. Negative losses
        count as 0, so that the bound holds for adding a record too.
        """
        beyond, orders, moments = self._moments
        inside = (moments - orders * epsilon[:, None, None]).min(axis=2)
        return np.logaddexp(beyond, inside).min(axis=1)

    @functools.cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each cut, ln of a bound on P(a loss is infinite), orders, ln of the run's moments."""
        curve = np.minimum.accumulate(self.curve)
        orders, moments = [], []
        for cut in self._cuts:
            losses = self.losses[: cut + 1]
            masses = chord_masses(losses, curve[: cut + 1], 1.0)
            tried = _EXPONENTS / losses[-1]
            orders.append(tried)
            moments.append(self.steps * np.log1p(np.expm1(tried[:, None] * losses) @ masses))
        beyond = math.log(self.steps) + np.log(np.maximum(curve[self._cuts], _LEAST))
        return beyond, np.array(orders), np.array(moments)

    def log_lower(self, epsilon: np.ndarray) -> np.ndarray:
        """Return ln of the delta that one event proves: some step has a loss beyond a cut.

        Its probabilities are 1 - (1 - P)^T and 1 - (1 - Q)^T, where P and Q are those of such a
        loss in one of the T steps.
        """
        cuts = self.losses[self._cuts]
        own, other, gain = self.tails(cuts)
        with np.errstate(divide="ignore"):
            # Q <= e^-cut P. Q is a difference that cancels and has the absolute error of its terms.
            most = np.log(own) - cuts
            error = math.log(_ROUNDING) + most - np.log(-np.expm1(-cuts))
            found = np.minimum(np.logaddexp(np.log(other), error), most)
            log_other = np.where(other > _LEAST, found, most)
            # A union bound on 1 - (1 - Q)^T.
            log_other = np.minimum(math.log(self.steps) + log_other, 0.0)
            log_factor = epsilon + np.log(-np.expm1(-epsilon))  # ln(e^epsilon - 1)
            other, gain = (np.clip(each, 0.0, 1 - ULP) for each in (other, gain))
            apart = np.log1p(-np.minimum(gain / (1 - other), 1.0))
            gained = np.exp(self.steps * np.log1p(-other)) * -np.expm1(self.steps * apart)
            spent = np.exp(np.minimum(log_factor[:, None] + log_other, 700.0))
            proved = gained - spent - _ROUNDING * gained
            return np.log(proved.max(axis=1).clip(min=0.0))

    @property
    def _cuts(self) -> np.ndarray:
        return np.arange(_EVERY, self.losses.size, _EVERY)
