"""Soft tests, for `check_limit.py`, which says what is to be proved: a bound on one infimum.

A soft test w(y), for a change D of length s, depends on the norm |y| and on the gap
k = 1 + (|y| - |y - D|) / s. In k it is constant on each of a few cells, and 0 beyond them; in |y|^2
it is linear between a few radii. Below, lengths are in units of s, and u_1 = <u, D>.

Noise r u has the norm r, and its gap is at most k iff 1 + u_1 <= k + k (1 - k / 2) / r. Shifted
noise r u + D has a norm of at most t iff 1 + u_1 <= 1 + (t^2 - 1) / (2 r) - r / 2, and then its gap
is at most k = 1 + t - r; in terms of k this height is k - k (1 - k / 2) / r.

Let C(h) be the probability that 1 + u_1 <= h, and S(h) = E (h - 1 - u_1)_+ its integral. Then
E w(r u) is the sum over edges k of F C, F what w falls by there. E w(r u + D) is the integral of w
over dC, as functions of t^2. By parts, twice, it is the sum of F C - B J over edges (t = r - 1 + k)
and radii (t fixed, F = 0), where the slope of w in t^2 falls by B, with J = E (t^2 - |r u + D|^2)_+
= 2 r S(h). The derivative of F C by r is F' C + F C'. That of F C - B J is F C' + B N, N the
integral of 2 r + 2 u_1 over the cap, 2 (r + h - 1) C - 2 S.
"""

import bisect
from itertools import pairwise

from flint import arb, fmpq

DEEPEST = 40  # a cell of radii is split so many times


def need(condition, sentence):
    if not condition:
        raise ValueError(sentence)


def cap(h, d):
    """C(h), S(h) and the density C'(h), for u uniform on the unit sphere of R^d."""
    if h <= 0 or h >= 2:
        return arb(h > 0), arb(h - 1 if h > 0 else 0), arb(0)
    x, y = arb(h - 1), arb(h * (2 - h))  # y = 1 - x^2
    # C and m, the integral of u_1 over the cap, in R^2 or R^3; those in R^(n + 2) follow by parts.
    c, m = (arb(h) / 2, -y / 4) if d % 2 else (1 - x.acos() / arb.pi(), -y.sqrt() / arb.pi())
    for n in range(2 + d % 2, d, 2):
        c, m = c - x * m, m * y * n / (n + 1)
    return c, x * c - m, -m * (d - 1) / y


def caps(low, high, d):
    """Balls that hold C, S and C' on [low, high]; C' is monotone on both sides of h = 1.

    On the circle C' has no bound at the poles: None.
    """
    ends = [cap(h, d) for h in (low, high, min(max(low, fmpq(1)), high))]
    c, s, density = (x.union(y).union(z) for x, y, z in zip(*ends, strict=True))
    return c, s, None if d == 2 and (low <= 0 < high or low < 2 <= high) else density


def steps(table):  # from each row to the next, what it falls by; 0 follows the last row
    rows = pairwise([*table, [fmpq(0)] * len(table[0])])
    return [[x - y for x, y in zip(*pair, strict=True)] for pair in rows]


def terms(a, b, radii, gaps, falls, bends, kinks):
    """Terms on [a, b]: own or shifted, F in the middle, F, B; their height is c + e / r - f r."""
    middle, r = (a + b) / 2, arb(a).union(arb(b))
    for i, k in enumerate(gaps[1:]):
        for shift, e in ((fmpq(0), k * (1 - k / 2)), (1 - k, -k * (1 - k / 2))):
            p = bisect.bisect(radii, middle - shift) - 1
            if p >= 0 and (falls[i][p] or bends[i][p]):
                at, on = ((t - shift) ** 2 - radii[p] ** 2 for t in (middle, r))
                at, on = falls[i][p] + bends[i][p] * at, falls[i][p] + bends[i][p] * on
                yield e > 0, at, on, bends[i][p], k, e, fmpq(0)
    for n in range(*(bisect.bisect(radii, middle + t) for t in (-1, gaps[-1] - 1))):
        if bend := kinks[bisect.bisect(gaps, 1 + radii[n] - middle) - 1][n]:
            yield False, fmpq(0), arb(0), bend, fmpq(1), (radii[n] ** 2 - 1) / 2, fmpq(1, 2)


