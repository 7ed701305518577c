"""Tests between 0 and lambda at several distances, and a rigorous bound from them."""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.limit import soft_caps
from mechanisms.limit.caps import cap_error

# Cells whose bound is this share below the least value seen are halved, up to so many times.
_TOLERANCE, _HALVINGS = 2e-4, 20
# Of caps that are held at a time.
_CHUNK = 100_000
# Stands for r = 0, below the first cap.
_LEAST = 1e-9
_ULP = 2.0**-52


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftTest:
    """Tests w_j of noise at y against noise shifted by s_j e, 0 < s_j <= 1, with w_j <= lambda_j.

    w_j depends on |y| and on the gap k = 1 + (|y| - |y - s_j e|) / s_j. It is constant in k on each
    cell of `gaps`, and 0 beyond them; it is linear in |y|^2 between the nodes `radii`.

    Args:
        dimension: M >= 2.
        epsilon: > 0, at most 700.
        distances: (J,) s_j in (0, 1], powers of 1/2, so that r / s_j is exact.
        radii: (N,) increasing from 0.
        gaps: (K + 1,) increasing from 0, at most 1.
        weights: (J, K, N), at least 0, and 0 at the last node.
    """

    dimension: int
    epsilon: float
    distances: np.ndarray
    radii: np.ndarray
    gaps: np.ndarray
    weights: np.ndarray

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
        """Radii between which every term of g_j is smooth.

        Nodes, radii at which caps appear or are largest, and at which an edge of the gaps passes
        a node.
        """
        found = [self.radii]
        for s in self.distances:
            inside = self.radii[self.radii < s]
            found += [s * self.gaps / 2, s * (1 - self.gaps / 2), s - inside]
            found += [np.sqrt(s * s - inside**2)]
            found += [np.add.outer(self.radii, s * (1 - self.gaps)).ravel()]
        return np.unique(np.concatenate(found))

    def lower(self, delta: float) -> float:
        """A lower bound of inf_r [r^2 + sum_j g_j(r)] - delta sum_j lambda_j.

        By the theorem of docs/the_limit.md this is also one of E||A(x) - x||^2 / s^2. Cells of
        radii are halved where the bound is low.
        """
        return self._infimum(delta)[0]

    def lowest(self, delta: float) -> tuple[float, float]:
        """A radius with nearly the least value of r^2 + sum_j g_j(r), and this value."""
        return self._infimum(delta)[1:]

    def _infimum(self, delta: float) -> tuple[float, float, float]:
        """The lower bound, a radius, and the value there before delta is paid for."""
        paid = delta * float(self.weights.max(axis=(1, 2)).sum()) * (1 + 1e-14)
        edges = self.bends()
        a, b = edges[:-1], edges[1:]
        # Beyond the last edge the tests are 0 and r^2 remains.
        radius, least = edges[-1], edges[-1] ** 2 * (1 - 4 * _ULP)
        reached, width = least, 4 * len(self.distances) * len(self.gaps)
        for _ in range(_HALVINGS):
            parts = math.ceil(len(a) * width / _CHUNK)
            cells = zip(np.array_split(a, parts), np.array_split(b, parts), strict=True)
            found = [self._on_cells(*ends) for ends in cells]
            bounds, *ends = (np.concatenate(each) for each in zip(*found, strict=True))
            for r, values in zip((a, b), ends, strict=True):
                if values.min() < reached:
                    radius, reached = float(r[values.argmin()]), float(values.min())
            low = bounds < reached - _TOLERANCE * abs(reached - paid)
            least = min(least, bounds[~low].min(initial=math.inf))
            if not low.any():
                break
            a, b, bounds = a[low], b[low], bounds[low]
            a, b = np.concatenate([a, (a + b) / 2]), np.concatenate([(a + b) / 2, b])
        return min(least, float(bounds.min())) - paid, radius, reached

    def _on_cells(self, a: np.ndarray, b: np.ndarray):
        """r^2 + sum_j g_j on cells [a, b] without bends inside: lower bounds, values at the ends.

        g_j is a sum of terms whose values at a and b are known, and whose derivatives lie between
        two numbers. Such a term is above its chord less a quarter of their difference times b - a.
        """
        at_a, at_b, loss = a * a, b * b, (b - a) ** 2 / 4
        growth = math.exp(self.epsilon) * (1 + 4 * _ULP)
        for s, weights in zip(self.distances, self.weights, strict=True):
            given = a / s, b / s, self.radii / s, self.gaps, weights, self.dimension
            own, moved = _own(*given), _shifted(*given)
            at_a, at_b = at_a + own[0] - growth * moved[0], at_b + own[1] - growth * moved[1]
            loss += own[2] + growth * moved[2]
        rounding = 1e-13 * (np.abs(at_a) + np.abs(at_b))
        return np.minimum(at_a, at_b) - loss - rounding, at_a, at_b


def _own(a, b, radii, gaps, weights, dimension):
    """E w(r u) at a and at b, and what it may differ from its chord between them.

    It is the sum over gaps of d P, where d, what w falls by at the gap, is linear in r^2.
    """
    falls = -np.diff(weights, axis=0, append=0.0)
    first, last = (_at(r, radii, falls) for r in (a, b))
    a, b = np.maximum(a, _LEAST)[:, None], b[:, None]
    heights = [soft_caps.gap_heights(r, gaps[1:], False) for r in (a, b)]
    cap_a, cap_b = (soft_caps.probabilities(h, dimension) for h in heights)
    bend = gaps[1:] * (1 - gaps[1:] / 2)
    lost = _cap_loss(a, b, first, last, heights, (cap_a, cap_b), bend, dimension)
    # The other part of the derivative, 2 r P times the slope of d.
    lost += np.abs(last - first) / (b + a) / 2 * (b * cap_a - a * cap_b)
    lost += _blur(radii, weights) * cap_a
    return (first * cap_a).sum(axis=1), (last * cap_b).sum(axis=1), lost.sum(axis=1)


