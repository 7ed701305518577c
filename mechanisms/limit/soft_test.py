"""Tests between 0 and lambda at several distances, and a rigorous bound from them."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from mechanisms.limit.caps import cap, cap_error

# Cells whose bound is this share below the least value wanted are halved, up to so many times and
# as long as no more than that many caps are needed.
_TOLERANCE, _HALVINGS, _MOST_CAPS = 2e-3, 20, 1_000_000
# Gaps are halved less often: what their width costs has no steep parts.
_GAP_HALVINGS = 6
# Of radii times gaps, that are held at a time.
_CHUNK = 200_000
_ULP = 2.0**-52


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftTest:
    """Tests w_j of noise at y against noise shifted by s_j e, 0 < s_j <= 1, with w_j <= lambda_j.

    w_j depends on |y| and on the gap k = 1 + (|y| - |y - s_j e|) / s_j. It is constant in k on each
    cell of `gaps`, and 0 beyond them; it is linear in |y| between the nodes `radii`. At radius r,
    both for noise y = r u and for shifted noise y = r u + s_j e, k is below a given number on a cap
    of the sphere, with probabilities P, which falls with r, and Q, which rises with r.

    Args:
        dimension: M >= 2.
        epsilon: > 0, at most 700.
        distances: (J,) s_j in (0, 1], powers of 1/2, so that r / s_j is exact.
        radii: (N,) increasing from 0.
        gaps: (K + 1,) increasing from 0, at most 1.
        weights: (J, K, N), at least 0, and 0 at the last node.
        level: What r^2 + sum_j g_j is meant to reach; it decides where `lower` looks closer.
    """

    dimension: int
    epsilon: float
    distances: np.ndarray
    radii: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray
    level: float

    def __post_init__(self) -> None:
        for nodes in (self.radii, self.gaps):
            if nodes[0] != 0 or not np.all(np.diff(nodes) > 0):
                raise ValueError("radii and gaps must increase from 0")
        if not np.all(np.isin(self.distances, 0.5 ** np.arange(8))) or self.gaps[-1] > 1:
            raise ValueError("distances must be 1, 1/2, 1/4, ..., and gaps at most 1")
        shape = len(self.distances), len(self.gaps) - 1, len(self.radii)
        good = np.all((self.weights >= 0) & np.isfinite(self.weights))
        if self.weights.shape != shape or not good or np.any(self.weights[:, :, -1]):
            raise ValueError(f"weights {shape} must be at least 0, and 0 at the last node")
        if not (self.dimension >= 2 and 0 < self.epsilon <= 700):
            raise ValueError("a soft test needs M >= 2 and 0 < epsilon <= 700")

    def bends(self) -> np.ndarray:
        """Radii between which the weights are linear, and others where caps appear."""
        ends = np.concatenate([self.gaps / 2, 1 - self.gaps / 2])
        scaled = np.multiply.outer(self.distances, ends)
        shifted = np.add.outer(self.distances, self.radii)
        found = np.unique(np.concatenate([self.radii, scaled.ravel(), shifted.ravel()]))
        return found[found <= self.radii[-1] + self.distances.max()]

    def lower(self, delta: float) -> float:
        """A lower bound of inf_r [r^2 + sum_j g_j(r)] - delta sum_j lambda_j.

        By the theorem of docs/the_limit.md this is also one of E||A(x) - x||^2 / s^2. Cells of
        radii and of gaps are halved where the bound is low.
        """
        paid = delta * float(self.weights.max(axis=(1, 2)).sum()) * (1 + 1e-14)
        goal = self.level - _TOLERANCE * (self.level - paid)
        edges = self.bends()
        a, b = edges[:-1], edges[1:]
        # Beyond the last edge the tests are 0 and r^2 remains.
        least, caps = edges[-1] ** 2 * (1 - 4 * _ULP), 0
        for halvings in range(_HALVINGS):
            finer = 2 ** min(halvings, _GAP_HALVINGS)
            gaps, cells = split_gaps(self.gaps, 0.02 / finer, max(3, finer))
            caps += len(a) * len(gaps)
            parts = math.ceil(len(a) * len(gaps) / _CHUNK)
            bounds = np.concatenate(
                [
                    self._on_cells(*ends, gaps, cells)
                    for ends in zip(np.array_split(a, parts), np.array_split(b, parts), strict=True)
                ]
            )
            low = bounds < goal
            if not low.any() or caps > _MOST_CAPS or halvings == _HALVINGS - 1:
                break
            least = min(least, bounds[~low].min(initial=math.inf))
            middle = (a[low] + b[low]) / 2
            a, b = np.concatenate([a[low], middle]), np.concatenate([middle, b[low]])
        return min(least, float(bounds.min())) - paid

    def _on_cells(self, a, b, gaps, cells) -> np.ndarray:
        """Lower bounds of r^2 + sum_j g_j on cells [a, b] without nodes inside.

        Each g_j is a sum of products of two functions of r. One is linear. The other, P or Q of a
        gap, is close to its chord. So the sum is close to the chord of its values at a and b.
        """
        at_a, at_b, loss = a * a, b * b, (b - a) ** 2 / 4 + 1e-12 * b * b
        error, growth = cap_error(self.dimension), math.exp(self.epsilon) * (1 + 4 * _ULP)
        for s, weights in zip(self.distances, self.weights, strict=True):
            own = [-np.diff(_at(r, self.radii, weights), axis=1, append=0.0) for r in (a, b)]
            above = self._above(s, weights, a, b, gaps, cells)
            moved = [growth * np.diff(line, axis=1, append=0.0) for line in above]
            # Interpolation is wrong by less.
            blur = 1e-13 * growth * weights.max()
            for shifted, (first, last), edges in ((False, own, self.gaps), (True, moved, gaps)):
                cap_a, cap_b, bend = _caps(a / s, b / s, edges[1:], self.dimension, shifted)
                at_a, at_b = at_a + (first * cap_a).sum(axis=1), at_b + (last * cap_b).sum(axis=1)
                largest = np.maximum(np.abs(first), np.abs(last)) + blur
                rounding = (2 * error * largest + blur) * np.maximum(cap_a, cap_b)
                turned = np.abs((last - first) * (cap_b - cap_a)) / 4
                loss = loss + (turned + largest * bend + rounding).sum(axis=1)
        return np.minimum(at_a, at_b) - loss - 1e-13 * (np.abs(at_a) + np.abs(at_b))

    def _above(self, s, weights, a, b, gaps, cells):
        """Upper bounds of the mean of w given that the gap of shifted noise is in a cell of `gaps`.

        They are linear in r; here are their values at a and b. With gap k shifted noise has norm
        r + s (k - 1). A line above w has its mean where that norm has its own. The density of k is
        (r' - 1 + k) (k (2 - k) (2 r' - 2 + k) (2 r' + k))^((M - 3) / 2), r' = r / s, up to a
        factor, and both parts rise with k. So it varies in the cell by a factor of at most
        `spread`, and the mean is off the middle by a share t of the half width at most.
        """
        low, high, r = gaps[:-1], gaps[1:], (a / s)[:, None]
        start, end = a[:, None] + s * (low - 1), b[:, None] + s * (high - 1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            spread = high / low * (2 - high) / (2 - low) * (2 * r + high) / (2 * r + low)
            spread = spread * (2 * r - 2 + high) / (2 * r - 2 + low)
            root = spread ** (-abs(self.dimension - 3) / 4)
            root = root * np.sqrt((r - 1 + low) / (r - 1 + high))
        root = np.where((low > 0) & (2 * r - 2 + low > 0), root, 0.0)
        t = (1 - root) / (1 + root) * (1 + 1e-9)
        at_start, at_end = np.zeros(start.shape), np.zeros(start.shape)
        for k, values in enumerate(weights):
            part = slice(*np.searchsorted(cells, [k, k + 1]))
            if values.any():
                at_start[:, part], at_end[:, part] = _line_above(
                    self.radii, values, start[:, part], end[:, part]
                )
        length, width = s * (high - low), (b - a)[:, None]
        slope = (at_end - at_start) / (length + width)
        at_a = at_start + slope * length / 2 + np.abs(slope) * length * t / 2
        return at_a, at_a + slope * width


def split_gaps(gaps: np.ndarray, width: float, least: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges that split each cell into `least` or more of at most `width`; the cell of each part."""
    parts = [
        np.linspace(low, high, max(least, math.ceil((high - low) / width)) + 1)[:-1]
        for low, high in itertools.pairwise(gaps)
    ]
    cells = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return np.append(np.concatenate(parts), gaps[-1]), cells


def cap_heights(r: np.ndarray, gaps: np.ndarray, shifted: bool) -> tuple[np.ndarray, np.ndarray]:
    """1 + u_1 and 1 - u_1 at the edge of the caps of radii r and gaps > 0, (len(r), len(gaps)).

    Neither is a difference of rounded numbers.
    """
    r, k = r[:, None], gaps
    with np.errstate(divide="ignore"):
        if shifted:
            return k * (2 * (r - 1) + k) / (2 * r), (2 - k) * (2 * r + k) / (2 * r)
        return k * (2 + 2 * r - k) / (2 * r), (2 - k) * (2 * r - k) / (2 * r)


def cap_probabilities(lower: np.ndarray, upper: np.ndarray, dimension: int) -> np.ndarray:
    """`cap` of heights given by both their distances from the ends."""
    small = cap(np.minimum(lower, upper), dimension)
    return np.where(lower <= upper, small, 1 - small)


def _caps(a, b, gaps, dimension: int, shifted: bool):
    """P or Q at a and at b, and what it may differ from its chord between them.

    It is monotone, hence within the difference of its ends. And a function whose derivative lies
    between two numbers is within a quarter of their difference times b - a. The derivative is the
    density of a cap, monotone on both sides of the equator, times that of the height,
    k (1 - k / 2) / r^2.
    """
    ends, places = np.unique(np.concatenate([a, b]), return_inverse=True)
    at_a, at_b = places[: len(a)], places[len(a) :]
    lower, upper = cap_heights(ends, gaps, shifted)
    probability = cap_probabilities(lower, upper, dimension)
    constant = betaln((dimension - 1) / 2, 0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        density = np.exp((dimension - 3) / 2 * np.log(lower * upper) - constant)
        density = np.where((lower > 0) & (upper > 0), density, np.nan)
        across = (lower < upper)[at_a] != (lower < upper)[at_b]
        equator = np.where(across, math.exp(-constant), density[at_a])
        most = np.maximum(np.maximum(density[at_a], density[at_b]), equator)
        least = np.minimum(np.minimum(density[at_a], density[at_b]), equator)
        turn = most * (1 + 1e-9) / a[:, None] ** 2 - least * (1 - 1e-9) / b[:, None] ** 2
        bend = (b - a)[:, None] / 4 * gaps * (1 - gaps / 2) * turn
    first, last = probability[at_a], probability[at_b]
    return first, last, np.fmin(bend, np.abs(last - first))


def _at(r: np.ndarray, radii: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights (K, N) at the radii r, (len(r), K)."""
    return np.array([np.interp(r, radii, values) for values in weights]).T


def _line_above(radii, values, start, end):
    """The values at both ends of a line that is above the interpolated values in between."""
    at_start, at_end = (np.interp(r, radii, values) for r in (start, end))
    first, last = np.searchsorted(radii, start, "right"), np.searchsorted(radii, end, "left")
    excess = np.zeros(start.shape)
    for step in range(int((last - first).max())):
        node = np.minimum(first + step, len(radii) - 1)
        chord = at_start + (at_end - at_start) * (radii[node] - start) / (end - start)
        inside = first + step < last
        excess = np.where(inside, np.maximum(excess, values[node] - chord), excess)
    return at_start + excess, at_end + excess
