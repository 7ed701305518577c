"""Profiles of independent Laplace noise."""

import math
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.privacy import laplace_sum
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)
from mechanisms.query.query import Shifts

# Up to so many components, losses are drawn one by one; above, from so many merged cells.
_DRAWN_ONE_BY_ONE = 32
_MERGED_CELLS = 64
# The relative excess of delta over its target that the rounding of a scale may cause: an ulp of the
# scale causes less at usual budgets.
_OVER_BY_ROUNDING = 1e-6


@dataclass(frozen=True, kw_only=True)
class LaplaceProfile(PrivacyProfile):
    """Profile of independent Laplace noise of scale b on an answer of l1 sensitivity Delta1.

    With tau = Delta1 / b: delta(epsilon) = 1 - e^((epsilon - tau) / 2) below tau, 0 from there on.
    Bounds: rounding only.

    The worst pair of the l1 ball shifts one coordinate by Delta1. Proof: let H be the profile of
    two coordinates shifted by t1 >= t2 (in units of b), and epsilon >= 0. Writing H as the
    one-coordinate profile averaged over the loss of the other, both derivatives are
    e^((epsilon - t1 - t2) / 2) / 2 times the same integral plus different atoms, and
    dH/dt1 - dH/dt2 = e^((epsilon - t1 - t2) / 2) / 2 where epsilon < t1 - t2, and 0 elsewhere.
    So H never falls when shift moves to the larger coordinate; by the symmetry of the pair this
    holds for epsilon < 0 too, and hence within any product. If components are also bounded,
    |D_i| <= w, as many as possible shift by w: see `laplace_profile`.
    """

    l1_sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        check_positive("l1_sensitivity", self.l1_sensitivity)
        check_positive("scale", self.scale)
        check_positive("l1_sensitivity / scale", self.largest_loss)

    @property
    def largest_loss(self) -> float:
        """tau = Delta1 / b, the epsilon of the pure guarantee."""
        return self.l1_sensitivity / self.scale

    def compose(self, times: int) -> PrivacyProfile:
        if check_count("times", times) == 1:
            return self
        return IndependentLaplaceProfile(
            components=times, width=self.l1_sensitivity, scale=self.scale
        )

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Return the factor at which tau, proportional to 1 / b, is epsilon - 2 ln(1 - delta)."""
        check_target(epsilon, delta)
        factor = float(self.largest_loss / (epsilon - 2 * np.log1p(-delta)))
        # If rounding makes delta too large, take the next factor.
        most = delta * (1 + _OVER_BY_ROUNDING)
        while delta > 0 and self.scaled(factor).delta(epsilon).value > most:
            factor = math.nextafter(factor, math.inf)
        return factor

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw losses |x - tau| - |x| for x ~ Laplace(1)."""
        tau = self.largest_loss
        noise = rng.laplace(size=check_count("n", n))
        losses = np.abs(noise - tau) - np.abs(noise)
        return -losses if reverse else losses

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        gap = epsilon - self.largest_loss
        error = 4 * ULP * (epsilon + self.largest_loss)
        below, value, above = (
            log1mexp(np.minimum(gap + shift, 0.0) / 2) for shift in (error, 0.0, -error)
        )
        # The logarithm rounds too.
        return Bounds(below * (1 + 2 * ULP), value, above * (1 - 2 * ULP))

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        gap = epsilon - self.largest_loss
        return np.where(gap < 0, 1 - 0.5 * np.exp(np.minimum(gap, 0.0) / 2), 0.0)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            value = np.maximum(self.largest_loss + 2 * np.log1p(-delta), 0.0)
        error = 4 * ULP * self.largest_loss
        return Bounds(np.maximum(value - error, 0.0), value, value + error)


