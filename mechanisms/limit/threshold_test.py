"""A test with one threshold for every radius, and the rigorous bound that it proves."""

import functools
import math
from dataclasses import dataclass

import numpy as np

from mechanisms.limit.caps import cap, cap_error

# Cells are split until each misses the least value at a bend by at most the share _TOLERANCE of the
# bound, or there are _WORK / _TOLERANCE cells. A cell is split into _PIECES.
_TOLERANCE, _WORK = 2e-5, 4.0
_PIECES = 4
# Added to probabilities that must not be too small, because floats may underflow below it.
_TINY = 1e-300
_ULP = 2.0**-52


@dataclass(frozen=True, kw_only=True, eq=False)
class ThresholdTest:
    """The test `weight` 1{|y - e| >= K(|y|)} of noise y against noise shifted by a unit e.

    K(r) = 1 + r - k(r), where the gap k is linear between the nodes and 0 beyond the last one. Let
    X be the inverse of K, and u a uniform unit vector of R^M. Noise of radius r is in the event
    {|y - e| >= K(|y|)} with probability P(r), and after a shift by e with probability Q(r):

        P(r) = Pr(|r u - e| >= K(r)) = Pr(1 + u_1 < k (2 + 2 r - k) / (2 r)),          k = k(r),
        Q(r) = Pr(|r u + e| < X(r)) = Pr(1 + u_1 < k (2 (r - 1) + k) / (2 r)),        k = k(X(r)),

    and Q(r) = 0 for r <= 1. Because K is linear between nodes, r -> k(X(r)) is linear between the
    values of K at the nodes.

    Args:
        dimension: M >= 2.
        epsilon: > 0, at most 700.
        radii: (n,) nodes, which increase from 0.
        gaps: (n,) values of k at the nodes, in [0, 2], and 0 at both ends; K must increase.
        weight: The largest value of the test, lambda > 0.

    Raises:
        ValueError: An argument is out of its range.
    """

    dimension: int
    epsilon: float
    radii: np.ndarray
    gaps: np.ndarray
    weight: float

    def __post_init__(self) -> None:
        gaps, steps = self.gaps, np.diff(self.radii)
        if self.radii[0] != 0 or not np.all(steps > 0):
            raise ValueError("radii must increase from 0")
        if gaps[0] != 0 or gaps[-1] != 0 or not np.all((gaps >= 0) & (gaps <= 2)):
            raise ValueError("gaps must lie in [0, 2] and be 0 at both ends")
        if not np.all(np.diff(self.outer) > 8 * _ULP * self.outer[1:]):
            raise ValueError("gaps must grow by less than the radii: K must increase")
        if not (self.dimension >= 2 and 0 < self.epsilon <= 700 and 0 < self.weight < math.inf):
            raise ValueError("a threshold test needs M >= 2, 0 < epsilon <= 700 and weight > 0")

    @property
    def outer(self) -> np.ndarray:
        """K at the nodes."""
        return 1 + self.radii - self.gaps

    def points(self, pieces: int = 1) -> np.ndarray:
        """Return all r at which P or Q bends, and `pieces` - 1 points between neighbours."""
        bends = np.union1d(self.radii, self.outer)
        return split(bends, pieces)

    def heights(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return 1 + u_1 at the edges of the caps that have the probabilities P and Q."""
        gap = np.interp(r, self.radii, self.gaps)
        own = gap + self._slope_to(r, gap) * (1 - gap / 2)
        return own, shifted_height(np.interp(r, self.outer, self.gaps), r)

    def values(self, r: np.ndarray) -> np.ndarray:
        """Return r^2 + weight (P - e^epsilon Q), without bounds on rounding errors."""
        own, shifted = self.parts(r)
        return r * r + self.weight * (own - shifted)

    def parts(self, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return P and e^epsilon Q, without bounds on rounding errors."""
        own, shifted = (cap(height, self.dimension) for height in self.heights(r))
        return own, math.exp(self.epsilon) * shifted

    def lower(self, delta: float, tolerance: float = _TOLERANCE) -> float:
        """Return a lower bound on inf_r [r^2 + weight (P - e^epsilon Q)] - delta weight.

        By the theorem of docs/the_limit.md it also bounds sup_x E||A(x) - x||^2 / s^2, for every
        mechanism A at the l2 sensitivity s. The infimum is bounded on cells between the bends of P
        and Q, up to a `tolerance`.
        """
        return _lower(self, delta, tolerance)

    def _on_cells(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return lower bounds on `values` in cells [a, b] on which k(r) and k(X(r)) are linear.

        The height of P is k + (k / r) (1 - k / 2), and on a linear piece k and k / r are monotone.
        The height of Q is k - k (2 - k) / (2 r), which increases in r and in k if it is positive.
        """
        # The largest error of an interpolated gap.
        blur = 8 * _ULP * float(self.gaps.max())
        ends = [np.maximum(np.interp(r, self.radii, self.gaps) - blur, 0.0) for r in (a, b)]
        slopes = [self._slope_to(r, k) for k, r in zip(ends, (a, b), strict=True)]
        own = np.minimum(*ends) + np.minimum(*slopes) * (1 - (np.maximum(*ends) + 2 * blur) / 2)
        # K at a node is rounded, which moves k(X(r)) along the slopes of neighbouring pieces.
        steep = np.pad(np.abs(np.diff(self.gaps) / np.diff(self.outer)), 1)
        steep = np.maximum(np.maximum(steep[:-2], steep[1:-1]), steep[2:])
        piece = np.clip(np.searchsorted(self.outer, a, "right") - 1, 0, len(steep) - 1)
        gap = np.maximum(*(np.interp(r, self.outer, self.gaps) for r in (a, b)))
        gap += blur + 4 * _ULP * b * steep[piece]
        shifted = shifted_height(gap, b)
        error = cap_error(self.dimension)
        own = cap(own, self.dimension) * (1 - error)
        shifted = np.where(b > 1, cap(shifted, self.dimension) * (1 + error) + _TINY, 0.0)
        gain = own - math.exp(self.epsilon) * shifted * (1 + 4 * _ULP)
        weighted = self.weight * gain
        return a * a * (1 - 4 * _ULP) + weighted - 8 * _ULP * np.abs(weighted)

    def _slope_to(self, r: np.ndarray, gap: np.ndarray) -> np.ndarray:
        """k / r; at r = 0 its limit, the slope of the first piece."""
        first = np.full_like(r, self.gaps[1] / self.radii[1])
        return np.divide(gap, r, first, where=r > 0)


def shifted_height(gap: np.ndarray, r: np.ndarray) -> np.ndarray:
    """1 + u_1 at the edge of the cap whose probability is Q(r), for `gap` = k(X(r))."""
    far = np.maximum(r, 1.0)
    return np.where(r > 1, gap * (2 * (far - 1) + gap) / (2 * far), 0.0)


def split(edges: np.ndarray, pieces: int) -> np.ndarray:
    """Return the edges, and `pieces` - 1 equidistant points between neighbours."""
    cuts = [edges[:-1] + share * np.diff(edges) for share in np.arange(1, pieces) / pieces]
    return np.unique(np.concatenate([edges, *cuts]))


@functools.lru_cache(maxsize=8)
def _lower(test: ThresholdTest, delta: float, tolerance: float) -> float:
    edges = test.points()
    a, b = edges[:-1], edges[1:]
    target = float(test.values(edges).min())
    target -= tolerance * max(target - delta * test.weight, 0.0)
    # Beyond the last point P and Q are 0, and only r^2 remains.
    least = edges[-1] ** 2 * (1 - 4 * _ULP)
    bounds = test._on_cells(a, b)
    while np.any(low := bounds < target) and len(a) * tolerance < _WORK:
        least = min(least, bounds[~low].min(initial=math.inf))
        cuts = np.linspace(a[low], b[low], _PIECES + 1)
        a, b = cuts[:-1].ravel(), cuts[1:].ravel()
        bounds = test._on_cells(a, b)
    least = min(least, float(bounds.min()))
    return least - delta * test.weight * (1 + 4 * _ULP)
