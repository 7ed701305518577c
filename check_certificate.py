"""Check that a privacy guarantee is false, or true:  python check_certificate.py FILE ...
Let P and Q be the probabilities of an event E, a set of outputs y, for neighbours x and x'.
(epsilon, delta)-privacy says that P - e^epsilon Q <= delta for every E. The function named after a
certificate's mechanism computes P and Q in interval arithmetic, and the scale of the noise by the
paper's formula, or checks it. The neighbours differ by "is"; the claim allows "at_most"."""

import json
import re
import sys
from fractions import Fraction

try:
    from flint import acb, arb, arb_poly, ctx, fmpq
except ImportError:
    sys.exit("error: the checker needs python-flint: run pip install python-flint")

ctx.prec = 128  # bits
WRONG_FILE = "not a JSON file of results/reference/certificates (for limits: check_limit.py):"
PI, TWO, TINY = arb.pi(), arb(2), fmpq(1, 10**9)
NUMBER = re.compile(r"-?\d{1,40}((\.\d{1,60})?(e-?\d{1,3})?|/[1-9]\d{0,60})", re.ASCII)
FIELDS = "claim", "step", "bound", "setting", "mechanism", "neighbours", "noise", "event"


def require(condition, problem):
    if not condition:
        raise ValueError(problem)


def parse_number(value):  # an integer; a decimal or fraction as text; a size and its limit
    if type(value) is dict:
        size, limit = parse_number(value["is"]), parse_number(value["at_most"])
        require(len(value) == 2 and 0 < size <= limit, f"not 0 < is <= at_most: {value}")
        return size, limit
    require(type(value) is int or NUMBER.fullmatch(value), f"no decimal or fraction: {value!r}")
    return value if type(value) is int else fmpq(*Fraction(value).as_integer_ratio())


# P and Q of E: <y - x, x' - x> <= z sigma |x' - x|, for Gaussian noise of standard deviation sigma.
# mu = |x' - x| / sigma, and z may be any number.
def half_space(z, mu):
    return (-z / TWO.sqrt()).erfc() / 2, ((mu - z) / TWO.sqrt()).erfc() / 2


