"""Check a lower bound on the noise of every private mechanism:  python check_limit.py FILE ...

Let A be any (epsilon, delta)-private mechanism, measurable in the answer x, which takes all values
in R^M; every two x at an l2 distance of at most s are neighbours. Its worst squared error is at
least s^2 V M / d for d <= M, if E|n|^2 >= V for every spherical noise n in R^d that meets
P(n in E) <= e^epsilon P(n + D in E) + delta for all events E and all |D| <= 1. (Average A over all
shifts and rotations of the answer: this keeps privacy and does not increase the worst error. Any d
of the M elements are private too.)

A file has functions w_j with values in [0, lambda_j], such as an event times lambda. By privacy,
E w_j(n) - e^epsilon E w_j(n + D) <= lambda_j delta. So E|n|^2 + delta sum lambda_j is at least the
mean over r = |n| of r^2 + sum_j (E w_j(r u) - e^epsilon E w_j(r u + D)), u a uniform unit vector,
and so at least the infimum over r. This file bounds that infimum in interval arithmetic.
"""

import bisect
import itertools
import json
import re
import sys
from fractions import Fraction

try:
    from flint import arb, ctx, fmpq
except ImportError:
    sys.exit("error: the checker needs python-flint: run pip install python-flint")

ctx.prec = 128  # bits
DEEPEST = 40  # a cell of radii is split at most so many times
WRONG = "not a JSON file of results/reference/certificates/limits (else check_certificate.py):"
NUMBER = re.compile(r"-?\d{1,40}(\.\d{1,60})?(e-?\d{1,3})?", re.ASCII)


def need(condition, sentence):
    if not condition:
        raise ValueError(sentence)


def exact(value):  # a whole number, a decimal as text, or a list of them
    if type(value) is list:
        return [exact(each) for each in value]
    need(type(value) is int or NUMBER.fullmatch(value), f"no decimal: {value}")
    return value if type(value) is int else fmpq(*Fraction(value).as_integer_ratio())


def cap(height, d):
    """The probability that u_1 <= height - 1, for u uniform on the unit sphere of R^d.

    u_1^2 has the Beta distribution with parameters 1/2 and (d - 1) / 2.
    """
    if height <= 0:
        return arb(0)
    if height > 1:
        return 1 - cap(2 - height, d) if height < 2 else arb(1)
    return (arb(height) * (2 - height)).beta_lower(arb(d - 1) / 2, arb(0.5), True) / 2


def line(x, xs, ys):  # the piecewise linear function through the points (xs, ys); 0 beyond them
    i = bisect.bisect_right(xs, x) - 1
    if i + 1 >= len(xs):
        return fmpq(0)
    return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i])


def threshold(epsilon, delta, bound, d, weight, radii, gaps):
    """lambda times one event, E: |y - D| >= K(|y|) with |D| = 1 and K(r) = 1 + r - k(r).

    k is linear between the radii, and 0 beyond them. Let u_1 = <u, D>. Then |r u - D| >= K(r) iff
    1 + u_1 <= h with h = k + (k / r) (1 - k / 2), k = k(r). And r u + D is in E iff it is no longer
    than X(r), X the inverse of K, iff 1 + u_1 <= h' with h' = k' - k' (2 - k') / (2 r) and
    k' = k(X(r)) = X(r) + 1 - r. For r < K(0) = 1 no r u + D is in E.
    """
    outer = [1 + r - k for r, k in zip(radii, gaps, strict=True)]
    need(type(d) is int and d >= 2 and weight > 0, "d is below 2, or the weight is not positive")
    need(radii[0] == gaps[0] == gaps[-1] == 0, "radii and gaps start with 0, and gaps end with it")
    need(all(0 <= k <= 2 for k in gaps), "a gap is not in [0, 2]")
    for each in (radii, outer):
        need(all(a < b for a, b in itertools.pairwise(each)), "radii or K do not increase")
    factor, target = arb(epsilon).exp(), bound + delta * weight
    need(outer[-1] ** 2 >= target, "r^2 is too small where the event ends")

    def least(a, b):  # a bound on [a, b], a piece on which k(r) and k(X(r)) are linear
        k = line(a, radii, gaps), line(b, radii, gaps)
        ratio = min(k[0] / a if a else gaps[1] / radii[1], k[1] / b)  # k / r is monotone
        p = cap(min(k) + ratio * (1 - max(k) / 2), d)
        if b <= 1:
            return a * a + weight * p
        k = max(line(a, outer, gaps), line(b, outer, gaps))
        q = cap(k - k * (2 - k) / (2 * b), d)  # h' increases in k' and in r
        return a * a + weight * (p - factor * q)

    ends = sorted({*radii, *outer})
    cells = [(a, b, 0) for a, b in itertools.pairwise(ends)]
    while cells:
        a, b, depth = cells.pop()
        if not least(a, b) >= target:
            need(depth < DEEPEST, f"not proved for noise of radius {float(a)}")
            cells += [(a, (a + b) / 2, depth + 1), ((a + b) / 2, b, depth + 1)]


