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
WRONG_FILE = "not a JSON file of results/reference/certificates/limits (else check_certificate.py):"
NUMBER = re.compile(r"-?\d{1,40}(\.\d{1,60})?(e-?\d{1,3})?", re.ASCII)


def require(condition, problem):
    if not condition:
        raise ValueError(problem)


def parse_numbers(value):  # an integer, a decimal as text, or a list of them
    if type(value) is list:
        return [parse_numbers(each) for each in value]
    require(type(value) is int or NUMBER.fullmatch(value), f"no decimal as text: {value!r}")
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


def interpolate(x, xs, ys):  # linear between the points (xs, ys), and 0 beyond the last
    i = bisect.bisect_right(xs, x) - 1
    if i + 1 >= len(xs):
        return fmpq(0)
    return ys[i] + (ys[i + 1] - ys[i]) * (x - xs[i]) / (xs[i + 1] - xs[i])


def threshold(epsilon, delta, bound, d, weight, radii, gaps):
    """Check the bound by one function: lambda = `weight` times E = {y: |y - D| >= K(|y|)}, |D| = 1.

    K(r) = 1 + r - k(r). k is linear between the `radii`, where it has the values `gaps`, and 0
    beyond them. Let u_1 = <u, D>. r u is in E iff 1 + u_1 <= h, with h = k + (k / r) (1 - k / 2)
    and k = k(r). Let X be the inverse of K. r u + D is in E iff its norm is at most X(r), that is,
    iff 1 + u_1 <= h', with h' = k' - k' (2 - k') / (2 r) and k' = k(X(r)) = X(r) + 1 - r. If
    r < K(0) = 1, no r u + D is in E.
    """
    outer = [1 + r - k for r, k in zip(radii, gaps, strict=True)]
    require(type(d) is int and d >= 2 and weight > 0, f"d = {d} < 2, or weight = {weight} <= 0")
    require(radii[0] == gaps[0] == gaps[-1] == 0, "not radii[0] = gaps[0] = gaps[-1] = 0")
    require(all(0 <= k <= 2 for k in gaps), "a gap is not in [0, 2]")
    for each in (radii, outer):
        require(all(a < b for a, b in itertools.pairwise(each)), "radii or K do not increase")
    factor, target = arb(epsilon).exp(), bound + delta * weight
    require(outer[-1] ** 2 >= target, "r^2 is too small where the event ends")

    def least(a, b):  # a lower bound for r in [a, b], on which k(r) and k(X(r)) are linear
        k = interpolate(a, radii, gaps), interpolate(b, radii, gaps)
        ratio = min(k[0] / a if a else gaps[1] / radii[1], k[1] / b)  # k / r is monotone
        p = cap(min(k) + ratio * (1 - max(k) / 2), d)
        if b <= 1:
            return a * a + weight * p
        k = max(interpolate(a, outer, gaps), interpolate(b, outer, gaps))
        q = cap(k - k * (2 - k) / (2 * b), d)  # h' increases in k' and in r
        return a * a + weight * (p - factor * q)

    ends = sorted({*radii, *outer})
    cells = [(a, b, 0) for a, b in itertools.pairwise(ends)]
    while cells:
        a, b, depth = cells.pop()
        if not least(a, b) >= target:
            require(depth < DEEPEST, f"not proved for noise of radius {float(a)}")
            cells += [(a, (a + b) / 2, depth + 1), ((a + b) / 2, b, depth + 1)]


def lattice(epsilon, delta, bound, d, steps, tests):
    """Check the bound by functions w_j on the multiples of 1 / steps, for D = -j / steps in R^1.

    w_j(k / steps) is one of the `weights` for k in `places`, and 0 elsewhere. Round n at random to
    one of its two neighbours on this lattice, without bias. This keeps privacy for such D, and adds
    at most 1 / (4 steps^2) to E n^2. "Spherical" says that n and -n have the same distribution, so
    the values at k and -k may be averaged.
    """
    require(d == 1 and type(steps) is int and steps > 0, f"not d = {d} = 1, or steps = {steps} < 1")
    gain, price = {}, 0  # gain[k] is the sum over j of w_j(k) - e^epsilon w_j(k - j)
    for j, places, weights in tests:
        require(type(j) is int and 0 < j <= steps, f"j = {j} is not in 1, ..., steps = {steps}")
        for k, w in zip(places, weights, strict=True):
            require(type(k) is int and w >= 0, f"w({k}) = {w} < 0, or {k} is no integer")
            gain[k] = gain.get(k, 0) + w
            gain[k + j] = gain.get(k + j, 0) - arb(epsilon).exp() * w
        price += max(weights)
        require(len(set(places)) == len(places), f"a place is listed twice for j = {j}")
    target = bound + delta * price + fmpq(1, 4 * steps**2)
    for k in range(max(map(abs, gain)) + 2):  # beyond, the gain is 0 and k^2 is larger
        mean = arb(gain.get(k, 0) + gain.get(-k, 0)) / 2
        require(fmpq(k * k, steps**2) + mean >= target, f"not proved for noise of {k} steps")


def check(c):
    """Return what a certificate proves, as a line, or raise ValueError."""
    groups = (c["claim"], c["bound"], c["test"])
    claim, bound, test = ({k: parse_numbers(v) for k, v in group.items()} for group in groups)
    m, s, epsilon, delta = (claim.pop(name) for name in ("elements", "l2", "epsilon", "delta"))
    value, d = bound.pop("value"), test["d"]
    require(not (claim or bound) and len(c) == 4, "a field is missing or unknown")
    require(type(m) is int and 1 <= d <= m, f"not 1 <= d = {d} <= elements = {m}")
    require(
        epsilon > 0 and 0 <= delta < 1, f"not epsilon = {epsilon} > 0, 0 <= delta = {delta} < 1"
    )
    require(value > 0 and s > 0, f"not value = {value} > 0 and l2 = {s} > 0")
    kinds = {"threshold": threshold, "lattice": lattice}
    kinds[c["kind"]](epsilon, delta, value, **test)
    rmse = ((arb(value) / d).sqrt() * s).lower() * (1 - fmpq(1, 10**8))  # before it is rounded
    said = ", ".join(f"{name} {number}" for name, number in c["claim"].items())
    return f"{said}: RMSE of an element at least {rmse.str(9, radius=False)}"


def report(kind, error, _traceback):  # one line on stderr
    words = str(error).split() if kind is ValueError else [WRONG_FILE, *str(error).split()]
    print(f"{path}: NOT PROVED:", *words, file=sys.stderr)


if __name__ == "__main__":
    sys.excepthook = report
    for path in sys.argv[1:] or sys.exit(print(__doc__.split("\n")[0], file=sys.stderr) or 2):
        with open(path, encoding="utf-8") as file:
            listed = json.load(file).get("limits")
        require(listed, f"{WRONG_FILE} it has no limits")
        for certificate in listed:
            print(check(certificate))
