"""Independent releases: their privacy-loss distributions, convolved by FFT.

Two discretisations of the loss L of one release enclose the truth. With nodes
0 <= e_0 < ... < e_n, mirrored to the negative side by the symmetry of the pair:

- above: the profile is convex in e^epsilon, so that chords between its values at the nodes are
  the profile of a worse pair (connect the dots, Doroshenko et al. 2022, Algorithm 1);
- below: merging all outputs whose loss lies between two nodes is post-processing; the cell then
  has loss log P(cell) / Q(cell), and gives a better pair. So does a cell that is merged with a part
  of the next one, chosen at random, such that their common loss is on the grid of the convolution.

Both orders survive composition (Zhu, Dong and Wang 2022, Theorem 10; the proof also holds for
measures of mass below one, so that the mass beyond e_n counts as infinite loss above, and as the
loss e_n below).

An FFT errs by 1e-12 of all mass, and a delta may be far smaller. The masses are therefore tilted:
with p_t(l) = p(l) e^(t l) / Z(t), Z(t) = E e^(t L), k releases have

    delta(epsilon) = Z(t)^k e^(-t epsilon) sum_{s > epsilon} g_t(s) e^(-t (s - epsilon))
                     (1 - e^(epsilon - s)),

g_t the convolution of p_t. At the t that makes the factor least (Chernoff's bound) the sums near
epsilon are the likely ones, and the error of the FFT is relative to delta. The losses of a release
are cut off far below the delta that is asked for: `CUTS`.

The chords err upwards about twice as much as the merged cells err downwards, to leading order in
the spacing of the nodes: the value that is reported weighs them 1 : 2. Its relative error against
closed forms is mostly within 1e-6. It reaches a sixth where the losses of a release are very large
(Gaussians with mu of 20 or more) or the releases very many (10^5 or more): there the bounds hold
too, but are wide.
"""

import functools
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, complex_power
from mechanisms.privacy.profile import Bounds, PrivacyProfile, check_count

# delta of all releases at which their losses are cut off. Each serves what is RESOLVED times as
# large, and the next one what is smaller; over two decades they take turns gradually, so that the
# curves stay continuous.
CUTS = (1e-15, 1e-45, 1e-130, 1e-295)
RESOLVED = 1e5
_LOG_TURN = math.log(1e2)
# Below a target by this in its logarithm, delta has no part in a search for the target.
_FAR = 5.0
# Of the FFT in the tilted mean of a payoff of at most 1: about ten times the largest seen against
# closed forms.
FFT_ERROR = 1e-12
# e^-_CERTAIN is nothing beside 1.
_CERTAIN = 40.0
# Places of a sum beyond which none is computed: some hundreds of MiB.
_MOST_PLACES = 1 << 24
# Mass, tilted, of the sums that wrap around.
_WRAPPED = 1e-15
# Tilts are rounded to so many in a factor of e, so that nearby epsilons share one.
_TILTS_PER_E = 4
# A loss that lies below a place by rounding alone, by this part of a place, is that of the place.
_ROUNDED = 1e-8
# Losses at which a profile is evaluated at each level: a steep tail asks for more.
_NODES = (512, 1024, 2048, 2048)
_GRID = 1 << 16
# Where larger losses matter, a second grid of as many nodes ends here: what lies beyond is infinite
# in the upper bound, and of this loss in the lower one.
_FINE = 60.0
_SAMPLES_AT_ONCE = 1 << 22


# Losses that are summed: places, masses and how many with them. Of the sum the first and the last
# place that matter, and what computes the masses there.
Parts = list[tuple[np.ndarray, np.ndarray, int]]
Likely = tuple[tuple[int, int], Callable[[], np.ndarray]]


@dataclass(frozen=True, kw_only=True, eq=False)
class LossDistribution:
    """Masses of the losses places * spacing, in rising order, and of infinite loss.

    Equal to itself alone.
    """

    spacing: float
    places: np.ndarray
    masses: np.ndarray
    infinite: float = 0.0


