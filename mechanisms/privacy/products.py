"""Products of scalar noises: Laplace on an l1 ball or on every component, and kept components."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)


@dataclass(frozen=True, kw_only=True)
class LaplaceProfile(PrivacyProfile):
    """Independent Laplace noise of scale b on an answer of l1 sensitivity Delta1.

    With tau = Delta1 / b: delta(epsilon) = 1 - e^((epsilon - tau) / 2) below tau, 0 from there on.
    Bounds: rounding only.

    The worst pair of the l1 ball shifts one coordinate by Delta1. Proof: let H be the profile of
    two coordinates shifted by t1 >= t2 (in units of b), and epsilon >= 0. Writing H as the
    one-coordinate profile averaged over the loss of the other, both derivatives are
    e^((epsilon - t1 - t2) / 2) / 2 times the same integral plus different atoms, and
    dH/dt1 - dH/dt2 = e^((epsilon - t1 - t2) / 2) / 2 where epsilon < t1 - t2, and 0 elsewhere.
    So H never falls when shift moves to the larger coordinate; by the symmetry of the pair this
    holds for epsilon < 0 too, and hence within any product. Where components are also bounded,
    |D_i| <= w, as many as possible shift by w: see IndependentLaplaceProfile.
    """

    l1_sensitivity: float
    scale: float

    def __post_init__(self) -> None:
        check_positive("l1_sensitivity", self.l1_sensitivity)
        check_positive("scale", self.scale)

    @property
    def largest_loss(self) -> float:
        """tau = Delta1 / b, the epsilon of the pure guarantee."""
        return self.l1_sensitivity / self.scale

    def compose(self, times: int) -> PrivacyProfile:
        if check_count("times", times) == 1:
            return self
        # dp_accounting takes half a second to load, and few ever compose.
        from mechanisms.privacy.composition import ComposedProfile

        return ComposedProfile(base=self, times=times)

    def scaled(self, factor: float) -> LaplaceProfile:
        return replace(self, scale=self.scale * factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """tau is inversely proportional to b, and tau = epsilon - 2 ln(1 - delta) is wanted."""
        check_target(epsilon, delta)
        return float(self.largest_loss / (epsilon - 2 * np.log1p(-delta)))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Losses |x - tau| - |x| for x ~ Laplace(1)."""
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
        return Bounds(below, value, above)

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
    """Laplace noise of scale b on every component of an answer whose elements lie in a range.

    components: k >= 1, how many components may change at once. width: w > 0, by how much each may
    change, |D_i| <= w. scale: b > 0. The worst pair shifts all k by w: a one-dimensional profile
    rises with the shift, and products keep that order. It is the k-fold composition of one
    component and has the bounds of ComposedProfile; epsilon(0) = k w / b exactly.
    """

    components: int
    width: float
    scale: float

    def __post_init__(self) -> None:
        check_count("components", self.components)
        check_positive("width", self.width)
        check_positive("scale", self.scale)

    @cached_property
    def _product(self) -> PrivacyProfile:
        single = LaplaceProfile(l1_sensitivity=self.width, scale=self.scale)
        return single.compose(self.components)

    @property
    def largest_loss(self) -> float:
        """k w / b."""
        return self.components * self.width / self.scale

    def compose(self, times: int) -> IndependentLaplaceProfile:
        return replace(self, components=self.components * check_count("times", times))

    def scaled(self, factor: float) -> IndependentLaplaceProfile:
        return replace(self, scale=self.scale * factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """As for every profile; for delta = 0 the largest loss becomes epsilon."""
        check_target(epsilon, delta)
        if delta == 0:
            return self.largest_loss / epsilon
        return super().scale_factor(epsilon, delta)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Sums of k losses of one component."""
        return self._product.sample_losses(rng, n, reverse=reverse)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        return self._product._log_delta(epsilon)


@dataclass(frozen=True, kw_only=True)
class KeepOrNoiseProfile(PrivacyProfile):
    """Each of I components keeps its value with probability p and else has noise added (TLDP).

    noise: profile of the noise on one component for the largest change of that component.
    keep: p in [0, 1]. components: I >= 1, how many components may change at once.

    Where the two inputs differ, the kept value is an atom that only one of them can produce: its
    loss is infinite, and the rest is (1 - p) times additive noise on both sides. Hence for one
    component delta(epsilon) = p + (1 - p) delta_noise(epsilon), and for all of them

        delta(epsilon) = m + (1 - m) delta_noise^I(epsilon),   m = 1 - (1 - p)^I,

    with delta_noise^I the I-fold composition of the noise: no epsilon gives a delta below m, and
    none is pure. The worst pair changes every component by as much as it can. Bounds: those of
    the composition, exact but for rounding where the noise is Gaussian.
    """

    noise: PrivacyProfile
    keep: float
    components: int

    def __post_init__(self) -> None:
        if not isinstance(self.noise, PrivacyProfile):
            raise TypeError(f"noise must be a PrivacyProfile, got {self.noise!r}")
        if self.keep != 0:
            check_positive("keep", self.keep)
        if self.keep > 1:
            raise ValueError(f"keep is a probability and must lie in [0, 1], got {self.keep}")
        check_count("components", self.components)

    @property
    def atom_mass(self) -> float:
        """m = 1 - (1 - p)^I: the probability that the output gives the input away."""
        return float(-np.expm1(self._log_all_noisy))

    @property
    def largest_loss(self) -> float:
        return np.inf if self.keep > 0 else self._product.largest_loss

    def compose(self, times: int) -> KeepOrNoiseProfile:
        return replace(self, components=self.components * check_count("times", times))

    def scaled(self, factor: float) -> KeepOrNoiseProfile:
        """Only the noise is multiplied; p stays."""
        return replace(self, noise=self.noise.scaled(factor))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """As for every profile; ValueError for delta <= m, which no scale of the noise reaches."""
        check_target(epsilon, delta)
        if self.keep > 0 and delta <= self.atom_mass:
            raise ValueError(
                f"delta = {delta:g} is out of reach: kept values alone give {self.atom_mass:g}; "
                "lower the keep probability"
            )
        return self._product.scale_factor(epsilon, self._noise_delta(np.float64(delta)))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Infinite with probability m (-inf in reverse), else the losses of the noise."""
        losses = self._product.sample_losses(rng, n, reverse=reverse)
        losses[rng.random(n) < self.atom_mass] = -np.inf if reverse else np.inf
        return losses

    @cached_property
    def _product(self) -> PrivacyProfile:
        return self.noise.compose(self.components)

    @property
    def _log_all_noisy(self) -> float:
        """log (1 - m)."""
        with np.errstate(divide="ignore"):
            return float(self.components * np.log1p(-np.float64(self.keep)))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            log_mass = np.log(self.atom_mass)
        log_noisy = self._log_all_noisy
        if np.isinf(log_noisy):
            certain = np.zeros(epsilon.shape)
            return Bounds(certain, certain, certain)
        error = ULP * (8 + np.abs(log_noisy)) * np.array([-1.0, 0.0, 1.0])
        bounds = self._product._log_delta(epsilon)
        return Bounds(
            *(
                np.logaddexp(log_mass, log_noisy + bound) + shift
                for bound, shift in zip(bounds, error, strict=True)
            )
        )

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        margin = 8 * ULP * delta if self.keep > 0 else 0.0
        lower, value, upper = (
            np.where(
                (self.keep > 0) & (each <= self.atom_mass),
                np.inf,
                curve(self._product._epsilon(self._noise_delta(each))),
            )
            for each, curve in (
                (delta + margin, lambda bounds: bounds.lower),
                (delta, lambda bounds: bounds.value),
                (delta - margin, lambda bounds: bounds.upper),
            )
        )
        return Bounds(lower, value, upper)

    def _noise_delta(self, delta: np.ndarray) -> np.ndarray:
        """The delta that is left for the noise: (delta - m) / (1 - m), within [0, 1]."""
        left = (delta - self.atom_mass) * np.exp(-max(self._log_all_noisy, -700.0))
        return np.clip(left, 0.0, 1.0)
