"""Independent releases: their privacy-loss distributions, convolved by FFT.

Two discretisations of the loss L of one release enclose the truth. With nodes
0 <= e_0 < ... < e_n, mirrored to the negative side by the symmetry of the pair:

- above: the profile is convex in e^epsilon, so that chords between its values at the nodes are
  the profile of a worse pair (connect the dots, Doroshenko et al. 2022, Algorithm 1);
- below: merging all outputs whose loss lies between two nodes into a cell, with the loss
  log(P(cell) / Q(cell)), is post-processing and gives a better pair. So does merging a cell with a
  part of those below, chosen at random, such that the common loss is on the convolution's grid.

Both orders survive composition (Zhu, Dong and Wang 2022, Theorem 10; the proof also holds for
measures of mass below one, so that the mass beyond e_n counts as infinite loss above, and as the
loss e_n below).

An FFT errs by 1e-12 of all mass, and delta may be far smaller. The masses are therefore tilted:
with p_t(l) = p(l) e^(t l) / Z(t), Z(t) = E e^(t L), k releases have

    delta(epsilon) = Z(t)^k e^(-t epsilon) sum_{s > epsilon} g_t(s) e^(-t (s - epsilon))
                     (1 - e^(epsilon - s)),

where g_t is the convolution of p_t. At the t that makes the factor least (Chernoff's bound), the
likely sums are those near epsilon, and the error of the FFT is relative to delta. The losses of a
release are cut off where delta is far below the values of interest: see `CUTS`.

The chords err upwards about twice as much as the merged cells err downwards, to leading order in
the spacing of the nodes, so that the reported value weighs them 1 : 2. Its relative error against
closed forms is mostly within 1e-6. It reaches a sixth if the losses of a release are very large
(Gaussians with mu of 20 or more) or the releases very many (10^5 or more). The bounds then still
hold, but are wide.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, complex_power
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# Losses are cut off where delta of all releases falls to these values. Each cut serves deltas that
# are at least RESOLVED times as large, and the next cut smaller ones. Between two cuts the curve
# changes over gradually, within two decades, so that it stays continuous.
CUTS = (1e-15, 1e-45, 1e-130, 1e-295)
RESOLVED = 1e5
_LOG_TURN = math.log(1e2)
# A search for a target ignores a delta whose logarithm is this far below that of the target.
_FAR = 5.0
# Allowance for the FFT in the tilted mean of a payoff of at most 1: about ten times the largest
# error seen against closed forms.
FFT_ERROR = 1e-12
# e^-_CERTAIN is negligible beside 1.
_CERTAIN = 40.0
# The most places of a grid on which a sum is computed: some hundreds of MiB.
_MOST_PLACES = 1 << 24
# The largest tilted mass of the sums that wrap around.
_WRAPPED = 1e-15
# Tilts are rounded to this many per factor of e, so that nearby epsilons share a tilt.
_TILTS_PER_E = 4
# A loss at most this share of the spacing below a place differs from it by rounding: it counts as
# the loss of the place.
_ROUNDED = 1e-8
# The number of losses at which a profile is evaluated, for each of CUTS: a steep tail needs more.
_NODES = (512, 1024, 2048, 2048)
_GRID = 1 << 16
# If larger losses matter, a second grid of as many nodes ends here. The losses beyond count as
# infinite in the upper bound, and as this loss in the lower bound.
_FINE = 60.0
# Weight of the curve above in the value: merged cells err half as much as chords.
_SHARE_ABOVE = 1 / 3
_SAMPLES_AT_ONCE = 1 << 22


def cached_by_object(method: Callable) -> Callable:
    """Wrap a method: its results are kept as long as the object, which need not have a hash."""

    @functools.wraps(method)
    def cached(self, *args):
        known = vars(self).setdefault(f"known {method.__name__}", {})
        if args not in known:
            known[args] = method(self, *args)
        return known[args]

    return cached


@dataclass(frozen=True, kw_only=True, eq=False)
class LossDistribution:
    """Masses of the losses places * spacing, in rising order, and of infinite loss.

    places, masses: (n,), whole numbers and masses > 0. Compared by identity.
    """

    spacing: float
    places: np.ndarray
    masses: np.ndarray
    infinite: float = 0.0


class _Tail:
    """delta of a sum of losses at the places from `low` on, divided by e^(log_mass - tilt * loss).

    Beyond _MOST_PLACES only the mass is known, which bounds delta; `log_error` is then 0.
    """

    def __init__(self, law: LossDistribution, times: int, tilt: float):
        spacing, places = law.spacing, law.places
        logs = np.log(law.masses) + tilt * spacing * places
        weights = np.exp(logs - logs.max())
        total = weights.sum()
        self.tilt, self.spacing = tilt, spacing
        self.log_mass = times * float(logs.max() + np.log(total))
        low, high = _likely_places(places, weights / total, times)
        self.low = low
        first = int(places[0]) * times
        if first > 0:
            # All losses whose mass is not 0 in floating point are above 0. Far enough below the
            # first sum, delta is the whole mass.
            self.low = min(low, max(first - math.ceil(_CERTAIN / spacing), 0))
        self.known = high - self.low < _MOST_PLACES
        self.log_error = math.log(fft_error(times)) if self.known else 0.0
        if not self.known:
            return
        likely = _likely_masses(places, weights / total, times, low, high)
        self.deltas = _deltas(np.r_[np.zeros(low - self.low), likely], spacing, tilt)

    def log_delta(self, epsilon: np.ndarray) -> np.ndarray:
        """Interpolate delta, linear in e^epsilon between the losses of the grid; return its log."""
        if not self.known:
            return np.full(epsilon.shape, -np.inf)
        h, last = self.spacing, self.deltas.size - 1
        position = np.clip(epsilon / h - self.low, 0.0, last)
        cell = np.minimum(position.astype(int), last - 1)
        # expm1(part h) / expm1(h), in terms that cannot overflow.
        part = position - cell
        share = np.exp((part - 1) * h) * (np.expm1(-part * h) / np.expm1(-h))
        left, right = self.deltas[cell], self.deltas[cell + 1] * np.exp(-self.tilt * h)
        scaled = np.maximum(left + share * (right - left), 0.0)
        return self.log_mass - self.tilt * h * (self.low + cell) + np.log(scaled)


class LossSum:
    """The sum of `times` independent losses with one distribution."""

    def __init__(self, law: LossDistribution, times: int):
        self.law, self.times, self.spacing = law, times, law.spacing
        self.largest = self.spacing * (int(law.places[-1]) * times)
        with np.errstate(divide="ignore"):
            log_finite = times * np.log1p(-law.infinite)
            self.log_infinite = float(np.log(-np.expm1(log_finite)))
        # Keep as many tails as memory allows, for this object alone.
        self._tail = functools.lru_cache(maxsize=16)(functools.partial(_Tail, law, times))

    def log_delta(self, epsilon: np.ndarray, *, tilted: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return log delta of the sum and the log of the allowance for its error.

        epsilon: flat array. tilted: whether to tilt the masses towards each epsilon. delta includes
        the mass of infinite losses.
        """
        value, error = np.full((2, epsilon.size), -np.inf)
        inside = np.flatnonzero(epsilon < self.largest)
        tilts = np.array([self._tilt(e) if tilted else 0.0 for e in epsilon[inside].tolist()])
        with np.errstate(divide="ignore"):
            for tilt in np.unique(tilts):
                at = inside[tilts == tilt]
                tail = self._tail(float(tilt))
                value[at] = tail.log_delta(epsilon[at])
                # The largest payoff e^(-t x) (1 - e^-x), x = s - epsilon.
                reach = self.largest - epsilon[at]
                best = np.minimum(reach, np.log1p(1 / tilt)) if tilt else reach
                payoff = np.log(-np.expm1(-best)) - tilt * best
                error[at] = tail.log_error + tail.log_mass - tilt * epsilon[at] + payoff
        return np.logaddexp(value, self.log_infinite), error

    @cached_by_object
    def _log_moment(self, step: int) -> float:
        """Return log E e^(t L) of the sum, less log t (t + 1), at t = e^(step / _TILTS_PER_E)."""
        tilt = math.exp(step / _TILTS_PER_E)
        total = -math.log(tilt) - math.log1p(tilt)
        logs = np.log(self.law.masses) + tilt * self.spacing * self.law.places
        return total + self.times * float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))

    def _tilt(self, epsilon: float) -> float:
        """Return the tilt near the saddle point, at which the log-convex integrand is least."""
        widest = self.spacing * int(np.abs(self.law.places).max())
        # Tilts beyond a few per spacing give all of the mass to the last place.
        steepest = min(1e10 / widest, 4.0 / self.spacing)
        low, high = (round(_TILTS_PER_E * math.log(t)) for t in (1e-4 / widest, steepest))
        while low < high:
            middle = (low + high) // 2
            here, there = (math.exp(step / _TILTS_PER_E) for step in (middle, middle + 1))
            if self._log_moment(middle + 1) - self._log_moment(middle) < (there - here) * epsilon:
                low = middle + 1
            else:
                high = middle
        return math.exp(low / _TILTS_PER_E)