class _Tail:
    """delta of a tilted sum of losses at the places from `low` on, over e^log_mass of that tilt.

    Of more than _MOST_PLACES only the mass is known, which bounds delta: `log_error` is then 0.
    """

    def __init__(
        self,
        parts: tuple[tuple[LossDistribution, int], ...],
        tilt: float,
    ):
        spacing = parts[0][0].spacing
        self.tilt, self.spacing, self.log_mass = tilt, spacing, 0.0
        tilted = []
        for each, times in parts:
            logs = np.log(each.masses) + tilt * spacing * each.places
            weights = np.exp(logs - logs.max())
            total = weights.sum()
            self.log_mass += times * float(logs.max() + np.log(total))
            tilted.append((each.places, weights / total, times))
        (low, high), masses = _likely_sums(tilted)
        self.low = low
        first = sum(int(places[0]) * times for places, _, times in tilted)
        if first > 0:
            # No loss below 0 has a mass that is not 0 in floating point. At an epsilon so far below
            # the first sum delta is the whole mass.
            self.low = min(low, max(first - math.ceil(_CERTAIN / spacing), 0))
        self.known = high - self.low < _MOST_PLACES
        self.log_error = math.log(fft_error(sum(n for _, n in parts))) if self.known else 0.0
        if not self.known:
            return
        sums = np.r_[np.zeros(low - self.low), masses()]
        self.deltas = _deltas(sums, spacing, tilt)

    def log_delta(self, epsilon: np.ndarray) -> np.ndarray:
        """Linear in e^epsilon between the losses of the grid."""
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
    """The sum of independent losses on one grid: (distribution, how many with it), one or more."""

    def __init__(self, *parts: tuple[LossDistribution, int]):
        self.parts = parts
        self.spacing = parts[0][0].spacing
        self.largest = self.spacing * sum(int(each.places[-1]) * n for each, n in parts)
        with np.errstate(divide="ignore"):
            log_finite = sum(n * np.log1p(-each.infinite) for each, n in parts)
            self.log_infinite = float(np.log(-np.expm1(log_finite)))
        # Methods that are cached per object.
        self._tail = functools.lru_cache(maxsize=16)(functools.partial(_Tail, self.parts))
        self._log_moment = functools.cache(self._moment)

    def log_delta(self, epsilon: np.ndarray, *, tilted: bool) -> tuple[np.ndarray, np.ndarray]:
        """log delta of the sum, and log of the allowance for its error; epsilon a flat array.

        The infinite losses are part of delta.
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

    def _moment(self, step: int) -> float:
        """log E e^(t L) less log t (t + 1), of the tilt e^(step / _TILTS_PER_E)."""
        tilt = math.exp(step / _TILTS_PER_E)
        total = -math.log(tilt) - math.log1p(tilt)
        for each, times in self.parts:
            logs = np.log(each.masses) + tilt * self.spacing * each.places
            total += times * float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))
        return total

    def _tilt(self, epsilon: float) -> float:
        """Near the saddle point, where the logarithm of the integrand, a convex one, is least."""
        widest = self.spacing * max(int(np.abs(each.places).max()) for each, _ in self.parts)
        # Beyond a few per place the last place has all of the mass, and what is before it vanishes.
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
    """D_i = sum_{j > i} g_j a^(j - i) (1 - c^(j - i)) at every place, a = e^(-t h), c = e^-h.

    With I_i = g_i + a c I_{i+1}, D_i = a (D_{i+1} + (1 - c) I_{i+1}): no differences, from the
    right end.
    """
    shifted = np.r_[0.0, sums[:0:-1]]
    inside = scipy.signal.lfilter([1.0], [1.0, -np.exp(-(tilt + 1) * spacing)], shifted)
    decay = np.exp(-tilt * spacing)
    return scipy.signal.lfilter([decay * -np.expm1(-spacing)], [1.0, -decay], inside)[::-1]


def _likely_sums(parts: Parts) -> Likely:
    """The first and the last place of the sum that matter, and what computes the masses there.

    Beyond is less mass than _WRAPPED. Sums of half the parts are convolved in turn, the narrow ones
    first: many parts that are narrow beside the sum take short transforms. Others are multiplied as
    they are transformed.
    """
    parts = sorted(parts, key=lambda part: part[2] * int(part[0][-1] - part[0][0]))
    ends = np.array([(int(p[0]) * times, int(p[-1]) * times) for p, _, times in parts])
    orders = _orders_of(parts)
    moments = np.array([times * _log_moments(p, mass, orders) for p, mass, times in parts])

    def limits(start: int, stop: int) -> tuple[int, int]:
        some = slice(start, stop)
        sums = ends[some].sum(axis=0), moments[some].sum(axis=0)
        return _limits_of(*sums, orders, 2 * len(parts) - 1)

    def masses(start: int, stop: int) -> np.ndarray:
        """Of that sum. Those below 0 by rounding stay: without them the others would add up."""
        low, high = limits(start, stop)
        length = scipy.fft.next_fast_len(high - low + 1, real=True)
        places, weights, times = parts[start]
        if stop - start == times == 1:
            first, circle = int(places[0]), _around(places, weights, length)
        else:
            first, spectrum = transform(start, stop, length)
            circle = scipy.fft.irfft(spectrum, length)
        return np.roll(circle, first - low)[: high - low + 1]

    def transform(start: int, stop: int, length: int) -> tuple[int, np.ndarray]:
        """Of that sum on a circle of so many places, and its first place."""
        if stop - start == 1:
            return _transform_of(*parts[start], length)
        low, high = limits(start, stop)
        if 2 * (high - low) < length:
            # Narrow ones take shorter transforms on a circle of their own.
            return low, scipy.fft.rfft(masses(start, stop), length)
        middle = (start + stop) // 2
        halves = (transform(*half, length) for half in ((start, middle), (middle, stop)))
        firsts, spectra = zip(*halves, strict=True)
        return sum(firsts), math.prod(spectra)

    return limits(0, len(parts)), lambda: masses(0, len(parts))


def _transform_of(
    places: np.ndarray, weights: np.ndarray, times: int, length: int
) -> tuple[int, np.ndarray]:
    """The first place of a sum of equal losses, and its transform on a circle from there on."""
    spectrum = scipy.fft.rfft(_around(places, weights, length))
    return int(places[0]) * times, complex_power(spectrum, times)


def _around(places: np.ndarray, weights: np.ndarray, length: int) -> np.ndarray:
    """Masses on a circle, from the first place on: sums that lie further apart wrap around."""
    return np.bincount((places - places[0]) % length, weights, length)


def _orders_of(parts: Parts) -> np.ndarray:
    """The orders of Chernoff's bounds on the sum, below and above 0."""
    sizes = [int(places[-1] - places[0]) + 1 for places, _, _ in parts]
    wider = max(sizes) / min(sizes)
    orders = np.geomspace(1e-3, 20 * wider, 20 + math.ceil(math.log(wider))) / max(sizes)
    return np.r_[-orders, orders]


