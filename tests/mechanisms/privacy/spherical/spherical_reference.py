"""Reference values of delta(epsilon) for spherical noise, by another formula in 50 digits.

    python tests/mechanisms/privacy/spherical/spherical_reference.py

rewrites the deltas of `spherical_reference.csv` beside this file (about an hour on one core). The
formula,

    delta = P(r' > h(r)) - e^epsilon P(r' < k(r)),
    log g(h(r)) = log g(r) - epsilon,   log g(k(r)) = log g(r) + epsilon,

integrates the radius against the distribution function of the angle. It cancels, hence the 50
digits. It shares nothing with `spherical_balls` but the model. The cases have 3 to 1e7 elements and
deltas near 0.3, 1e-5 and 1e-15 at epsilon 0.1, 1 and 10; the last have few elements, and powers far
from 1 and 2.
"""

import csv
from pathlib import Path

import mpmath as mp

TABLE = Path(__file__).with_name("spherical_reference.csv")
PIECES = 8
COLUMNS = ["dimension", "shape", "power", "scale", "epsilon", "delta"]


def reference_delta(dimension: int, shape: float, power: float, scale: float, epsilon: float):
    """delta(epsilon) of noise ~ ||x||^(a-M) exp(-(||x||/b)^p) in R^M for a shift of length 1."""
    with mp.workdps(50):
        return +_delta(dimension, *(mp.mpf(value) for value in (shape, power, scale, epsilon)))


def _delta(dimension, a, p, b, epsilon):
    s, gap, half = 1 / b, dimension - a, mp.mpf(dimension - 1) / 2

    def log_density(r):
        return -gap * mp.log(r) - r**p

    def radius_at(level):
        """r with log_density(r) = level, or None where the density never reaches it."""
        if gap == 0:
            return (-level) ** (1 / p) if level < 0 else None
        # gap log r + r^p = -level, by the Lambert function in r^p.
        kappa = gap / p
        return (kappa * _lambert(mp.log(1 / kappa) - level / kappa)) ** (1 / p)

    log_constant = mp.loggamma(half + mp.mpf(1) / 2) - mp.loggamma(half) - mp.log(mp.pi) / 2

    def below(t):
        """P(cosine < t)."""
        if abs(t) >= 1:
            return mp.mpf(t > 0)
        if dimension * t * t > 800:
            return mp.mpf(t > 0)  # less than e^-400 away from it
        # P(0 < cosine < |t|) = C |t| (1 - t^2)^half 2F1(half + 1/2, 1; 3/2; t^2), positive terms;
        # the tail is its distance from 1/2, which costs M t^2 / 4.6 digits.
        with mp.workdps(70 + int(dimension * t * t / 4)):
            series = mp.hyp2f1(half + mp.mpf(1) / 2, 1, mp.mpf(3) / 2, t * t)
            inside = t * mp.exp(log_constant + half * mp.log1p(-t * t)) * series
            return mp.mpf(1) / 2 + inside

    def integrand(y):
        v = mp.exp(y)
        r = v ** (1 / p)
        level = log_density(r)
        h, k = radius_at(level - epsilon), radius_at(level + epsilon)
        first = below((r * r + s * s - h * h) / (2 * r * s))
        second = 0 if k is None else below(-(r * r + s * s - k * k) / (2 * r * s))
        weight = mp.exp(a / p * y - v - mp.loggamma(a / p))
        return weight * (first - mp.exp(epsilon) * second)

    return mp.quad(integrand, _breaks(a / p, p, s, gap, epsilon), maxdegree=9)


def _lambert(log_x):
    """W(x) from log x, for x too large to be formed: w + log w = log x."""
    w = mp.lambertw(mp.exp(log_x)).real if log_x < 1000 else log_x - mp.log(log_x)
    for _ in range(8):
        w -= (w + mp.log(w) - log_x) * w / (1 + w)
    return w


def _breaks(k, p, s, gap, epsilon):
    """Ends and inner points for the integral over y = log r^p."""
    mode, width = mp.log(k), 1 / mp.sqrt(k)
    # The gamma law of r^p has less than 1e-45 beyond these ends.
    tail = mp.mpf(104)
    low = mode - max(mp.sqrt(2 * tail) * width * mp.mpf("1.1"), tail / k + 1 if k < 100 else 0)
    high = mode + mp.sqrt(2 * tail) * width + (mp.log(2 + tail / k) if k < 100 else 0)
    ends = [low + (high - low) * i / mp.mpf(PIECES) for i in range(PIECES + 1)]

    def loss_at(y, sign):
        r = mp.exp(y / p)
        other = abs(r + sign * s)
        return gap * mp.log(other / r) + other**p - r**p

    # The edge of {loss > epsilon}, or of {loss < -epsilon} for the second term, enters or leaves
    # the sphere where the loss at a pole is epsilon, or -epsilon.
    # The search is finer around r = s, where the loss has a pole.
    centre = p * mp.log(s)
    offsets = [mp.mpf(10) ** (mp.mpf(i) / 4) for i in range(-60, 6)]
    fine = [low + (high - low) * (i + mp.mpf("0.37")) / 400 for i in range(400)]
    fine = sorted(fine + [centre + o for o in offsets] + [centre - o for o in offsets])
    kinks = []
    for sign, level in ((1, epsilon), (-1, epsilon), (-1, -epsilon)):
        values = [loss_at(y, sign) - level for y in fine]
        for left, right, f, g in zip(fine, fine[1:], values, values[1:], strict=False):
            if f * g < 0:
                kinks.append(
                    mp.findroot(
                        lambda y, q=sign, e=level: loss_at(y, q) - e,
                        (left, right),
                        "anderson",
                        verify=False,
                    )
                )
    return sorted(ends + [y for y in [*kinks, centre] if low < y < high])


def rows() -> list[tuple[float, ...]]:
    """Read the stored cases: dimension, shape, power, scale, epsilon and delta."""
    with TABLE.open() as file:
        return [tuple(float(row[name]) for name in COLUMNS) for row in csv.DictReader(file)]


def main() -> None:
    stored = rows()
    with TABLE.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for dimension, *case, _ in stored:
            again = reference_delta(int(dimension), *case)
            writer.writerow([int(dimension), *case, mp.nstr(again, 20)])


if __name__ == "__main__":
    main()