def _deltas(sums: np.ndarray, spacing: float, tilt: float) -> np.ndarray:
    """Return D_i = sum_{j > i} g_j a^(j - i) (1 - c^(j - i)) at every place i.

    g: the sums, a = e^(-t h), c = e^-h for the tilt t and the spacing h. With
    I_i = g_i + a c I_{i+1}, D_i = a (D_{i+1} + (1 - c) I_{i+1}), which takes no differences, from
    the right end.
    """
    shifted = np.r_[0.0, sums[:0:-1]]
    inside = scipy.signal.lfilter([1.0], [1.0, -np.exp(-(tilt + 1) * spacing)], shifted)
    decay = np.exp(-tilt * spacing)
    return scipy.signal.lfilter([decay * -np.expm1(-spacing)], [1.0, -decay], inside)[::-1]


def _likely_places(places: np.ndarray, weights: np.ndarray, times: int) -> tuple[int, int]:
    """Return two places outside which the sum has a mass of at most _WRAPPED.

    They follow from Chernoff's bounds at several orders, below and above 0.
    """
    orders = np.geomspace(1e-3, 20.0, 20) / (int(places[-1] - places[0]) + 1)
    orders = np.r_[-orders, orders]
    kept = weights > 0
    exponents = np.log(weights[kept]) + orders[:, None] * places[kept]
    top = exponents.max(axis=1)
    moments = times * (top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))
    found = (moments - math.log(_WRAPPED / 2)) / orders
    low = max(int(places[0]) * times, math.floor(found[orders < 0].max()))
    return low, max(min(int(places[-1]) * times, math.ceil(found[orders > 0].min())), low + 1)