def _log_moments(places: np.ndarray, weights: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """log E e^(order X) of masses at places, for each order."""
    kept = weights > 0
    exponents = np.log(weights[kept]) + orders[:, None] * places[kept]
    top = exponents.max(axis=1)
    return top + np.log(np.exp(exponents - top[:, None]).sum(axis=1))


def _limits_of(
    ends: np.ndarray, moments: np.ndarray, orders: np.ndarray, sums: int
) -> tuple[int, int]:
    """Places between its ends beyond which one of so many sums wraps its share of _WRAPPED.

    By Chernoff's bounds at all orders.
    """
    found = (moments - math.log(_WRAPPED / 2 / sums)) / orders
    low = max(int(ends[0]), math.floor(found[orders < 0].max()))
    return low, max(min(int(ends[1]), math.ceil(found[orders > 0].min())), low + 1)


def rounded_up(spacing: float, number: int) -> float:
    """What rounding in `on_grid` adds to the sum of so many losses at most."""
    return _ROUNDED * spacing * number


def fft_error(number: int) -> float:
    """Allowance for the FFT in a payoff of at most 1 of the sum of so many losses."""
    return FFT_ERROR + 2 * ULP * number


def log_less(log_value: np.ndarray, log_error: np.ndarray) -> np.ndarray:
    """log of what is left of a value less its error; -inf where that is nothing."""
    with np.errstate(invalid="ignore", divide="ignore"):
        left = log_value + np.log1p(-np.exp(np.minimum(log_error - log_value, 0.0)))
    return np.where(np.isnan(left), -np.inf, left)


def by_level(
    epsilon: np.ndarray,
    curves: Callable[[int, np.ndarray], np.ndarray],
    number: int,
    least: float | np.ndarray = -math.inf,
) -> np.ndarray:
    """Curves of the sum of `number` losses at the levels of `CUTS` that resolve them, (k, n).

    curves: from a level and epsilon (n,) to logarithms (k, n), the upper bound in the last row.
    least: What has an upper bound below it is not resolved further.
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


class ConvolvedProfile(PrivacyProfile):
    """Profile of independent releases whose losses are convolved; a subclass says which.

    Bounds of delta are proven but for an allowance for the FFT, 1e-12 of the tilted mass. The first
    use computes the sums.
    """

    calibrated_curve = "upper"
    floor = CUTS[-1] * RESOLVED
    # Of the curve above in the value: cells err half as much as chords if they are many places
    # wide, and twice as much if they are one place wide.
    _share_above = 1 / 3

    @property
    @abstractmethod
    def _releases(self) -> tuple[tuple[PrivacyProfile, int], ...]:
        """Profiles of symmetric pairs, and the number of releases with each."""

    @abstractmethod
    def _grid(self, tops: list[float], level: int) -> tuple[float, list[np.ndarray]]:
        """The spacing, and nodes in units of it for each profile, from 0 to its top."""

    @property
    def _number(self) -> int:
        return sum(times for _, times in self._releases)

    @cached_property
    def _known(self) -> dict:
        return {}

    def _at_the_top(self, epsilon: np.ndarray) -> np.ndarray:
        """log of a lower bound on delta near the largest loss, where a grid is too coarse."""
        return np.full(epsilon.shape, -np.inf)

    def _log_apart(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logs of a lower and an upper bound where losses are so rare that no grid holds them."""
        return np.full(epsilon.shape, -np.inf), np.zeros(epsilon.shape)

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

        found = by_level(epsilon.ravel(), curves, self._number, log_target.ravel() - _FAR)
        found[:, epsilon.ravel() >= self.largest_loss] = -np.inf
        lower, value, upper = found
        proved, most = self._log_apart(epsilon.ravel())
        upper = np.minimum(upper, most)
        lower = np.minimum(np.maximum(lower, proved), upper)
        value = np.clip(value, lower, upper)
        return Bounds(*(each.reshape(epsilon.shape) for each in (lower, value, upper)))

    def _curves(self, level: int, reach: float, at: np.ndarray) -> np.ndarray:
        """Logarithms of a lower bound, a value and an upper bound, of the grid up to `reach`."""
        above, above_error = self._sum("above", level, reach).log_delta(at, tilted=level > 0)
        better = self._sum("below", level, reach)
        below, _ = better.log_delta(at, tilted=level > 0)
        proven = better.log_delta(at + rounded_up(better.spacing, self._number), tilted=level > 0)
        lower = np.maximum(log_less(*proven), self._at_the_top(at))
        upper = np.maximum(np.logaddexp(above, above_error), lower)
        shares = math.log(self._share_above), math.log1p(-self._share_above)
        value = np.logaddexp(above + shares[0], below + shares[1])
        return np.array([lower, np.clip(value, lower, upper), upper])

    def _log_calibrated(self, epsilon):
        # Half of the work: the distribution below has no part in the upper bound.
        def curve(level: int, at: np.ndarray) -> np.ndarray:
            sums = (self._sum("above", level, reach) for reach in self._reaches(level))
            found = [np.logaddexp(*each.log_delta(at, tilted=level > 0)) for each in sums]
            return np.min(found, axis=0)[None]

        if epsilon >= self.largest_loss:
            return -math.inf
        at = np.array([float(epsilon)])
        return float(min(by_level(at, curve, self._number)[0, 0], self._log_apart(at)[1][0]))

    def _resolution(self, delta):
        # Rounding moves delta by about a hundredth of the allowance for it.
        return float(np.clip(1e-2 * FFT_ERROR / delta, super()._resolution(delta), 1e-7))

    def _reaches(self, level: int) -> tuple[float, ...]:
        """The largest loss of each grid: heavy-tailed noise needs a fine and a wide one."""
        return (_FINE, math.inf) if max(self._tops(level)) > _FINE else (math.inf,)

    def _tops(self, level: int) -> list[float]:
        """The loss of every kind of release beyond which it does not matter."""
        if ("tops", level) not in self._known:
            cut = CUTS[level] / self._number
            self._known["tops", level] = [_top(profile, cut) for profile, _ in self._releases]
        return self._known["tops", level]

    def _sum(self, side: str, level: int, reach: float) -> LossSum:
        """The sum of the losses of a worse ("above") or a better pair ("below") on one grid."""
        if (side, level, reach) not in self._known:
            spacing, laws = self._laws(level, reach)
            parts = []
            for profile, times, nodes, delta in laws:
                if side == "above":
                    law = _symmetric_chords(nodes, delta.upper, spacing)
                else:
                    law = _symmetric_cells(profile, nodes, delta.value, spacing)
                parts.append((law, times))
            self._known[side, level, reach] = LossSum(*parts)
        return self._known[side, level, reach]

    def _laws(
        self, level: int, reach: float
    ) -> tuple[float, list[tuple[PrivacyProfile, int, np.ndarray, Bounds]]]:
        """The spacing, and of each kind of release its profile, number, nodes and delta there."""
        if ("laws", level, reach) not in self._known:
            tops = [min(top, reach) for top in self._tops(level)]
            spacing, nodes = self._grid(tops, level)
            laws = []
            for (profile, times), top, places in zip(self._releases, tops, nodes, strict=True):
                # The last node may lie off the largest loss by rounding.
                at = np.minimum(places * spacing, max(top, places[-1] * spacing * (1 - 1e-9)))
                at[-1] = max(at[-1], top)
                # Rounding in the profile must not become infinite loss.
                possible = at < profile.largest_loss
                delta = Bounds(*(possible * np.asarray(each) for each in profile.delta(at)))
                laws.append((profile, times, places, delta))
            self._known["laws", level, reach] = spacing, laws
        return self._known["laws", level, reach]


@dataclass(frozen=True, kw_only=True)
class ComposedProfile(ConvolvedProfile):
    """Profile of `times` independent releases, each with the profile `base`; times >= 1.

    `base` must be symmetric and know P(L > epsilon).
    """

    base: PrivacyProfile
    times: int

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
        """As that of one release."""
        return self.base.attains_largest_loss

    def compose(self, times: int) -> PrivacyProfile:
        return ComposedProfile(base=self.base, times=self.times * check_count("times", times))

    def _scaled(self, factor: float) -> PrivacyProfile:
        return ComposedProfile(base=self.base.scaled(factor), times=self.times)

    @property
    def floor(self) -> float:
        """That of the base, which is evaluated far below the delta of all releases."""
        return max(super().floor, self.base.floor / CUTS[0])

    @cached_property
    def _as_run(self):
        # Imported here, because that module imports this one.
        from mechanisms.privacy.sampling.poisson_sampling import SampledRun

        return SampledRun(step=self.base, rate=1.0, steps=self.times)

    def _log_apart(self, epsilon):
        return self._as_run.log_apart(epsilon)

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        """Sums of `times` losses of one release."""
        total = np.empty(check_count("n", n))
        at_once = max(1, _SAMPLES_AT_ONCE // self.times)
        for start in range(0, n, at_once):
            count = min(at_once, n - start)
            single = self.base.sample_losses(rng, count * self.times, reverse=reverse)
            total[start : start + count] = single.reshape(count, self.times).sum(axis=1)
        return total

    @property
    def _releases(self):
        return ((self.base, self.times),)

    def _grid(self, tops, level):
        # The composed loss spreads like sqrt(times): a coarser grid keeps the FFT affordable.
        size = int(_GRID / max(1.0, np.sqrt(self.times) / 4))
        if not tops[0]:
            return 1.0, [np.zeros(1, dtype=int)]
        # No loss less by rounding: a few ulps below the largest one they are all of delta.
        return tops[0] / size * (1 + 8 * ULP), [_nodes(size, _NODES[level])]


def _top(profile: PrivacyProfile, cut: float) -> float:
    """The loss beyond which delta of one release is below the cut, or as low as is resolved."""
    if profile.infinite_mass > 0:
        return profile.largest_finite_loss
    top = float(profile.epsilon(max(cut, profile.floor)).upper)
    if not np.isfinite(top):
        raise ValueError(f"{profile} has an infinite loss, which cannot be composed numerically")
    # A largest loss that close may be an atom, which has to lie within the grid.
    return float(profile.largest_loss) if top > 0.999 * profile.largest_loss else top


def _nodes(size: int, count: int) -> np.ndarray:
    """Multiples of the grid spacing from 0 to `size`: half of them even, half geometric."""
    even = np.linspace(0, size, count // 2)
    geometric = np.geomspace(1, size, count // 2)
    return np.unique(np.round(np.r_[even, geometric]).astype(int))


def _symmetric_chords(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> LossDistribution:
    """Chords through the profile of a symmetric pair at nodes * spacing and their mirror images.

    nodes: increasing integers from 0 on. A loss of -l has e^-l times the mass of l; what is left
    of one has loss zero.
    """
    delta = np.minimum.accumulate(delta)
    positive = chord_masses(nodes, delta, spacing)[1:]
    return _mirrored(nodes[1:], positive, spacing, float(delta[-1]))


def _symmetric_cells(
    profile: PrivacyProfile, nodes: np.ndarray, delta: np.ndarray, spacing: float
) -> LossDistribution:
    """A better pair than that of a symmetric profile, which has `delta` at nodes * spacing.

    nodes: increasing integers from 0 on.
    """
    # An atom at the largest loss lies beyond the last node.
    losses = np.minimum(nodes * spacing, np.nextafter(profile.largest_finite_loss, 0.0))
    infinite = profile.infinite_mass
    finite = (np.maximum(each - infinite, 0.0) for each in (delta, profile.survival(losses)))
    merged = cells(losses, *tails_of_pair(losses, *finite))
    return _mirrored(*on_grid(*merged, spacing), spacing, infinite)


def chord_masses(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> np.ndarray:
    """Masses of chords at every node but the first, where only the right chord is known."""
    gap, fall = np.diff(nodes) * spacing, -np.diff(delta)
    # A fall over one gap is P(right end) and beyond, less e^-gap of it: Algorithm 1.
    from_left = np.r_[0.0, fall / -np.expm1(-gap)]
    from_right = np.r_[np.exp(-gap) * fall / -np.expm1(-gap), 0.0]
    return np.maximum(from_left - from_right, 0.0)


def _mirrored(
    places: np.ndarray, masses: np.ndarray, spacing: float, infinite: float
) -> LossDistribution:
    """Masses of positive losses, their mirror images, and what is left at zero."""
    places, masses = places[places > 0], masses[places > 0]
    mirrored = masses * np.exp(-spacing * places)
    zero = max(1.0 - infinite - masses.sum() - mirrored.sum(), 0.0)
    return distribution(
        np.r_[-places[::-1], 0, places], np.r_[mirrored[::-1], zero, masses], spacing, infinite
    )


def distribution(
    places: np.ndarray, masses: np.ndarray, spacing: float, infinite: float = 0.0
) -> LossDistribution:
    """Without the places that have no mass, unless there is none at all."""
    kept = masses > 0
    if not kept.any():
        places, masses, kept = np.zeros(1, dtype=int), np.full(1, 1e-300), np.ones(1, dtype=bool)
    return LossDistribution(
        spacing=spacing, places=places[kept], masses=masses[kept], infinite=infinite
    )


def at_negative(epsilon: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """delta(-epsilon) = 1 - e^(-epsilon) (1 - delta(epsilon)) for a symmetric pair."""
    return -np.expm1(-epsilon) + np.exp(-epsilon) * delta


def chords(nodes: np.ndarray, delta: np.ndarray, spacing: float) -> LossDistribution:
    """Connect the dots: a worse pair, whose profile has `delta` at the losses nodes * spacing.

    nodes: increasing integers, two or more. What is left beyond the last becomes infinite loss.
    """
    delta = np.minimum.accumulate(delta)
    masses = chord_masses(nodes, delta, spacing)
    masses[0] = max(1.0 - delta[-1] - masses.sum(), 0.0)
    return distribution(nodes, masses, spacing, float(delta[-1]))


def tails_of_pair(
    losses: np.ndarray, delta: np.ndarray, survival: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """P(L > e), Q(L > e) and their difference, which may be far smaller, at losses e >= 0."""
    fall = np.exp(-losses)
    other = fall * np.maximum(survival - delta, 0.0)
    return survival, other, -np.expm1(-losses) * survival + fall * delta


def cells(
    nodes: np.ndarray, survival: np.ndarray, other: np.ndarray, gain: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Masses and rising losses of a better pair, of whose losses only those above the first node
    count.

    nodes: rising losses. survival, other, gain: P(L > e), Q(L > e) and their difference there. A
    cell between two nodes has one loss. What is beyond the last node has its loss.
    """
    mass_p = np.maximum(-np.diff(survival, append=0.0), 0.0)
    mass_q = np.maximum(-np.diff(other, append=0.0), 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        share = -np.diff(gain, append=0.0) / mass_p
        near = np.abs(share) < 0.5
        losses = np.where(near, -np.log1p(-np.where(near, share, 0.0)), np.log(mass_p / mass_q))
    # Beyond a loss of some 700 Q(cell) is zero to all digits: the cell has the loss of its left
    # end, which is better still.
    losses[(mass_q < np.finfo(float).tiny) | (mass_p == 0)] = -np.inf
    losses = losses.clip(nodes, np.r_[nodes[1:], nodes[-1]])
    kept = mass_p > 0
    return mass_p[kept], losses[kept]


def on_grid(
    masses: np.ndarray, losses: np.ndarray, spacing: float
) -> tuple[np.ndarray, np.ndarray]:
    """Places and masses of a better pair than that of cells with rising losses.

    A cell between two places is merged with as much of the lower ones as moves it to the lower
    place. It is better but for rounding: `rounded_up`.
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
        # No cell is left: less mass under P, so that the loss falls to the lower place.
        place = math.floor(loss / spacing + _ROUNDED)
        rest = mass * math.exp(min(place * spacing - loss, 0.0))
        found[place] = found.get(place, 0.0) + rest
    places = np.array(sorted(found), dtype=int)
    return places, np.array([found[place] for place in places.tolist()])