def _shifted(a, b, radii, gaps, weights, dimension):
    """E w(r u + e) at a and at b, and what it may differ from its chord between them.

    Let v(t^2) be w at the norm t and the gap 1 + t - r, and C(t) the probability that the norm of
    r u + e is below t. Where v falls by D, and its slope by B, stands D C(t) - B J(t) with J the
    integral of C over t^2. The derivative by r is D C' + B N, N = E (2 r + 2 u_1) on the cap.
    """
    squares, falls = radii**2, -np.diff(weights, axis=0, append=0.0)
    slopes = np.diff(weights, axis=1) / np.diff(squares)
    slopes = np.pad(slopes, ((0, 0), (0, 1)))
    a, b = np.maximum(a, _LEAST)[:, None], b[:, None]
    # Edges of the gaps, each on one piece between two nodes.
    edges, middle = gaps[1:], (a + b) / 2
    norms = [np.maximum(r - 1 + edges, 0.0) for r in (a, b)]
    piece = np.searchsorted(radii, middle - 1 + edges, "right") - 1
    piece, row = np.maximum(piece, 0), np.arange(len(edges))
    bent = -np.diff(slopes, axis=0, append=0.0)[row, piece]
    first, last = (falls[row, piece] + bent * (t * t - squares[piece]) for t in norms)
    heights = [soft_caps.gap_heights(r, edges, True) for r in (a, b)]
    caps = [soft_caps.probabilities(h, dimension) for h in heights]
    at_a, at_b, lost = _bent(a, b, bent, heights, caps, dimension)
    at_a, at_b = at_a + first * caps[0], at_b + last * caps[1]
    lost += _cap_loss(a, b, first, last, heights, caps, edges * (1 - edges / 2), dimension)
    lost += _blur(radii, weights) * caps[1]
    # Nodes, each in one cell of the gaps.
    begin, end = (np.searchsorted(radii, middle + k, "right") for k in (-1, 0))
    node = begin + np.arange(int((end - begin).max()))
    used, node = (node > 0) & (node < end), np.minimum(node, len(radii) - 1)
    cell = np.searchsorted(gaps, 1 + radii[node] - middle, "right") - 1
    cell, used = np.minimum(cell, len(edges) - 1), used & (cell < len(edges))
    bent = np.where(used, slopes[cell, node - 1] - slopes[cell, node], 0.0)
    heights = [soft_caps.norm_heights(r, radii[node]) for r in (a, b)]
    caps = [soft_caps.probabilities(h, dimension) for h in heights]
    nodes = _bent(a, b, bent, heights, caps, dimension)
    return tuple(
        edge.sum(axis=1) + node.sum(axis=1)
        for edge, node in zip((at_a, at_b, lost), nodes, strict=True)
    )


def _bent(a, b, bent, heights, caps, dimension):
    """-B J at a and at b, and what its derivative B N costs."""
    moments = [soft_caps.first_moments(h, dimension) for h in heights]
    excess = [
        soft_caps.excess(r, *each) for r, *each in zip((a, b), heights, caps, moments, strict=True)
    ]
    # u_1 has its least mean on half the sphere.
    across = (heights[0][0] < heights[0][1]) != (heights[1][0] < heights[1][1])
    least = np.minimum(*moments)
    least = np.where(across, soft_caps.first_moments((1.0, 1.0), dimension), least)
    most = np.maximum(*caps)
    spread = 2 * (b * most - a * np.minimum(*caps)) + 2 * (np.maximum(*moments) - least)
    error = 4 * cap_error(dimension) * b * most
    lost = np.abs(bent) * ((b - a) / 4 * (spread + error) + error)
    return -bent * excess[0], -bent * excess[1], lost


def _cap_loss(a, b, first, last, heights, caps, bend, dimension):
    """What the integral of D C' over r, D between two values, may differ from its chord.

    C is monotone, so that it is within D times the difference of its ends. Its derivative is the
    density of the cap, monotone on both sides of the equator, times bend / r^2.
    """
    densities = [soft_caps.density(h, dimension) for h in heights]
    across = (heights[0][0] < heights[0][1]) != (heights[1][0] < heights[1][1])
    equator = np.where(across, soft_caps.density((1.0, 1.0), dimension), densities[0])
    most = np.maximum(np.maximum(*densities), equator) * bend / a**2 * (1 + 1e-9)
    least = np.minimum(np.minimum(*densities), equator) * bend / b**2 * (1 - 1e-9)
    low, high = np.minimum(first, last), np.maximum(first, last)
    turn = np.maximum(high * most, high * least) - np.minimum(low * least, low * most)
    largest = np.maximum(np.abs(first), np.abs(last))
    rounding = 2 * cap_error(dimension) * largest * np.maximum(*caps)
    return np.fmin((b - a) / 4 * turn, largest * np.abs(caps[1] - caps[0])) + rounding


def _blur(radii, weights) -> float:
    """What interpolation in squares of radii may be wrong by."""
    steep = np.abs(np.diff(weights, axis=1) / np.diff(radii**2)).max()
    return 32 * _ULP * (float(weights.max()) + steep * (radii[-1] + 1) ** 2)


def _at(r: np.ndarray, radii: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights (K, N) at the radii r, (len(r), K), by interpolation in squares."""
    return np.array([np.interp(r * r, radii**2, values) for values in weights]).T