def gain(a, b, d, factor, *test):
    """g in the middle of [a, b], its derivative on [a, b], and by how much it may jump besides."""
    middle, r = (a + b) / 2, arb(a).union(arb(b))
    value, slope, jump = arb(0), arb(0), arb(0)
    for own, at, on, bend, c, e, f in terms(a, b, *test):
        low, high = c + min(e / a, e / b) - f * b, c + max(e / a, e / b) - f * a
        sign = 1 if own else -factor
        prob, total, _ = cap(c + e / middle - f * middle, d)
        value += sign * (at * prob - (0 if own else 2 * bend * middle * total))
        prob, total, density = caps(low, high, d)
        moving = r * prob if own else (r + arb(low).union(arb(high)) - 1) * prob - total
        slope += sign * 2 * bend * moving  # F' = 2 r B for own terms
        if density is None:
            jump += abs(sign * on) * (cap(high, d)[0] - cap(low, d)[0])
        else:
            slope += sign * on * density * (-e / r**2 - f)
    return value, slope, jump


def soft(epsilon, delta, bound, d, distances, radii, gaps, weights):
    """Functions w_j at the distances s_j; weights[j] has a row for each cell of gaps."""
    need(type(d) is int and d >= 2, "d is below 2")
    distances, radii, gaps = ([fmpq(x) for x in xs] for xs in (distances, radii, gaps))
    for nodes in (radii, gaps):
        need(nodes[0] == 0 and all(x < y for x, y in pairwise(nodes)), "nodes do not rise from 0")
    need(len(gaps) > 1 and gaps[-1] <= 1, "no gap, or one above 1")
    tests, price, points = [], fmpq(0), {*radii}
    for s, rows in zip(distances, weights, strict=True):
        need(0 < s <= 1 and len(rows) == len(gaps) - 1, f"distance {s}, {len(rows)} cells")
        need(all(len(row) == len(radii) and row[-1] == 0 for row in rows), "w does not end with 0")
        need(all(w >= 0 for row in rows for w in row), "w is negative")
        price += max(map(max, rows))
        nodes = [r / s for r in radii]
        widths = [y**2 - x**2 for x, y in pairwise(nodes)]
        rises = [[y - x for x, y in pairwise(row)] for row in rows]
        slopes = [[*(x / y for x, y in zip(row, widths, strict=True)), fmpq(0)] for row in rises]
        kinks = [[fmpq(0), *(x - y for x, y in pairwise(row))] for row in slopes]
        tests.append((s, nodes, gaps, steps(rows), steps(slopes), kinks))
        # Caps appear, nodes of shifted noise appear, an edge of the gaps passes a node.
        points |= {s * (t + u * k / 2) for k in gaps for t, u in ((0, 1), (1, -1))}
        points |= {s - r for r in radii if r < s} | {r + s * (1 - k) for r in radii for k in gaps}
    points = sorted(points)
    factor, target = arb(epsilon).exp(), bound + delta * price
    # Up to the first point g is linear in r^2, and beyond the last one it is 0.
    first = sum(rows[0][0] for rows in weights)
    need(first >= target and points[-1] ** 2 >= target, "not proved at radius 0, or beyond w")
    cells = [(a, b, 0) for a, b in pairwise(points[1:])]
    while cells:
        a, b, depth = cells.pop()
        least = arb(((a + b) / 2) ** 2)
        slope = 2 * arb(a).union(arb(b))
        for s, *test in tests:
            value, rise, jump = gain(a / s, b / s, d, factor, *test)
            least, slope = least + value - jump, slope + rise / s
        if not least - abs(slope) * (b - a) / 2 >= target:  # the mean value theorem
            need(depth < DEEPEST, f"not proved for noise of radius {float(a)}")
            cells += [(a, (a + b) / 2, depth + 1), ((a + b) / 2, b, depth + 1)]


if __name__ == "__main__":
    raise SystemExit("error: run check_limit.py, which needs this file beside it")
