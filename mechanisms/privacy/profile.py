"""The interface of privacy profiles: delta(epsilon), its inverse, and samples of the loss."""

from __future__ import annotations

import functools
import math
import operator
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.privacy.numerics import ULP, falling_root

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

# The search for epsilon ends here and returns the largest loss, which is then usually inf.
_LARGEST_EPSILON = 1e15
# The search for a scale stays within e^(+-_LARGEST_LOG_FACTOR) of the present one.
_LARGEST_LOG_FACTOR = 300.0
# Replaces log 0, because a root finder interpolates between finite values.
_LOG_NOTHING = -1e4
# Steps in the log of a factor, tried from the place where a bound jumps across its target.
_JUMPS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4)
# The relative excess of delta over its target that a search for a scale accepts.
_OVER = 1e-10
_TINY = float(np.finfo(float).tiny)


class Bounds(NamedTuple):
    """A number with a lower and an upper bound; floats, or arrays of one shape.

    Always lower <= value <= upper. The profile that returns them says whether the bounds are proven
    or estimates of the numerical error.
    """

    lower: float | np.ndarray
    value: float | np.ndarray
    upper: float | np.ndarray


class NoScaleError(ValueError):
    """No multiple of the noise is known to have the requested delta."""


class PrivacyProfile(ABC):
    """The privacy profile of one pair of output distributions (P, Q), usually the worst pair.

    delta(epsilon) = sup_S P(S) - e^epsilon Q(S) = E_P[(1 - e^(epsilon - L))_+], where
    L = log dP/dQ is the privacy loss (Balle, Barthe and Gaboardi 2018, Theorem 5). A profile does
    not know the adjacency: whoever builds it must choose the worst pair for the sensitivity and the
    adjacency at hand. A guarantee covers (P, Q) and (Q, P), but one direction is enough here. Most
    pairs in this package are symmetric; for every other pair the profile sets `symmetric` to False,
    and (P, Q) is the direction with the larger delta at every epsilon >= 0. ComposedProfile needs a
    symmetric pair.

    Subclasses are frozen dataclasses. They define `_log_delta`, `_scaled` if they have no field
    `scale`, and `_epsilon` if there is a better way than the search below. All three receive
    validated numbers; delta and epsilon are flat float arrays.
    """

    # The field of `Bounds` that `scale_factor` brings to its target: "upper" in profiles whose
    # bounds are proven and wider than rounding, so that the claim of the rescaled noise is proven.
    calibrated_curve: ClassVar[str] = "value"
    # Whether (Q, P) has the same profile as (P, Q).
    symmetric: ClassVar[bool] = True
    # Multiplying the noise by f divides the largest loss, if it is finite, by f to this power.
    loss_power: ClassVar[float] = 1.0
    # The least delta above 0 that the arithmetic resolves. A smaller delta has bounds that are far
    # apart, and `scale_factor` refuses it.
    floor: ClassVar[float] = 0.0
    # Why no pair of neighbours may have this profile, so that it only bounds the true profile from
    # above or from below; None if some pair has it. The reason completes "has no exact calibration:
    # ...". The bounds of delta contain the true delta either way.
    slack: ClassVar[str | None] = None

    @property
    def largest_loss(self) -> float:
        """The essential supremum of the loss, which is epsilon(0); inf without a pure guarantee.

        If `attains_largest_loss` is False, this may be only an upper bound on the supremum.
        """
        return np.inf

    @property
    def attains_largest_loss(self) -> bool:
        """Whether `largest_loss` is the largest loss of the worst pair, not only a bound on it."""
        return True

    def delta(self, epsilon: ArrayLike) -> Bounds:
        """Return the smallest delta for which the pair is (epsilon, delta)-indistinguishable.

        epsilon: finite, >= 0; a number or an array. The bounds are numbers or arrays in [0, 1].
        Raises TypeError if epsilon is not numeric, ValueError if it is out of range.
        """
        epsilon = check_epsilon(epsilon)
        log_delta = self._log_delta(epsilon.ravel())
        lower, value, upper = (np.exp(np.minimum(bound, 0.0)) for bound in log_delta)
        # The exponential rounds once more.
        upper = np.minimum(upper * (1 + 2 * ULP), 1.0)
        return shaped(Bounds(lower * (1 - 2 * ULP), value, upper), epsilon.shape)

    def log_delta(self, epsilon: ArrayLike) -> Bounds:
        """Return the natural logarithm of delta(epsilon), without underflow; -inf if delta is 0."""
        epsilon = check_epsilon(epsilon)
        bounds = self._log_delta(epsilon.ravel())
        return shaped(Bounds(*(np.minimum(bound, 0.0) for bound in bounds)), epsilon.shape)

    def epsilon(self, delta: ArrayLike) -> Bounds:
        """Return the smallest epsilon >= 0 with delta(epsilon) <= delta; inf if there is none.

        delta: in [0, 1]; a number or an array. Raises as `delta` does.
        """
        delta = check_delta(delta)
        return shaped(self._epsilon(delta.ravel()), delta.shape)

    def compose(self, times: int) -> PrivacyProfile:
        """Return the profile of `times` independent releases, each with this profile; times >= 1.

        ComposedProfile convolves the losses, unless a subclass has a closed form.
        """
        if check_count("times", times) == 1:
            return self
        # Imported here, because that module imports this one.
        from mechanisms.privacy.composition import ComposedProfile

        return ComposedProfile(base=self, times=times)

    def scaled(self, factor: float) -> PrivacyProfile:
        """Return the profile of the release with its noise multiplied by factor, finite and > 0."""
        check_positive("factor", factor)
        return self._scaled(factor)

    def _scaled(self, factor: float) -> PrivacyProfile:
        """Implement `scaled` for a checked factor; here, for noise with a field `scale`."""
        return replace(self, scale=self.scale * factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Return the factor of the noise at which delta(epsilon) equals `delta`.

        epsilon: finite, > 0. delta: in (0, 1), or 0 if the noise can be purely private; then the
        largest loss becomes epsilon. The delta reached is within a relative 1e-10 of the target.
        If rounding in the profile is coarser, it is as close as rounding allows and, if a nearby
        scale permits, no larger than the target. If delta differs by more between neighbouring
        floating-point scales, the factor is on the private side. If `calibrated_curve` is a bound
        wider than rounding, this bound meets the target, or `keeps` it. Raises TypeError or
        ValueError for a bad target, and NoScaleError, a ValueError, if no factor is found.
        """
        check_target(epsilon, delta)
        if delta == 0 and not math.isfinite(self.largest_loss):
            raise NoScaleError("this noise has no pure guarantee; choose delta > 0")
        if delta == 0:
            return float((self.largest_loss / epsilon) ** (1 / self.loss_power))
        require_resolved(delta, self.floor)

        @functools.cache
        def reached(log_factor: float) -> float:
            return self.scaled(float(np.exp(log_factor)))._log_calibrated(epsilon)

        def excess(log_factor: np.ndarray) -> np.ndarray:
            log_delta = np.array([reached(float(each)) for each in log_factor])
            return np.maximum(log_delta, _LOG_NOTHING) - np.log(delta)

        tolerance = self._resolution(delta)
        limits = {"floor": -_LARGEST_LOG_FACTOR, "ceiling": _LARGEST_LOG_FACTOR}
        root = falling_root(excess, np.zeros(1), np.ones(1), tolerance=tolerance, **limits)[0]
        over = excess(np.array([root]))[0]
        met = abs(over) <= 10 * tolerance
        if met and over <= _OVER:
            return float(np.exp(root))
        # If delta is so steep that no double reaches the target, take the next private scale.
        around = root + 8 * ULP * max(abs(root), 1.0) * np.array([-1.0, 1.0])
        if excess(around)[0] > 0 >= excess(around)[1]:
            return float(np.exp(around[1]))
        # A bound whose grid moves with the scale jumps, by less than the width of the bounds.
        for step in _JUMPS:
            factor = float(np.exp(root + step))
            if self.scaled(factor).keeps(epsilon, delta):
                return factor
        if met:
            return float(np.exp(root))
        raise NoScaleError(
            f"no multiple of this noise was found that has delta({epsilon:g}) = {delta:g}: the "
            f"search ended at the multiple {np.exp(root):g}"
        )

    def keeps(self, epsilon: float, delta: float) -> bool:
        """Return whether delta(epsilon) <= `delta`, with a gap of at most its bounds' width.

        delta(epsilon) is read from `calibrated_curve`; without a width the two must be equal.
        """
        bounds = self.delta(epsilon)
        below = delta - getattr(bounds, self.calibrated_curve)
        return 0 <= below <= bounds.upper - bounds.lower

    def _log_calibrated(self, epsilon: float) -> float:
        """Return log delta(epsilon) of the `calibrated_curve`."""
        return getattr(self.log_delta(epsilon), self.calibrated_curve)

    def _resolution(self, delta: float) -> float:
        """Return the relative error of delta at which a search for a scale ends at `delta`."""
        return 1e-11

    def survival(self, epsilon: ArrayLike) -> np.ndarray:
        """Return P(L > epsilon) under P, an array of the shape of epsilon; epsilon as in `delta`.

        Raises NotImplementedError if this probability is not known.
        """
        epsilon = check_epsilon(epsilon)
        return self._survival(epsilon.ravel()).reshape(epsilon.shape)

    def to_dp_accounting(
        self, *, pessimistic: bool = True, interval: float = 1e-4
    ) -> PrivacyLossDistribution:
        """Return the loss as a PrivacyLossDistribution of dp_accounting, for both directions.

        A pessimistic distribution bounds the delta of the pair from above at every epsilon and in
        every composition, an optimistic one from below. Both hold up to rounding, about 1e-9 of
        delta for one release. The profile is evaluated at no more than 2048 losses.

        interval: Spacing of the losses, finite, > 0. A smaller interval gives closer bounds.

        Raises ValueError if the interval is too small for the range of losses, if the loss is
        infinite with a probability above 1e-15, or for the optimistic distribution of a pair that
        is not `symmetric` or has only bounds (`slack`); NotImplementedError for an optimistic
        distribution if P(L > epsilon) is not known; ModuleNotFoundError without dp_accounting.
        """
        from mechanisms.privacy.loss_distribution import loss_distribution

        return loss_distribution(self, pessimistic=pessimistic, interval=interval)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw n privacy losses log p(x)/q(x), for x ~ P or, with `reverse`, for x ~ Q.

        Returns a float64 array of shape (n,); +-inf if only one of P and Q can produce x. Raises
        NotImplementedError if the pair (P, Q) is not known.
        """
        raise NotImplementedError(f"losses are not drawn for {type(self).__name__}")

    @abstractmethod
    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        """Return log delta with bounds for a validated, flat array of epsilons."""

    def _log_delta_near(self, epsilon: np.ndarray, log_target: np.ndarray) -> Bounds:
        """Act as `_log_delta`; a value far below log_target may be inaccurate if it stays below."""
        return self._log_delta(epsilon)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"P(L > epsilon) is not known for {type(self).__name__}")

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        """Return where the curves reach delta: epsilon with bounds, for a checked flat array.

        Each bound is at most twice as far from the value as the crossing of its curve, plus 1e-9 of
        the larger of the value and 1e-3.
        """
        value = self._crossing(delta)
        return self._around(Bounds(value, value, value), delta)

    def _around(self, start: Bounds, delta: np.ndarray) -> Bounds:
        """Move the ends of `start`, flat arrays, out until the curves of delta prove them."""
        lower, upper = (np.minimum(end, self._ceiling) for end in (start.lower, start.upper))
        log_target = np.log(np.where(delta > 0, delta, 1.0))
        for bound, curve, sign in ((lower, 0, -1.0), (upper, 2, 1.0)):
            step = 1e-9 * np.maximum(bound, 1e-3)
            moving = (delta > 0) & (bound > 0 if sign < 0 else bound < self._ceiling)
            while moving.any():
                excess = self._log_delta(bound[moving])[curve] - log_target[moving]
                moving[moving] = sign * excess > 0
                bound[moving] = np.clip(bound[moving] + sign * step[moving], 0.0, self._ceiling)
                moving &= bound > 0 if sign < 0 else bound < self._ceiling
                step *= 2
        upper = np.where(upper < self._ceiling, upper, self.largest_loss)
        upper = np.minimum(np.maximum(upper, start.value), self.largest_loss)
        value = np.minimum(start.value, upper)
        return Bounds(np.minimum(lower, value), value, upper)

    def _crossing(self, delta: np.ndarray) -> np.ndarray:
        """Return the least epsilon with a value of delta(epsilon) at most delta; flat arrays."""
        result = np.where(delta > 0, 0.0, self.largest_loss)
        log_target = np.log(np.where(delta > 0, delta, 1.0))
        search = log_target < self._log_delta(np.zeros(1)).value[0]

        # As a function of log(1 + epsilon), log(-log delta) is nearly linear in the tails of most
        # losses, so that the root finder takes few steps.
        def excess(logarithm: np.ndarray, target: np.ndarray) -> np.ndarray:
            log_delta = self._log_delta_near(np.expm1(logarithm), -np.exp(target)).value
            return target - np.log(-np.clip(log_delta, _LOG_NOTHING, -_TINY))

        count, ceiling = np.count_nonzero(search), np.log1p(self._ceiling)
        root = falling_root(
            excess,
            np.zeros(count),
            np.ones(count),
            floor=0.0,
            ceiling=ceiling,
            args=(np.log(-np.minimum(log_target[search], -_TINY)),),
            tolerance=1e-13,
        )
        result[search] = np.where(root < ceiling, np.expm1(root), self.largest_loss)
        return result

    @property
    def _ceiling(self) -> float:
        """The largest epsilon that searches try."""
        return min(self.largest_loss, _LARGEST_EPSILON)