def ball(m, sigma, distance_squared, tau):
    """Return sigma, and P and Q of E: |y - x| <= sqrt(1 - tau^2) |y - x'|.
    The noise is R v, R = sigma |N(0, 1)|, with v uniform on the unit sphere of R^m. The cosine t of
    v and x' - x has density c (1 - t^2)^((m - 3) / 2). In units of |x' - x|, R <= r has probability
    erf(rho r), rho = |x' - x| / (sigma sqrt 2), and x + R v is in E iff R <= 1 / s, with
    s = t + sqrt(t^2 + a), a = tau^2 / (1 - tau^2); -t turns 1 / s into s / a. x' - R v is in E iff
    t >= tau and R is between 1 / s and s / tau^2, s = t + sqrt(t^2 - tau^2)."""
    rho, tau = (arb(distance_squared) / 2).sqrt() / sigma, arb(tau).mid()  # tau is ours to choose
    require(type(m) is int and m > 2, f"m = {m} is not an integer above 2")
    require(0 < tau < 1 and 0 < rho < 1e9, f"not 0 < tau = {tau} < 1 and rho = {rho} < 1e9")
    c = ((arb(m) / 2).lgamma() - (arb(m - 1) / 2).lgamma()).exp() / PI.sqrt()

    def integral(a, lowest_t):
        def integrand(t, analytic):
            root = 1 if m % 2 else (1 - t * t).sqrt(analytic=analytic)
            s = t + (t * t + a).sqrt(analytic=analytic)
            return root * (1 - t * t) ** ((m - 3) // 2) * ((rho / s).erf() + (rho * s / a).erf())

        return c * acb.integral(integrand, lowest_t, 1, abs_tol=TWO**-80, rel_tol=TWO**-80).real

    return sigma, integral(tau**2 / (1 - tau**2), 0), -integral(-(tau**2), tau)


def r1smg(epsilon, delta, scale, m, distance_squared, tau):  # sigma^2 is the paper's sigma*
    actual, largest = distance_squared
    psi = (delta * (arb(m - 1) / 2).gamma() / PI.sqrt() / (arb(m) / 2).gamma()) ** (2 / arb(m - 2))
    return ball(m, (2 * largest / epsilon / psi).sqrt(), actual, tau)


def product_noise(epsilon, delta, scale, m, distance_squared, k, tau):
    (actual, largest), q, k = distance_squared, arb(m) / 4, arb(k)
    h = (2 * k ** (1 / q) * (q + 1.5) ** (1 + 1 / q) / (1 + 0.5 / q).exp()).sqrt()
    x = (epsilon / h) ** 2 / 2
    f = x.hypgeom_1f1(q + 0.5, 0.5) + 2 * x.sqrt() * x.hypgeom_1f1(q + 1, 1.5)
    f *= ((m - 1) / ((2 * q - 1.5) * (2 * q + 0.75))).sqrt() / x.exp() / k / PI.sqrt()
    require(f <= delta <= f * (1 + TINY), f"for this k, the stated delta is {f}, not {delta}")
    return ball(m, arb(largest).sqrt() * h / epsilon, actual, tau)


def tldp(epsilon, delta, scale, changed, change, laplace, weight, z=0, cells=1, score=1):
    """k components change, each by `step`. E, over these: some y_i = x_i; or N, and no y_i = x'_i.
    For Gaussian noise, N is a half-space. For Laplace noise, divide the line from x_i to x'_i into
    `cells` equal parts. The score of y_i is the number of their midpoints that lie between y_i and
    x'_i. N says that the k scores have a sum of at least `score`."""
    (k, i), (step, width), e = changed, change, arb(epsilon)
    require(0 <= weight < 1, f"the weight {weight} is not in [0, 1)")
    require(type(k) is int and laplace in (0, 1), f"k = {k} is no integer or laplace not 0 or 1")
    if laplace:
        b, midpoints = width / e, [step * fmpq(2 * j + 1, 2 * cells) for j in range(cells)]
        tails = [arb(1), *((-each / b).exp() / 2 for each in midpoints), arb(0)]
        one = [tails[cells - j] - tails[cells - j + 1] for j in range(cells + 1)]  # of one score
        sums = (arb_poly(one) ** k).coeffs()  # the law of the sum for x; reversed, that for x'
        noise, p, q, inverse_peak = b, sum(sums[score:]), sum(sums[: k * cells - score + 1]), 2 * b
    else:
        noise = width / (2 * e).sqrt()
        (p, q), inverse_peak = half_space(z, step * arb(k).sqrt() / noise), noise * (2 * PI).sqrt()
    # None of the k components is kept: probability `noisy`. inverse_peak is 1 / (density at 0).
    noisy = (1 - (1 - weight) / (1 + inverse_peak / (e - i * e).exp())) ** k
    return noise, 1 - noisy + noisy * p, noisy * q


def norm_noise(epsilon, delta, scale, distance):  # its density is c exp(-|y - x| / b), in a norm
    return arb(distance[1]) / epsilon, arb(0), arb(0)  # P <= e^(|x' - x| / b) Q: no event gains


# E: y - x - r r^T has an eigenvalue below 0; x' has the record r, and x does not.
def wishart(epsilon, delta, scale, record_squared):
    noise = arb(3 * record_squared[1] / (2 * epsilon))
    return noise, 1 - (-record_squared[0] / (2 * noise)).exp(), arb(0)


def dawa(epsilon, delta, scale, n, l1, l2_squared, linf, start, stride):
    """E: every bucket is one cell, so DAWA rejects every interval of 2, 4, 8 ... cells.
    x' has n equal cells. In x, every stride-th cell from `start` on is larger by linf. An interval
    of `size` cells, j of them larger, has the deviation 2 linf j (size - j) / size. P is a lower
    bound: if an interval has larger cells, j is at most the least number that it can have."""
    changed, unit, log_p, log_q = range(start, n, stride), 4 * l1[1] / epsilon, 0, 0
    norms = l1[0] == len(changed) * linf[0] and l2_squared[0] == l1[0] * linf[0]
    require(norms, f"l1 and l2_squared are not those of {len(changed)} changes by linf")
    require(0 <= start < n and stride > 1, f"start {start} or stride {stride} is out of range")
    for size in [2**j for j in range(1, n.bit_length())]:
        runs = (start, 1), (n - 1 - changed[-1], 1), (stride - 1, len(changed) - 1)
        intervals, equal = n - size + 1, sum(i * max(0, cells + 1 - size) for cells, i in runs)
        least = size // 2 if stride == 2 and start < 2 else 1
        margin, noise = unit * (size - 1) / 3, unit * (2 - fmpq(1, size) - fmpq(1, n))
        tails = [arb((margin - 2 * linf[0] * j * fmpq(size - j, size)) / noise) for j in (0, least)]
        a, b = (-x - TWO.log() if x > 0 else (-x.exp() / 2).log1p() for x in tails)
        log_q, log_p = log_q + intervals * a, log_p + equal * a + (intervals - equal) * b
    return arb(unit), log_p.exp(), log_q.exp()


def gaussian(epsilon, delta, scale, z=None):  # the scale is mu = |x' - x| / sigma
    mu, e, factor = arb(scale), arb(epsilon), arb(epsilon).exp()
    (p, q), above = (half_space(v / 2 - e / v, v) for v in (mu, mu * (1 + TINY)))
    require(
        p - factor * q <= delta <= above[0] - factor * above[1],
        f"mu = {scale} is not the root of delta(mu) = {delta}, rounded down by at most 1e-9",
    )
    return mu, *((p, q) if z is None else half_space(z, mu))


LAWS = {f.__name__: f for f in (r1smg, product_noise, tldp, norm_noise, wishart, dawa, gaussian)}


def check(given):  # returns what the certificate proves, as a line
    step = given.get("step", given["claim"] | {"rate": 1})
    groups = step, *(given[name] for name in ("claim", "neighbours", "noise", "event", "bound"))
    step, claim, x, noise, event, bound = (
        {k: parse_number(v) for k, v in g.items()} for g in groups
    )
    epsilon, delta, rate = claim.pop("epsilon"), claim.pop("delta"), step.pop("rate")
    ((kind, value),), step["epsilon"] = bound.items(), fmpq(step["epsilon"])
    scale, p, q = LAWS[given["mechanism"]](**step, **x, **noise, **event)
    require({*given, "step"} == {*FIELDS} and not claim, "a field is missing or unknown")
    require(abs(noise["scale"] / scale - 1) < TINY, f"the scale is not the formula's, {scale}")
    require(0 < rate <= 1 > delta >= 0 < epsilon, "the rate, delta or epsilon is out of range")
    # P and Q are those of the best event if the certificate has no parameter of an event.
    every_event = [*x, *noise, *event] in (["scale"], ["distance", "scale"]) and "step" not in given
    p = rate * p + (1 - rate) * q
    gain = p - arb(epsilon).exp() * q
    proved = {
        "delta_at_least": gain >= value > delta,
        "epsilon_at_least": p >= arb(value).exp() * q and p > 0 and value > epsilon > delta == 0,
        "delta_at_most": gain <= value == delta and every_event,
    }
    require(proved[kind], f"not proved: {kind} {value}, with P = {p} and Q = {q}")
    facts = "; ".join(json.dumps({k: given[k]}) for k in FIELDS if given.get(k))
    return ("HOLDS" if kind == "delta_at_most" else "REFUTED") + re.sub('[{}":]', "", f"; {facts}")


def report(kind, error, _traceback):  # one line on stderr
    words = str(error).split() if kind is ValueError else [WRONG_FILE, *str(error).split()]
    print(f"{path}: NOT PROVED:", *words, file=sys.stderr)


if __name__ == "__main__":
    sys.excepthook = report
    for path in sys.argv[1:] or sys.exit(print(__doc__.split("\n")[0], file=sys.stderr) or 2):
        with open(path, encoding="utf-8") as file:
            listed = json.load(file).get("certificates")
        require(listed, f"{WRONG_FILE} it has no certificates")
        out = [*map(check, listed)]
        print(*out, f"{path}: {len(out)} proved, the last: {out[-1].split('; set')[0]}", sep="\n")
