"""Privacy of many steps on Poisson samples: the budgets of DP-SGD, and bounds for any noise.

One record is added or removed, unless a function says that it is replaced. A step includes each
record with probability q (the rate), independently. dp_accounting accounts for Gaussian noise;
`SampledRun` bounds the privacy of any noise with a profile. Losses are natural logarithms.
"""

import contextlib
import functools
import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy

from mechanisms.privacy.composition import (
    CUTS,
    RESOLVED,
    LossSum,
    at_negative,
    by_level,
    cached_by_object,
    cells,
    chord_masses,
    chords,
    distribution,
    log_less,
    on_grid,
    rounded_up,
    tails_of_pair,
)
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_target,
    real_array,
    require_resolved,
)
from mechanisms.privacy.sampling.rare_losses import RELATIVE, RareLosses

# The largest loss of each grid: if larger losses of one step matter, the next grid reaches them.
# Losses at which delta of one step, times `steps`, is at most CUTS count as infinite.
_REACHES, _LEAST_LOSS = (60.0, 60.0 * (1 << 14), 60.0 * (1 << 44)), 1e-250
# The fine grid's spacing is at most this, unless the sum would then have more than _MOST_PLACES.
_LARGEST_SPACING, _MOST_PLACES = 1e-3, 1 << 21
_NODES_PER_SIDE = (128, 384, 768, 768)
# Refinements for the lower bound: few nodes suit losses that lie close together; others need more.
_BELOW = (1, 4)
# The points of a grid on either side: at least _SIZE / sqrt(steps) and at least _LEAST_SIZE.
_SIZE, _LEAST_SIZE = 20_000, 1000
# The default orders of dp_accounting.
_ORDERS = (*(1 + x / 10.0 for x in range(1, 100)), *range(11, 64), 128, 256, 512, 1024)
# These replace 0 and infinity, which have no finite logarithm.
_TINY, _HUGE = 1e-300, 1e300
_LOG_NOTHING = -1e4
LEAST_RATE = 1e-290
# The search for a factor of the noise stays within e^+-64 of its start.
_LARGEST_LOG_FACTOR = 64.0


def gaussian_epsilon(
    multiplier: float, rate: float, steps: int, delta: float, *, accountant=None
) -> float:
    """Return the total epsilon of Gaussian noise on Poisson samples.

    Args:
        multiplier: Standard deviation of the noise over the l2 sensitivity, > 0.
        rate: Sampling probability, in (0, 1].
        steps: At least 1.
        delta: In (0, 1).
        accountant: A fresh accountant of dp_accounting, or None for Renyi DP, by RdpAccountant with
            its default orders.
    """
    if rate == 1 and accountant is None:
        return _unsampled_epsilon(multiplier, steps, delta)
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    accountant = accountant or RdpAccountant()
    with _without_warnings():
        step = PoissonSampledDpEvent(rate, GaussianDpEvent(multiplier))
        return float(accountant.compose(step, steps).get_epsilon(delta))


def _unsampled_epsilon(multiplier: float, steps: int, delta: float) -> float:
    """Return `gaussian_epsilon` by Renyi DP at rate 1 without dp_accounting, which is slow to load.

    This is Proposition 12 of Canonne, Kamath and Steinke (2020), at the order where it is least.
    Epsilon is 0 if delta exceeds the bound of Bretagnolle and Huber on the total variation.
    """
    moments = [(order, steps * (order / (2 * multiplier**2))) for order in _ORDERS]
    if delta**2 + math.expm1(-moments[0][1]) > 0:
        return 0.0
    found = (
        moment + math.log1p(-1 / order) - math.log(delta * order) / (order - 1)
        for order, moment in moments
    )
    return max(0.0, min(found))