def check_target(epsilon: float, delta: float) -> None:
    """Raise TypeError or ValueError unless epsilon > 0 is finite and delta a number in [0, 1)."""
    check_positive("epsilon", epsilon)
    if np.ndim(check_delta(delta)) or delta >= 1:
        raise ValueError(f"delta must be one number in [0, 1), got {delta}")


def require_resolved(delta: float, floor: float) -> None:
    """Raise NoScaleError for a delta between 0 and the floor of a profile."""
    if 0 < delta < floor:
        raise NoScaleError(
            f"below {floor:.1g} this profile cannot be resolved, got delta = {delta:g}; choose a "
            "larger delta"
        )


def check_epsilon(epsilon: ArrayLike) -> np.ndarray:
    """Return epsilon as a float array, or raise TypeError or ValueError naming what is wrong."""
    array = real_array("epsilon", epsilon)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise ValueError(f"epsilon must be finite and >= 0, got {array[bad].flat[0]}")
    return array


def check_delta(delta: ArrayLike) -> np.ndarray:
    """Return delta as a float array, or raise TypeError or ValueError naming what is wrong."""
    array = real_array("delta", delta)
    bad = ~((array >= 0) & (array <= 1))
    if bad.any():
        raise ValueError(f"delta must lie in [0, 1], got {array[bad].flat[0]}")
    return array


def check_positive(name: str, value: float) -> None:
    """Raise TypeError or ValueError unless `value` is one finite number above zero."""
    array = real_array(name, value)
    if array.ndim:
        raise TypeError(f"{name} must be one number, got an array of shape {array.shape}")
    if not (np.isfinite(array) and array > 0):
        raise ValueError(f"{name} must be finite and > 0, got {value}")


def check_count(name: str, value: int, minimum: int = 1) -> int:
    """Return `value` as an int from `minimum` to 2^53, or raise TypeError or ValueError."""
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {count}")
    if count > 2**53:
        raise ValueError(f"{name} must be at most 2^53, as floats hold no larger ones, got {count}")
    return count


def real_array(name: str, value: ArrayLike) -> np.ndarray:
    """Return numbers as a float array, or raise TypeError for anything else."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a real number or an array of them, got {value!r}")
    return array.astype(float)


def shaped(bounds: Bounds, shape: tuple[int, ...]) -> Bounds:
    """Return flat bounds in this shape, or floats if it has no axes."""
    if shape:
        return Bounds(*(bound.reshape(shape) for bound in bounds))
    return Bounds(*(float(bound[0]) for bound in bounds))
