"""The profile of noise that spares some components."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.privacy.numerics import ULP, log1mexp
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count, check_target


@dataclass(frozen=True, kw_only=True)
class KeepOrNoiseProfile(PrivacyProfile):
    """Profile of a release that keeps each component with some probability, else adds noise (TLDP).

    noise: profile of the noise alone on the whole answer, for its largest change.
    log_exposure: log of lambda = -sum_i log(1 - p_i), where p_i is the probability that component i
    is kept. It is -inf if no component is ever kept, and inf if one always is; see `of`.

    If the two inputs differ in a component, its kept value is an atom that only one of them can
    produce: the loss is infinite. If they differ in all components, P is the noise alone with
    probability prod (1 - p_i) = e^-lambda and gives itself away otherwise, and so does Q, whatever
    the single p_i are. Components that do not change reveal nothing: leave them out. Hence

        delta(epsilon) = m + (1 - m) delta_noise(epsilon),   m = 1 - e^-lambda:

    at no epsilon is delta below m, so there is no pure guarantee. The worst pair changes every
    component: those that the worst pair of the noise leaves alone change by arbitrarily little, and
    delta is a supremum over a set of changes that holds a ball. If no more than k components
    change, they are the k that are kept most often. Bounds: those of the noise; m is a lower bound
    even if little is known of the noise.
    """

    noise: PrivacyProfile
    log_exposure: float

    @classmethod
    def of(
        cls, *, noise: PrivacyProfile, log_keep: ArrayLike, counts: ArrayLike = 1
    ) -> KeepOrNoiseProfile:
        """Build the profile from log p_i, in [-inf, 0], and how many components, >= 0, have each.

        The arrays broadcast. They are logarithms, because p_i underflows on large answers.
        """
        log_keep = np.asarray(log_keep, dtype=float)
        with np.errstate(divide="ignore"):
            # Below e^-37 -log(1 - p) is p to the last digit.
            each = np.where(log_keep < -37, log_keep, np.log(-log1mexp(log_keep)))
            together = each + np.log(counts)
        return cls(noise=noise, log_exposure=float(np.logaddexp.reduce(together, axis=None)))

    @property
    def log_atom_mass(self) -> float:
        """log m, where m is the probability that the output gives the input away."""
        if self.log_exposure < -37:
            return self.log_exposure
        return float(log1mexp(self._log_all_noisy))

    @property
    def atom_mass(self) -> float:
        """m = 1 - prod (1 - p_i), which may underflow to 0."""
        return float(np.exp(self.log_atom_mass))

    @property
    def largest_loss(self) -> float:
        return np.inf if self._keeps else self.noise.largest_loss

    @property
    def attains_largest_loss(self) -> bool:
        """True if a kept value makes the loss infinite, else as for the noise."""
        return self._keeps or self.noise.attains_largest_loss

    @property
    def slack(self) -> str | None:
        """The slack of the noise."""
        return self.noise.slack

    @property
    def calibrated_curve(self) -> str:
        """The calibrated curve of the noise."""
        return self.noise.calibrated_curve

    def compose(self, times: int) -> KeepOrNoiseProfile:
        log_times = np.log(check_count("times", times))
        return replace(
            self,
            noise=self.noise.compose(times),
            log_exposure=float(self.log_exposure + log_times),
        )

    def _scaled(self, factor: float) -> KeepOrNoiseProfile:
        """Multiply the noise only; the p_i stay."""
        return replace(self, noise=self.noise.scaled(factor))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Return the factor, or raise ValueError for delta <= m, which no scale reaches."""
        check_target(epsilon, delta)
        if self._keeps and (delta == 0 or np.log(delta) <= self.log_atom_mass):
            raise ValueError(
                f"no scale of the noise reaches delta = {delta:g}: a kept value gives the input "
                f"away, and a value is kept with probability e^{self.log_atom_mass:.6g}"
            )
        return self.noise.scale_factor(epsilon, float(self._noise_delta(np.float64(delta))))

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw infinite losses with probability m (-inf in reverse), else those of the noise."""
        losses = self.noise.sample_losses(rng, n, reverse=reverse)
        losses[rng.random(n) < self.atom_mass] = -np.inf if reverse else np.inf
        return losses

    @property
    def _keeps(self) -> bool:
        return self.log_exposure > -np.inf

    @property
    def _log_all_noisy(self) -> float:
        """log (1 - m) = -lambda."""
        return -float(np.exp(min(self.log_exposure, 709.0)))

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        log_mass, log_noisy = self.log_atom_mass, self._log_all_noisy
        # Below e^-745 the noise underflows and leaves nothing to err.
        size = max(log_noisy, -745.0) + (log_mass if self._keeps else 0.0)
        error = ULP * (8 - size) * np.array([-1.0, 0.0, 1.0])
        bounds = self.noise._log_delta(epsilon)
        return Bounds(
            *(
                np.logaddexp(log_mass, log_noisy + bound) + shift
                for bound, shift in zip(bounds, error, strict=True)
            )
        )

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        if not self._keeps:
            return self.noise._epsilon(delta)
        found, atom = np.full((3, delta.size), np.inf), self.atom_mass
        # The mass of the atom is known up to rounding.
        margin = 1 + 8 * ULP
        reached = margin * delta > atom
        target = delta[reached]
        above = target > atom
        noise = self._noise_delta(np.where(above, target, margin * target))
        lower, *others = self.noise._epsilon(noise)
        start = Bounds(lower, *(np.where(above, each, np.inf) for each in others))
        # Move the bounds of the noise out by the rounding of the sum with the atom.
        found[:, reached] = self._around(start, target)
        return Bounds(*found)

    def _noise_delta(self, delta: np.ndarray) -> np.ndarray:
        """Return the delta that is left for the noise, (delta - m) / (1 - m), within [0, 1]."""
        left = (delta - self.atom_mass) * np.exp(min(-self._log_all_noisy, 700.0))
        return np.clip(left, 0.0, 1.0)