def _likely_masses(
    places: np.ndarray, weights: np.ndarray, times: int, low: int, high: int
) -> np.ndarray:
    """Return the masses of the sum from place `low` to `high`; sums outside wrap around.

    Masses that are negative by rounding stay: without them the positive errors would add up.
    """
    length = scipy.fft.next_fast_len(high - low + 1, real=True)
    circle = np.bincount((places - places[0]) % length, weights, length)
    if times > 1:
        circle = scipy.fft.irfft(complex_power(scipy.fft.rfft(circle), times), length)
    return np.roll(circle, int(places[0]) * times - low)[: high - low + 1]


def rounded_up(spacing: float, number: int) -> float:
    """Return the most that rounding in `on_grid` adds to the sum of `number` losses."""
    return _ROUNDED * spacing * number


def fft_error(number: int) -> float:
    """Return the allowance for the FFT in a payoff of at most 1 of the sum of `number` losses."""
    return FFT_ERROR + 2 * ULP * number


def log_less(log_value: np.ndarray, log_error: np.ndarray) -> np.ndarray:
    """Return the log of a value less its error, from their logs; -inf if nothing is left."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = log_value + np.log1p(-np.exp(np.minimum(log_error - log_value, 0.0)))
    return np.where(np.isnan(left), -np.inf, left)


def by_level(
    epsilon: np.ndarray,
    curves: Callable[[int, np.ndarray], np.ndarray],
    number: int,
    least: float | np.ndarray = -math.inf,
) -> np.ndarray:
    """Return curves of the sum of `number` losses, from the levels of `CUTS` that resolve them.

    The curves have the shape (k, n).

    curves: Maps a level and epsilon (n,) to logarithms (k, n), the upper bound in the last row.
    least: Logarithm below which an upper bound is not resolved further.
    """
    found = curves(0, epsilon)
    # Without a tilt the error of the FFT is absolute.
    resolved = [max(CUTS[0] * RESOLVED, 100 * fft_error(number)), *(RESOLVED * c for c in CUTS[1:])]
    for level in range(1, len(CUTS)):
        above = found[-1] - math.log(resolved[level - 1])
        low = (above < _LOG_TURN) & (found[-1] >= least)
        if not low.any():
            break
        share = np.clip(above[low] / _LOG_TURN, 0.0, 1.0)
        with np.errstate(invalid="ignore"):
            mixed = share * found[:, low] + (1 - share) * (finer := curves(level, epsilon[low]))
        found[:, low] = np.where(share > 0, np.where(np.isnan(mixed), -np.inf, mixed), finer)
    return found


@dataclass(frozen=True, kw_only=True)
class ComposedProfile(PrivacyProfile):
    """Profile of `times` independent releases, each with the profile `base`; times >= 1.

    `base` must know P(L > epsilon) and be symmetric, else ValueError. Apart from the FFT, for which
    the bounds allow 1e-12 of the tilted mass, the upper bound of delta is proven if that of `base`
    is, and the lower bound if the value of `base` is exact. The first use computes the sums of
    losses.
    """

    base: PrivacyProfile
    times: int

    calibrated_curve = "upper"

    def __post_init__(self) -> None:
        check_count("times", self.times)
        if not self.base.symmetric:
            raise ValueError(
                f"base must be the profile of a symmetric pair, got {type(self.base).__name__}; "
                "compose its closed form"
            )

    @property
    def largest_loss(self) -> float:
        return self.times * self.base.largest_loss

    @property
    def attains_largest_loss(self) -> bool:
        """Whether the profile of a single release attains its largest loss."""
        return self.base.attains_largest_loss

    @property
    def loss_power(self) -> float:
        """The `loss_power` of a single release."""
        return self.base.loss_power

    def compose(self, times: int) -> PrivacyProfile:
        return ComposedProfile(base=self.base, times=self.times * check_count("times", times))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return ComposedProfile(base=self.base.scaled(factor), times=self.times)

    @property
    def floor(self) -> float:
        """1e15 times the floor of the base, which is evaluated far below delta; at least 1e-290."""
        return max(CUTS[-1] * RESOLVED, self.base.floor / CUTS[0])

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Draw sums of `times` losses of one release."""
        total = np.empty(check_count("n", n))
        at_once = max(1, _SAMPLES_AT_ONCE // self.times)
        for start in range(0, n, at_once):
            count = min(at_once, n - start)
            single = self.base.sample_losses(rng, count * self.times, reverse=reverse)
            total[start : start + count] = single.reshape(count, self.times).sum(axis=1)
        return total

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        return self._log_delta_near(epsilon, np.full(epsilon.shape, -np.inf))

    def _log_delta_near(self, epsilon: np.ndarray, log_target: np.ndarray) -> Bounds:
        def curves(level: int, at: np.ndarray) -> np.ndarray:
            fine, *wide = (self._curves(level, reach, at) for reach in self._reaches(level))
            if not wide:
                return fine
            both = np.array([fine, *wide])
            lower, upper = both[:, 0].max(axis=0), both[:, 2].min(axis=0)
            with np.errstate(invalid="ignore"):
                gap = np.nan_to_num(both[:, 2] - both[:, 0], nan=0.0)
            value = np.take_along_axis(both[:, 1], gap.argmin(axis=0)[None], axis=0)[0]
            return np.array([lower, np.clip(value, lower, upper), upper])

        found = by_level(epsilon, curves, self.times, log_target - _FAR)
        found[:, epsilon >= self.largest_loss] = -np.inf
        lower, value, upper = found
        proved, most = self._as_run.log_apart(epsilon)
        upper = np.minimum(upper, most)
        lower = np.minimum(np.maximum(lower, proved), upper)
        return Bounds(lower, np.clip(value, lower, upper), upper)

    def _curves(self, level: int, reach: float, at: np.ndarray) -> np.ndarray:
        """Return logs of a lower bound, a value and an upper bound, on the grid up to `reach`."""
        above, above_error = self._sum("above", level, reach).log_delta(at, tilted=level > 0)
        better = self._sum("below", level, reach)
        below, _ = better.log_delta(at, tilted=level > 0)
        proven = better.log_delta(at + rounded_up(better.spacing, self.times), tilted=level > 0)
        lower = log_less(*proven)
        upper = np.maximum(np.logaddexp(above, above_error), lower)
        shares = math.log(_SHARE_ABOVE), math.log1p(-_SHARE_ABOVE)
        value = np.logaddexp(above + shares[0], below + shares[1])
        return np.array([lower, np.clip(value, lower, upper), upper])

    def _log_calibrated(self, epsilon):
        # Half of the work: the upper bound does not need the better pair.
        def curve(level: int, at: np.ndarray) -> np.ndarray:
            sums = (self._sum("above", level, reach) for reach in self._reaches(level))
            found = [np.logaddexp(*each.log_delta(at, tilted=level > 0)) for each in sums]
            return np.min(found, axis=0)[None]

        if epsilon >= self.largest_loss:
            return -math.inf
        at = np.array([float(epsilon)])
        return float(min(by_level(at, curve, self.times)[0, 0], self._as_run.log_apart(at)[1][0]))

    def _resolution(self, delta):
        # Rounding moves delta by about a hundredth of the allowance for it.
        return float(np.clip(1e-2 * FFT_ERROR / delta, super()._resolution(delta), 1e-7))

    @cached_property
    def _as_run(self):
        """The same releases as a run, with bounds for losses too rare for a grid."""
        # Imported here, because that module imports this one.
        from mechanisms.privacy.sampling.poisson_sampling import SampledRun

        return SampledRun(step=self.base, rate=1.0, steps=self.times)

    def _reaches(self, level: int) -> tuple[float, ...]:
        """Return the largest loss of each grid: heavy-tailed noise needs a fine and a wide one."""
        return (_FINE, math.inf) if self._last_loss(level) > _FINE else (math.inf,)

    @cached_by_object
    def _last_loss(self, level: int) -> float:
        """Return the loss of one release beyond which losses do not matter."""
        return top_loss(self.base, CUTS[level] / self.times)

    @cached_by_object
    def _sum(self, side: str, level: int, reach: float) -> LossSum:
        """Return the sum of losses of a worse ("above") or a better pair ("below") on one grid."""
        spacing, nodes, delta = self._grid(level, reach)
        if side == "above":
            law = _symmetric_chords(nodes, delta.upper, spacing)
        else:
            law = symmetric_cells(self.base, nodes, delta.value, spacing)
        return LossSum(law, self.times)

    @cached_by_object
    def _grid(self, level: int, reach: float) -> tuple[float, np.ndarray, Bounds]:
        """Return the spacing, the nodes from 0 on in its unit, and delta of one release there."""
        top = min(self._last_loss(level), reach)
        # The composed loss spreads like sqrt(times): a coarser grid keeps the FFT affordable.
        size = int(_GRID / max(1.0, np.sqrt(self.times) / 4))
        spacing, places = 1.0, np.zeros(1, dtype=int)
        if top:
            # Rounded up, because near the largest loss delta changes within a few ulps.
            spacing, places = top / size * (1 + 8 * ULP), nodes_up_to(size, _NODES[level])
        # The last node may lie off the largest loss by rounding.
        at = np.minimum(places * spacing, max(top, places[-1] * spacing * (1 - 1e-9)))
        at[-1] = max(at[-1], top)
        # Rounding of delta at the largest loss must not become infinite loss.
        possible = at < self.base.largest_loss
        delta = Bounds(*(possible * np.asarray(each) for each in self.base.delta(at)))
        return spacing, places, delta


def top_loss(profile: PrivacyProfile, cut: float) -> float:
    """Return the loss beyond which delta of one release is below the cut, or the floor if larger.

    Raises ValueError if delta stays above.
    """
    top = float(profile.epsilon(max(cut, profile.floor)).upper)
    if not np.isfinite(top):
        raise ValueError(
            f"the loss of {profile} is infinite with a probability above {cut:g}: it has no "
            "distribution on a grid"
        )
    # The largest loss may be an atom: if it is this close, it has to lie within the grid.
    return float(profile.largest_loss) if top > 0.999 * profile.largest_loss else top


def nodes_up_to(size: int, count: int) -> np.ndarray:
    """Return at most `count` whole numbers from 0 to `size`, half evenly and half geometrically."""
    even = np.linspace(0, size, count // 2)
    geometric = np.geomspace(1, size, count // 2)
    return np.unique(np.round(np.r_[even, geometric]).astype(int))


def _symmetric_chords(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> LossDistribution:
    """Draw chords through a symmetric profile at nodes * spacing and their mirror images.

    nodes: increasing integers from 0 on. delta: the profile there. A loss of -l has e^-l times the
    mass of l; the rest of the mass has loss zero.
    """
    delta = np.minimum.accumulate(delta)
    positive = chord_masses(nodes, delta, spacing)[1:]
    return _mirrored(nodes[1:], positive, spacing, float(delta[-1]))


def symmetric_cells(
    profile: PrivacyProfile, nodes: np.ndarray, delta: np.ndarray, spacing: float
) -> LossDistribution:
    """Return a better pair than that of a symmetric profile.

    nodes: increasing integers from 0 on. delta: the profile at nodes * spacing.
    """
    # An atom at the largest loss lies beyond the last node.
    losses = np.minimum(nodes * spacing, np.nextafter(profile.largest_loss, 0.0))
    merged = cells(losses, *tails_of_pair(losses, delta, profile.survival(losses)))
    return _mirrored(*on_grid(*merged, spacing), spacing, 0.0)


def chord_masses(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> np.ndarray:
    """Return the masses of chords at all nodes; the first has no left chord, and mass 0."""
    gap, fall = np.diff(nodes) * spacing, -np.diff(delta)
    # The fall over a gap is (1 - e^-gap) e^e Q(L >= e) with e its right end: Algorithm 1.
    from_left = np.r_[0.0, fall / -np.expm1(-gap)]
    from_right = np.r_[np.exp(-gap) * fall / -np.expm1(-gap), 0.0]
    return np.maximum(from_left - from_right, 0.0)


def _mirrored(
    places: np.ndarray, masses: np.ndarray, spacing: float, infinite: float
) -> LossDistribution:
    """Return the masses of positive losses, their mirror images, and what is left at zero."""
    places, masses = places[places > 0], masses[places > 0]
    mirrored = masses * np.exp(-spacing * places)
    zero = max(1.0 - infinite - masses.sum() - mirrored.sum(), 0.0)
    return distribution(
        np.r_[-places[::-1], 0, places], np.r_[mirrored[::-1], zero, masses], spacing, infinite
    )


def distribution(
    places: np.ndarray, masses: np.ndarray, spacing: float, infinite: float = 0.0
) -> LossDistribution:
    """Drop the places that have no mass; if none has any, keep a negligible mass at 0."""
    kept = masses > 0
    if not kept.any():
        places, masses, kept = np.zeros(1, dtype=int), np.full(1, 1e-300), np.ones(1, dtype=bool)
    return LossDistribution(
        spacing=spacing, places=places[kept], masses=masses[kept], infinite=infinite
    )


def at_negative(epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Return delta(-epsilon) = 1 - e^(-epsilon) (1 - delta(epsilon)) for a symmetric pair."""
    return -np.expm1(-epsilon) + np.exp(-epsilon) * delta


def chords(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> LossDistribution:
    """Connect the dots: return a worse pair, whose profile has `delta` at nodes * spacing.

    nodes: increasing integers, two or more. The last delta becomes the mass of infinite loss.
    """
    delta = np.minimum.accumulate(delta)
    masses = chord_masses(nodes, delta, spacing)
    masses[0] = max(1.0 - delta[-1] - masses.sum(), 0.0)
    return distribution(nodes, masses, spacing, float(delta[-1]))


def tails_of_pair(
    losses: np.ndarray, delta: np.ndarray, survival: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return P(L > e), Q(L > e) and their (maybe far smaller) difference at losses e >= 0."""
    fall = np.exp(-losses)
    other = fall * np.maximum(survival - delta, 0.0)
    return survival, other, -np.expm1(-losses) * survival + fall * delta


def cells(
    nodes: np.ndarray, survival: np.ndarray, other: np.ndarray, gain: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the masses and rising losses of the cells of a better pair, above the first node.

    nodes: rising losses e. survival, other, gain: P(L > e), Q(L > e) and their difference there. A
    cell between two nodes has one loss. The mass beyond the last node has the loss of that node.
    """
    mass_p = np.maximum(-np.diff(survival, append=0.0), 0.0)
    mass_q = np.maximum(-np.diff(other, append=0.0), 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = -np.diff(gain, append=0.0) / mass_p
        near = np.abs(share) < 0.5
        losses = np.where(near, -np.log1p(-np.where(near, share, 0.0)), np.log(mass_p / mass_q))
    # Beyond a loss of some 700 Q(cell) underflows. The cell gets the loss of its left end, which
    # makes the pair better still.
    losses[(mass_q < np.finfo(float).tiny) | (mass_p == 0)] = -np.inf
    losses = losses.clip(nodes, np.r_[nodes[1:], nodes[-1]])
    kept = mass_p > 0
    return mass_p[kept], losses[kept]


def on_grid(
    masses: np.ndarray, losses: np.ndarray, spacing: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and masses of a better pair than that of cells with rising losses.

    A cell whose loss lies between two places is merged with as much of the cells below as moves it
    to the lower place. Rounding may make losses too large, see `rounded_up`.
    """
    found: dict[int, float] = {}
    mass = loss = 0.0
    for next_mass, next_loss in zip(masses[::-1].tolist(), losses[::-1].tolist(), strict=True):
        if mass:
            place = math.floor(loss / spacing + _ROUNDED)
            needed = math.inf
            if (reach := place * spacing - next_loss) > 0:
                surplus = max(-math.expm1(place * spacing - loss), 0.0)
                needed = mass * surplus / math.expm1(min(reach, 700.0))
            if needed >= next_mass:
                mass += next_mass
                share = (mass - next_mass) / mass
                loss = next_loss - math.log1p(share * math.expm1(next_loss - loss))
                continue
            found[place] = found.get(place, 0.0) + mass + needed
            next_mass -= needed
        mass, loss = next_mass, next_loss
    if mass:
        # No cell is left below: drop mass under P until the loss falls to the lower place.
        place = math.floor(loss / spacing + _ROUNDED)
        rest = mass * math.exp(min(place * spacing - loss, 0.0))
        found[place] = found.get(place, 0.0) + rest
    places = np.array(sorted(found), dtype=int)
    return places, np.array([found[place] for place in places.tolist()])