@contextlib.contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence the warnings about orders that dp_accounting skips because a series diverges.

    Epsilon is a bound for any set of orders.
    """
    log = logging.getLogger("absl")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


@functools.cache
def noise_multiplier(epsilon: float, delta: float, rate: float, steps: int) -> float:
    """Return the multiplier, to a relative 1e-9, at which Renyi DP gives `epsilon`.

    If `gaussian_epsilon` jumps over that value, this is the least multiplier beyond the jump.

    Raises:
        ValueError: The multiplier is not between 0.05 and 1e6.
    """
    check_target(epsilon, delta)

    # In logarithms the curve is nearly straight, so that the root takes few evaluations.
    @functools.cache
    def excess(log_multiplier: float) -> float:
        found = gaussian_epsilon(math.exp(log_multiplier), rate, steps, delta)
        return math.log(min(max(found, _TINY), _HUGE) / epsilon)

    low = high = 0.0
    least, most = math.log(0.05), math.log(1e6)
    while excess(low) < 0:
        if low == least:
            raise ValueError(f"no noise multiplier >= 0.05 gives ({epsilon:g}, {delta:g})")
        low, high = max(low - 0.5, least), low
    while excess(high) > 0:
        if high == most:
            raise ValueError(f"no noise multiplier <= 1e6 gives ({epsilon:g}, {delta:g})")
        low, high = high, min(high + 0.5, most)
    root = scipy.optimize.brentq(excess, low, high, xtol=1e-10)
    # Below the least epsilon that Renyi DP can show, epsilon jumps to 0; the root may lie before.
    return math.exp(root if excess(root) < 1e-8 else root + 2e-10)


def step_budget(
    epsilon: float, delta: float, rate: float, epochs: float, slack: float
) -> tuple[float, float]:
    """Return (epsilon_0, delta_0) of r1smg2024 eq. (16), with T = epochs / rate steps.

    epsilon = sqrt(2 T ln(1/slack)) x + T x (e^x - 1) with x = rate epsilon_0, and
    delta = T rate delta_0 + slack. The amplification is a first-order approximation: x replaces
    ln(1 + rate (e^epsilon_0 - 1)), which is larger. Raises ValueError if x would exceed 1.
    """
    steps = epochs / rate

    def excess(x: float) -> float:
        return math.sqrt(2 * steps * -math.log(slack)) * x + steps * x * math.expm1(x) - epsilon

    return scipy.optimize.brentq(excess, 0.0, 1.0, xtol=1e-15) / rate, (delta - slack) / epochs


@dataclass(frozen=True, kw_only=True)
class SampledRun:
    """A run of `steps` releases, each on a fresh sample, Poisson or (replace) of fixed size.

    For noise with the symmetric worst pair (P, Q) one step compares (1 - q) Q + q P with Q, in
    both orders: removing a record and adding one (Zhu, Dong and Wang 2022, Theorem 11). With
    delta(.) the profile of (P, Q),

        remove: q delta(ln(1 + (e^epsilon - 1) / q)),
        add:    (1 - (1 - q) e^epsilon) delta(epsilon + ln q - ln(1 - (1 - q) e^epsilon)),

    the latter zero from epsilon = -ln(1 - q) on. Both are exact for that pair. Chords through the
    profile (connect the dots) make a worse pair and merged outputs a better one. Both are composed
    by FFT, see `mechanisms.privacy.composition`, and bound the run. Above epsilon 60 the bounds of
    heavy-tailed noise are wide, because only a coarse grid reaches its losses: for 1,000 steps of
    R1SMG on 16 elements at rate 0.01 the upper bound of delta is 1.3 times the lower one at
    epsilon 80, and 5 times at 300. No tilt reaches the tail of very rare samples: `RareLosses`
    bounds it.

    With "replace", `step` is the profile for a record that changes its value or is absent (in a
    sample of fixed size: gives its place to another). A step then compares (1 - q) R + q P with
    (1 - q) R + q P'. By advanced joint convexity (Balle, Barthe and Gaboardi 2018, Theorem 2), its
    delta at epsilon >= 0 is at most the first of the two formulas. R = P', which samples of fixed
    size allow, attains it. Both orders are alike, so that the curve below zero follows by symmetry.
    One upper bound holds for all R; no lower bound of a run is known.

    Args:
        step: Profile of one release on the sampled records. Its pair is symmetric, because the
            profile of any other pair does not say which side has the record.
        rate: q in [1e-290, 1].
        steps: At least 1.
        adjacency: "add-remove" or "replace".
        refinement: Multiplies the number of losses at which a step is evaluated; a search for a
            scale needs 1. With 12, the bound on epsilon of Gaussian noise is less than 3e-4
            (absolute) above that of dp_accounting in tests.

    Raises:
        TypeError, ValueError: The pair of `step` is not symmetric, or a number is out of range.
    """

    step: PrivacyProfile
    rate: float
    steps: int
    adjacency: str = "add-remove"
    refinement: int = 1

    # The floor, as in a profile.
    floor: ClassVar[float] = CUTS[-1] * RESOLVED

    def __post_init__(self) -> None:
        if not self.step.symmetric:
            raise ValueError(f"step must be of a symmetric pair, got {type(self.step).__name__}")
        if not LEAST_RATE <= real_array("rate", self.rate) <= 1:
            raise ValueError(f"rate must be a probability in [{LEAST_RATE:g}, 1], got {self.rate}")
        if self.adjacency not in ("add-remove", "replace"):
            raise ValueError(f"adjacency must be add-remove or replace, got {self.adjacency!r}")
        check_count("steps", self.steps)

    def step_delta(self, epsilon: float) -> Bounds:
        """Return delta of one step at epsilon >= 0; its lower bound also holds for the whole run.

        With "replace" the lower bound holds if some pair attains R = P'. Removing gives the larger
        delta: its weight is no smaller and its argument no larger than for adding, because
        (1 - q) (e^epsilon - 1)^2 >= 0.
        """
        base, _ = self._removed(np.array([float(epsilon)]))
        return Bounds(*(self.rate * bound for bound in self.step.delta(float(base[0]))))

    def log_step_delta(self, epsilon: np.ndarray) -> Bounds:
        """Return the natural logarithm of `step_delta`; epsilon is an array."""
        base, weight = self._removed(epsilon)
        return Bounds(*(np.log(weight) + each for each in self.step.log_delta(base)))

    def delta(self, epsilon: float) -> float:
        """Return an upper bound of the run's delta at epsilon >= 0."""
        return math.exp(self.log_upper(epsilon))

    def log_bounds(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logs of a lower and an upper bound of the run's delta; epsilon is a flat array.

        Only for add-remove. If P(L > epsilon) of a step is not known, the lower bound is that of
        one step.
        """
        if not self._has_tails:
            upper = np.array([self.log_upper(each) for each in epsilon.tolist()])
            return np.minimum(self.log_step_delta(epsilon).lower, upper), upper

        def curves(level: int, at: np.ndarray) -> np.ndarray:
            upper = self._upper(level, at)
            below = (
                each.log_delta(
                    at - self.steps * offset + rounded_up(each.spacing, self.steps),
                    tilted=level > 0,
                )
                for each, offset in self._below(level)
            )
            lower = np.max([log_less(*each) for each in below], axis=0)
            return np.array([np.minimum(lower, upper), upper])

        lower, upper = by_level(epsilon, curves, self.steps)
        proved, most = self.log_apart(epsilon)
        upper = np.minimum(upper, most)
        return np.clip(proved, lower, upper), upper

    @functools.cached_property
    def _has_tails(self) -> bool:
        try:
            return bool(self.step.survival(1.0) >= 0)
        except NotImplementedError:
            return False

    def log_apart(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds as `log_bounds` does, by methods for losses too rare for any grid."""
        lower = np.maximum(self.log_step_delta(epsilon).lower, self._rare.log_lower(epsilon))
        return lower, np.minimum(self._log_basic(epsilon), self._rare.log_upper(epsilon))

    def _log_basic(self, epsilon: np.ndarray) -> np.ndarray:
        """Return the log of the bound by basic composition, at most 0."""
        each = self.log_step_delta(epsilon / self.steps).upper
        return np.minimum(math.log(self.steps) + each, 0.0)

    @functools.cached_property
    def _rare(self) -> RareLosses:
        top = max(self._largest_that_matters(len(CUTS) - 1), _LEAST_LOSS)
        losses = top * RELATIVE
        return RareLosses(
            losses=losses,
            curve=self._step_upper(*self._removed(losses), losses),
            tails=lambda cuts: self._step_tails(cuts)[0],
            steps=self.steps,
        )

    def epsilon(self, delta: float) -> float:
        """Return an upper bound of the run's epsilon; inf if delta is below all bounds or `floor`.

        Losses of a step above 1e15 count as infinite.
        """
        if delta < self.floor:
            return math.inf
        target = math.log(delta)
        if self.log_upper(0.0) <= target:
            return 0.0
        low, high = 0.0, 1.0
        while self.log_upper(high) > target:
            # The first grid of the first level mostly answers; the others take seconds to compute.
            if all(
                high > each.largest
                for level in range(len(CUTS))
                for grids in self._above(level)
                for each in grids
            ):
                return math.inf
            low, high = high, 2 * high

        def excess(epsilon: float) -> float:
            return max(self.log_upper(epsilon), _LOG_NOTHING) - target

        root = scipy.optimize.brentq(excess, low, high, xtol=_TINY, rtol=1e-9)
        return float(root * (1 + 2e-9))

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Return the factor of the noise at which the bound on the run is (epsilon, delta).

        The bound is that of refinement 1, and counts rare losses if they lower delta by more than
        1%. The factor is at most a relative 1e-3 too large, never too small. Raises ValueError if
        no factor is found.
        """
        check_target(epsilon, delta)
        require_resolved(delta, self.floor)

        def excess(log_factor: float, *, rare: bool = False) -> float:
            run = replace(self, step=self.step.scaled(math.exp(log_factor)), refinement=1)
            return max(run.log_upper(epsilon, rare=rare), _LOG_NOTHING) - math.log(delta)

        # Start: if rare large losses decide, the delta of the run is the sum over its steps.
        base, _ = self._removed(np.array([float(epsilon)]))
        share = min(delta / (self.steps * self.rate), 0.5)
        start = math.log(self.step.scale_factor(float(base[0]), share))
        root = _crossing(excess, start)
        # The bound of rare losses takes long and is seldom the better one.
        if excess(root, rare=True) < -0.01:
            root = _crossing(functools.partial(excess, rare=True), root)
        return math.exp(root + 5e-4)

    def log_upper(self, epsilon: float, *, rare: bool = True) -> float:
        """Return log of `delta`; `rare=False` leaves out the slow bound of rare losses."""

        def curve(level: int, at: np.ndarray) -> np.ndarray:
            return self._upper(level, at)[None]

        at = np.array([float(epsilon)])
        found = min(by_level(at, curve, self.steps)[0, 0], self._log_basic(at)[0])
        return float(min(found, self._rare.log_upper(at)[0]) if rare else found)

    def _upper(self, level: int, epsilon: np.ndarray) -> np.ndarray:
        # For each of the two pairs the best grid counts, and for the run the worse pair.
        bounds = (
            np.min(
                [np.logaddexp(*each.log_delta(epsilon, tilted=level > 0)) for each in grids], axis=0
            )
            for grids in self._above(level)
        )
        return np.max(list(bounds), axis=0)

    def _removed(self, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where to evaluate `step` (-inf if its delta is 1), and the weight of its delta."""
        # Beyond `last` the exponential over the rate overflows, and 1 is negligible beside it.
        last = min(700.0, 709.0 + math.log(self.rate))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inside = np.expm1(np.minimum(losses, last)) / self.rate
            base = np.where(inside > -1, np.log1p(inside), -np.inf)
        base += np.maximum(losses - last, 0.0)
        return base, np.full_like(losses, self.rate)

    def _added(self, losses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # 1 - (1 - q) e^loss = q (1 - share): in this form tiny losses do not cancel.
        with np.errstate(divide="ignore"):
            share = np.minimum((1 / self.rate - 1) * np.expm1(np.minimum(losses, 600.0)), 1.0)
            return losses - np.log1p(-share), self.rate * (1 - share)

    @cached_by_object
    def _above(self, level: int) -> tuple[tuple[LossSum, ...], ...]:
        """Return the run's losses with a record removed and with one added, or with one replaced.

        Each of these has one sum for each of `_grids`.
        """
        found = [self._chords(level, *grid) for grid in self._grids(level, self.refinement)]
        return tuple(zip(*found, strict=True))

    def _chords(self, level: int, spacing: float, nodes: np.ndarray) -> Iterator[LossSum]:
        middle = len(nodes) // 2
        for delta in self._step_curves(nodes * spacing):
            # Keep one node beyond the last one that matters; what is left is infinite loss.
            last = max(np.count_nonzero(delta * self.steps > CUTS[level]), 1)
            end = min(max(last, middle + 1) + 1, nodes.size)
            # The curve for "replace" mirrors itself: cut off as much below as above.
            kept = slice(nodes.size - end if self.adjacency == "replace" else 0, end)
            yield LossSum(chords(nodes[kept], delta[kept], spacing), self.steps)

    @cached_by_object
    def _below(self, level: int) -> tuple[tuple[LossSum, float], ...]:
        """Return losses of better pairs on each grid, with a record removed and with one added.

        Every step has the loss of the grid plus the offset.
        """
        return tuple(
            each
            for refinement in _BELOW
            for grid in self._grids(level, refinement)
            for each in self._merged(*grid)
        )

    def _merged(self, spacing: float, nodes: np.ndarray) -> Iterator[tuple[LossSum, float]]:
        losses = nodes * spacing
        for tails in self._step_tails(losses):
            found, offset = _centred(*cells(losses, *tails), spacing)
            places, masses = on_grid(*found, spacing)
            yield LossSum(distribution(places, masses, spacing), self.steps), offset

    def _grids(self, level: int, refinement: int) -> Iterator[tuple[float, np.ndarray]]:
        """Yield spacings, and nodes in their unit that are their own mirror image.

        The first grid is fine and takes losses beyond its last node as infinite. If these matter,
        the next grid reaches them: heavy-tailed noise needs the first at small epsilon and the next
        at large epsilon.
        """
        top = self._largest_that_matters(level)
        if not top:
            # All positive losses count as infinite.
            yield 1.0, np.arange(-1, 2)
            return
        # The grid has to resolve the bulk of the losses, within +-ln(1 - q), and the sum of many
        # steps reaches further than one step.
        size = max(_SIZE / math.sqrt(self.steps), _LEAST_SIZE)
        spacing = min(self.rate / 40, top / size, _LARGEST_SPACING)
        for reach in np.unique(np.minimum(top, _REACHES)):
            wide = spacing * max(reach / _REACHES[0], 1.0)
            wide = max(wide, self._range_of_sum(reach, level) / _MOST_PLACES)
            yield wide, _nodes(reach / wide, refinement * _NODES_PER_SIDE[level])

    def _largest_that_matters(self, level: int) -> float:
        """Return the largest loss that matters, to a factor of 2; 0 if none does."""
        top = _REACHES[0]
        if not self._matters(0.0, level):
            return 0.0
        while self._matters(top, level) and top < _REACHES[-1]:
            top *= 2
        while top > _LEAST_LOSS and not self._matters(top / 2, level):
            top /= 2
        return top

    def _range_of_sum(self, reach: float, level: int) -> float:
        """Return how far above its mean a sum of losses up to `reach` matters, by Chernoff's bound.

        The bound is that of a mirrored pair, close enough to choose a grid.
        """
        losses = reach * np.geomspace(1e-9, 1.0, 200)
        curve = np.minimum.accumulate(self._step_upper(*self._removed(losses), losses))
        masses, losses = chord_masses(losses, curve, 1.0)[1:], losses[1:]
        orders = np.geomspace(1e-6, 600.0, 100)[:, None] / reach
        up, down = np.expm1(orders * losses), np.exp(-losses) * np.expm1(-orders * losses)
        moments = self.steps * np.log1p((up + down) @ masses)
        mean = self.steps * float(masses @ (-losses * np.expm1(-losses)))
        return float(((moments - math.log(CUTS[level])) / orders[:, 0]).min()) - mean

    def _matters(self, loss: float, level: int) -> bool:
        """Return whether one step's delta matters at this loss."""
        losses = np.array([loss])
        delta = self._step_upper(*self._removed(losses), losses)[0]
        return bool(delta * self.steps > CUTS[level])

    def _step_curves(self, losses: np.ndarray) -> list[np.ndarray]:
        """Return upper bounds of one step's delta at losses that are their own mirror image."""
        removed = self._step_upper(*self._removed(losses), losses)
        if self.adjacency == "add-remove":
            return [removed, self._step_upper(*self._added(losses), losses)]
        right = losses >= 0
        mirrored = at_negative(losses[losses > 0], removed[losses > 0])
        return [np.r_[mirrored[::-1], removed[right]]]

    def _step_upper(self, base: np.ndarray, weight: np.ndarray, losses: np.ndarray) -> np.ndarray:
        """Return an upper bound of one step's delta at losses of either sign."""
        upper = np.where(base > 0, 0.0, -np.expm1(np.minimum(losses, 0.0)))
        needed = np.isfinite(base)
        sizes = np.abs(base[needed])
        found = np.asarray(self.step.delta(sizes).upper)
        signed = np.where(base[needed] < 0, at_negative(sizes, found), found)
        upper[needed] = weight[needed] * signed
        return upper

    def _step_tails(self, losses: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return P(L > e), Q(L > e) and their difference, for a record removed and for one added.

        They follow from the tails of the pair (P0, Q0) of `step` at b. Removing compares
        (1 - q) Q0 + q P0 with Q0; adding has the losses of removing with their signs turned.
        """
        base, _ = self._removed(losses)
        _, without, gain = self._base_tails(base)
        removed = without + self.rate * gain, without, self.rate * gain
        # Adding needs L < -e of removing. By symmetry this tail, below b, mirrors the one above -b.
        base, _ = self._removed(-losses)
        without, _, gain = self._base_tails(-base)
        return [removed, (without, without - self.rate * gain, self.rate * gain)]

    def _base_tails(self, base: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return P0(L0 > b), Q0(L0 > b) and their difference at any b, +-inf included."""
        size = np.abs(np.clip(base, -1e300, 1e300))
        upper, other, gain = tails_of_pair(
            size, np.asarray(self.step.delta(size).value), self.step.survival(size)
        )
        negative = base < 0
        # P0(L0 > -b) = 1 - Q0(L0 >= b) by symmetry.
        return np.where(negative, 1 - other, upper), np.where(negative, 1 - upper, other), gain


def _crossing(excess: Callable[[float], float], start: float) -> float:
    """Return the root of a falling function, to 5e-4.

    Raises ValueError if none is within about 64 of `start`.
    """
    sign = 1 if excess(start) > 0 else -1
    near, far = start, start + 0.25 * sign
    while excess(far) * sign > 0:
        near, far = far, far + 2 * (far - near)
        if abs(far - start) > _LARGEST_LOG_FACTOR:
            raise ValueError("no multiple of this noise keeps the budget of the run")
    return scipy.optimize.brentq(excess, min(near, far), max(near, far), xtol=5e-4)


def _centred(
    masses: np.ndarray, losses: np.ndarray, spacing: float
) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Return the cells less an offset, and the offset: the loss of most mass, if one place has it.

    Without the offset that mass would move to a place beside its loss in every step.
    """
    median = losses[np.searchsorted(np.cumsum(masses), masses.sum() / 2)]
    bulk = np.abs(losses - median) < spacing / 2
    mass = masses[bulk].sum()
    if mass < 0.5:
        return (masses, losses), 0.0
    offset = median - math.log1p(float(masses[bulk] @ np.expm1(median - losses[bulk])) / mass)
    low, high = (np.flatnonzero(bulk)[end] for end in (0, -1))
    masses = np.r_[masses[:low], mass, masses[high + 1 :]]
    return (masses, np.r_[losses[:low], offset, losses[high + 1 :]] - offset), offset


def _nodes(reach: float, count: int) -> np.ndarray:
    """Return 0, at most `count` ever sparser whole numbers to `reach`, and their mirror images."""
    side = np.unique(np.round(np.geomspace(1, reach, count)).astype(int))
    return np.r_[-side[::-1], 0, side]