def lattice(epsilon, delta, bound, d, steps, tests):
    """Functions w_j on the multiples of 1 / steps, for the changes D = -j / steps in R^1.

    Round n at random to one of its two neighbours on this lattice, without bias. This keeps
    privacy for such D, and adds at most 1 / (4 steps^2) to E n^2. "Spherical" says that n and -n
    have the same law, so the values at k and -k may be averaged.
    """
    need(d == 1 and type(steps) is int and steps > 0, "a lattice is for d = 1, with whole steps")
    gain, price = {}, 0  # by k, the sum of w_j(k) - e^epsilon w_j(k - j)
    for j, places, weights in tests:
        need(type(j) is int and 0 < j <= steps, f"a change by {j} of {steps} steps")
        for k, w in zip(places, weights, strict=True):
            need(type(k) is int and w >= 0, f"w({k}) = {w}")
            gain[k] = gain.get(k, 0) + w
            gain[k + j] = gain.get(k + j, 0) - arb(epsilon).exp() * w
        price += max(weights)
        need(len(set(places)) == len(places), "a place is there twice")
    target = bound + delta * price + fmpq(1, 4 * steps**2)
    for k in range(max(map(abs, gain)) + 2):  # beyond them nothing is gained, and k^2 is larger
        mean = arb(gain.get(k, 0) + gain.get(-k, 0)) / 2
        need(fmpq(k * k, steps**2) + mean >= target, f"not proved for noise of {k} steps")


def check(c):
    """Return what a certificate proves, as a line; ValueError where it is not proved."""
    groups = (c["claim"], c["bound"], c["test"])
    claim, bound, test = ({k: exact(v) for k, v in group.items()} for group in groups)
    m, s, epsilon, delta = (claim.pop(name) for name in ("elements", "l2", "epsilon", "delta"))
    value, d = bound.pop("value"), test["d"]
    need(not (claim or bound) and len(c) == 4, "an unknown field")
    need(type(m) is int and 1 <= d <= m and s > 0, f"d = {d}, {m} elements, l2 {s}")
    need(epsilon > 0 and 0 <= delta < 1, f"epsilon = {epsilon}, delta = {delta}")
    need(value > 0, f"the value {value} is no bound above 0")
    kinds = {"threshold": threshold, "lattice": lattice}
    kinds[c["kind"]](epsilon, delta, value, **test)
    rmse = ((arb(value) / d).sqrt() * s).lower() * (1 - fmpq(1, 10**8))  # before it is rounded
    said = ", ".join(f"{name} {number}" for name, number in c["claim"].items())
    return f"{said}: RMSE of an element at least {rmse.str(9, radius=False)}"


if __name__ == "__main__":
    sys.excepthook = lambda kind, e, _: print(
        f"{path}: NOT PROVED:", *f"{WRONG * (kind is not ValueError)} {e}".split(), file=sys.stderr
    )
    for path in sys.argv[1:] or sys.exit(print(__doc__.split("\n")[0], file=sys.stderr) or 2):
        with open(path, encoding="utf-8") as file:
            listed = json.load(file).get("limits")
        need(listed, f"{WRONG} it has no limits")
        for certificate in listed:
            print(check(certificate))