@dataclass(frozen=True, kw_only=True)
class IndependentLaplaceProfile(PrivacyProfile):
    """Profile of Laplace noise of scale b on an answer whose elements lie in a range.

    components: k >= 1, the number of components that change by the width. width: w > 0. rest: r
    with 0 <= r < w, the change of one more component. scale: b > 0. This is the worst pair if
    |D_i| <= w for all i and ||D||_1 <= k w + r: its shifts majorise those of every other pair, and
    delta never falls when shift moves to the larger of two coordinates (see LaplaceProfile). If
    only k components change, it is the worst because a one-dimensional profile rises with the
    shift. epsilon(0) = (k w + r) / b exactly. Bounds: those of mechanisms/privacy/laplace_sum.py,
    proven except for rounding.
    """

    components: int
    width: float
    scale: float
    rest: float = 0.0

    calibrated_curve = "upper"

    def __post_init__(self) -> None:
        check_count("components", self.components)
        check_positive("width", self.width)
        check_positive("scale", self.scale)
        if not 0 <= self.rest < self.width:
            raise ValueError(f"rest must satisfy 0 <= rest < width {self.width}, got {self.rest}")

    @property
    def largest_loss(self) -> float:
        """(k w + r) / b."""
        return (self.components * self.width + self.rest) / self.scale

    def compose(self, times: int) -> PrivacyProfile:
        """Return the profile of `times` k components, or bounds on it if there is a rest.

        The rests of all releases are majorised by as many full widths as they add up to, and one
        rest.
        """
        components = self.components * check_count("times", times)
        if times == 1 or self.rest == 0:
            return replace(self, components=components)
        full = int(times * self.rest / self.width)
        return BoundedProfile(
            above=replace(
                self,
                components=components + full,
                rest=max(times * self.rest - full * self.width, 0.0),
            ),
            below=replace(self, components=components, rest=0.0),
            attained_loss=times * self.largest_loss,
            slack="the shifts of several releases are replaced by fewer, larger ones",
        )

    def _resolution(self, delta: float) -> float:
        # Rounding grows with the number of components.
        return max(super()._resolution(delta), 4 * ULP * self.components)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw sums of k losses of one component and the loss of the rest.

        Above 32 components the noise between the two answers is merged into 64 cells, whose counts
        are drawn. These are exact losses of a post-processed release, whose profile is below the
        true one. A share of the variance of the loss is lost: at most 4e-5 if w <= b.
        """
        check_count("n", n)
        single = LaplaceProfile(l1_sensitivity=self.width, scale=self.scale)
        if self.components > _DRAWN_ONE_BY_ONE:
            losses = self._merged_losses(rng, n, reverse)
        else:
            losses = single.sample_losses(rng, n * self.components, reverse=reverse)
            losses = losses.reshape(n, self.components).sum(axis=1)
        if self.rest:
            small = replace(single, l1_sensitivity=self.rest)
            losses = losses + small.sample_losses(rng, n, reverse=reverse)
        return losses

    def _merged_losses(self, rng: np.random.Generator, n: int, reverse: bool) -> np.ndarray:
        tau = self.width / self.scale
        ends = np.linspace(-tau, tau, _MERGED_CELLS + 1)
        # A cell's P-mass is the increase of e^((l - tau) / 2) / 2, and its log p/q is its middle.
        masses = 0.5 * np.exp((ends[1:] - tau) / 2) * -np.expm1(-np.diff(ends) / 2)
        losses = np.r_[-tau, (ends[1:] + ends[:-1]) / 2, tau]
        masses = np.r_[np.exp(-tau) / 2, masses, 0.5]
        # Under Q the losses are those under P with their signs turned.
        counts = rng.multinomial(self.components, masses / masses.sum(), size=n)
        return counts @ (-losses if reverse else losses)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        bounds = laplace_sum.log_delta(
            self.components, self.width / self.scale, epsilon, self.rest / self.scale
        )
        # laplace_sum rounds the largest loss differently.
        private = epsilon >= self.largest_loss
        return Bounds(*(np.where(private, -np.inf, np.minimum(bound, 0.0)) for bound in bounds))


def laplace_profile(shifts: Shifts, scale: float) -> PrivacyProfile:
    """Return the profile of Laplace noise of this scale on components that change by `shifts`.

    A single component has a closed form, LaplaceProfile.
    """
    count, width, rest = shifts
    if count == 1 and rest == 0:
        return LaplaceProfile(l1_sensitivity=width, scale=scale)
    return IndependentLaplaceProfile(components=count, width=width, rest=rest, scale=scale)
