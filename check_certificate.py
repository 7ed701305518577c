"""Check that a privacy guarantee is false, or true:  python check_certificate.py FILE ...
(epsilon, delta)-privacy means P - e^epsilon Q <= delta for every event E, whose probability is P or
Q for neighbours x or x'. The paper's formula gives the noise, interval arithmetic P and Q."""

import json
import re
import sys
from fractions import Fraction

try:
    from flint import acb, arb, arb_poly, ctx, fmpq
except ImportError:
    sys.exit("error: the checker needs python-flint: run pip install python-flint")

ctx.prec = 128  # bits
WRONG = "not a JSON file of results/reference/certificates (of limits: check_limit.py):"
PI, TWO, TINY = arb.pi(), arb(2), fmpq(1, 10**9)
NUMBER = re.compile(r"-?\d{1,40}((\.\d{1,60})?(e-?\d{1,3})?|/[1-9]\d{0,60})", re.ASCII)
FIELDS = "claim", "step", "bound", "setting", "mechanism", "neighbours", "noise", "event"


def need(condition, sentence):
    if not condition:
        raise ValueError(sentence)


def exact(value):  # an integer; a decimal or fraction as text; a size and its limit
    if type(value) is dict:
        size, limit = exact(value["is"]), exact(value["at_most"])
        need(len(value) == 2 and 0 < size <= limit, f"not a size above 0 and a limit: {value}")
        return size, limit
    need(type(value) is int or NUMBER.fullmatch(value), f"no decimal or fraction: {value!r}")
    return value if type(value) is int else fmpq(*Fraction(value).as_integer_ratio())


def half_spaces(z, mu):  # Gaussian noise; E: <y - x, x' - x> <= z sigma |x' - x|
    return (-z / TWO.sqrt()).erfc() / 2, ((mu - z) / TWO.sqrt()).erfc() / 2


def ball(m, sigma, distance_squared, tau):  # returns sigma, P and Q
    """Noise R v, R = sigma |z|, v uniform on a sphere; E: |y - x| <= sqrt(1 - tau^2) |y - x'|.
    The cosine t of v and x' - x has density c (1 - t^2)^((m - 3) / 2), and R <= r has probability
    erf(r / (sigma sqrt 2)). In units of |x - x'|, x + R v is in E iff R <= 1 / s, with
    s = t + sqrt(t^2 + a), a = tau^2 / (1 - tau^2); -t turns 1 / s into s / a. x' - R v is in E iff
    t >= tau and R is between 1 / s and s / tau^2, s = t + sqrt(t^2 - tau^2)."""
    rho, tau = (arb(distance_squared) / 2).sqrt() / sigma, arb(tau).mid()  # tau is ours to choose
    need(0 < tau < 1 and 0 < rho < 1e9 and type(m) is int and m > 2, f"tau = {tau}, m = {m}")
    c = ((arb(m) / 2).lgamma() - (arb(m - 1) / 2).lgamma()).exp() / PI.sqrt()

    def integral(a, low):
        def integrand(t, analytic):
            rest = 1 if m % 2 else (1 - t * t).sqrt(analytic=analytic)
            s = t + (t * t + a).sqrt(analytic=analytic)
            return rest * (1 - t * t) ** ((m - 3) // 2) * ((rho / s).erf() + (rho * s / a).erf())

        return c * acb.integral(integrand, low, 1, abs_tol=TWO**-80, rel_tol=TWO**-80).real

    return sigma, integral(tau**2 / (1 - tau**2), 0), -integral(-(tau**2), tau)


def r1smg(epsilon, delta, scale, m, distance_squared, tau):  # sigma* is a variance: scale^2
    psi = (delta * (arb(m - 1) / 2).gamma() / PI.sqrt() / (arb(m) / 2).gamma()) ** (2 / arb(m - 2))
    return ball(m, (2 * distance_squared[1] / epsilon / psi).sqrt(), distance_squared[0], tau)


def product_noise(epsilon, delta, scale, m, distance_squared, k, tau):
    q, k = arb(m) / 4, arb(k)
    h = (2 * k ** (1 / q) * (q + 1.5) ** (1 + 1 / q) / (1 + 0.5 / q).exp()).sqrt()
    x = (epsilon / h) ** 2 / 2
    f = x.hypgeom_1f1(q + 0.5, 0.5) + 2 * x.sqrt() * x.hypgeom_1f1(q + 1, 1.5)
    f *= ((m - 1) / ((2 * q - 1.5) * (2 * q + 0.75))).sqrt() / x.exp() / k / PI.sqrt()
    need(f <= delta <= f * (1 + TINY), f"for this k, the stated delta is {f}")
    return ball(m, arb(distance_squared[1]).sqrt() * h / epsilon, distance_squared[0], tau)


def tldp(epsilon, delta, scale, changed, change, laplace, weight, z=0, cells=1, score=1):
    (k, i), (step, width), e = changed, change, arb(epsilon)
    if laplace:  # E: a sum of k scores from 0 to cells is at least `score`
        b, steps = width / e, [step * fmpq(2 * j + 1, 2 * cells) for j in range(cells)]
        tails = [arb(1), *((-each / b).exp() / 2 for each in steps), arb(0)]
        one = [tails[cells - j] - tails[cells - j + 1] for j in range(cells + 1)]
        law = (arb_poly(one) ** k).coeffs()  # of the sum for x; that for x' is its mirror image
        noise, p, q, c = b, sum(law[score:]), sum(law[: k * cells - score + 1]), 2 * b
    else:
        noise = width / (2 * e).sqrt()
        (p, q), c = half_spaces(z, step * arb(k).sqrt() / noise), noise * (2 * PI).sqrt()
    need(type(k) is int and 0 <= weight < 1 and laplace in (0, 1), f"{k}, {weight}, {laplace}")
    noisy = (1 - (1 - weight) / (1 + c / (e - i * e).exp())) ** k  # no x_i or x'_i is kept
    return noise, 1 - noisy + noisy * p, noisy * q  # E: some y_i = x_i, or E but no y_i = x'_i


def norm_noise(epsilon, delta, scale, distance):  # its density is c exp(-|y - x| / b), in a norm
    return arb(distance[1]) / epsilon, arb(0), arb(0)  # P <= e^(|x' - x| / b) Q: no event gains


def wishart(epsilon, delta, scale, record_squared):  # E: y - x - r r^T has an eigenvalue below 0
    c = arb(3 * record_squared[1] / (2 * epsilon))
    return c, 1 - (-record_squared[0] / (2 * c)).exp(), arb(0)


def dawa(epsilon, delta, scale, n, l1, l2_squared, linf, start, stride):  # E: all buckets are cells
    spots, unit, log_p, log_q = range(start, n, stride), 4 * l1[1] / epsilon, 0, 0
    norms = l1[0] == len(spots) * linf[0] and l2_squared[0] == l1[0] * linf[0]
    need(norms and 0 <= start < n and stride > 1, "x is not x' with linf added at the spots")
    for size in [2**j for j in range(1, n.bit_length())]:
        gaps = (start + 1, 1), (n - spots[-1], 1), (stride, len(spots) - 1)
        flat = sum(count * max(0, gap - size) for gap, count in gaps)  # buckets without a spot
        some = size // 2 if stride == 2 and start < 2 else 1
        far, noise = unit * (size - 1) / 3, unit * (2 - fmpq(1, size) - fmpq(1, n))
        tails = [arb((far - 2 * linf[0] * j * fmpq(size - j, size)) / noise) for j in (0, some)]
        a, b = (-x - TWO.log() if x > 0 else (-x.exp() / 2).log1p() for x in tails)
        log_q, log_p = log_q + (n - size + 1) * a, log_p + flat * a + (n - size + 1 - flat) * b
    return arb(unit), log_p.exp(), log_q.exp()


def gaussian(epsilon, delta, scale, z=None):  # mu = |x' - x| / sigma
    mu, e, factor = arb(scale), arb(epsilon), arb(epsilon).exp()
    (p, q), above = (half_spaces(v / 2 - e / v, v) for v in (mu, mu * (1 + TINY)))
    need(p - factor * q <= delta <= above[0] - factor * above[1], "mu is not the root")
    return mu, *((p, q) if z is None else half_spaces(z, mu))


def check(c):
    step = c.get("step", c["claim"] | {"rate": 1})
    groups = (c["claim"], step, c["neighbours"], c["noise"], c["event"], c["bound"])
    claim, budget, x, noise, event, bound = ({k: exact(v) for k, v in g.items()} for g in groups)
    epsilon, delta, rate = claim.pop("epsilon"), claim.pop("delta"), budget.pop("rate")
    ((kind, value),), budget["epsilon"] = bound.items(), fmpq(budget["epsilon"])
    law = {f.__name__: f for f in (r1smg, product_noise, tldp, norm_noise, wishart, dawa, gaussian)}
    scale, p, q = law[c["mechanism"]](**budget, **x, **noise, **event)
    need({*c, "step"} == {*FIELDS} and not claim, "an unknown field")
    need(abs(noise["scale"] / scale - 1) < TINY, f"the formula gives the scale {scale}")
    every = [*x, *noise, *event] in (["scale"], ["distance", "scale"]) and "step" not in c
    p, factor = rate * p + (1 - rate) * q, arb(epsilon).exp()
    low, high = p - factor * q >= value > delta, p - factor * q <= value == delta and every
    ratio = p >= arb(value).exp() * q and p > 0 and value > epsilon > delta == 0
    proved = {"delta_at_least": low, "epsilon_at_least": ratio, "delta_at_most": high}
    need(proved[kind] and 0 < rate <= 1 > delta >= 0 < epsilon, f"not proved: P = {p}, Q = {q}")
    facts = "; ".join(json.dumps({k: c[k]}) for k in FIELDS if c.get(k))
    return ("HOLDS" if kind == "delta_at_most" else "REFUTED") + re.sub('[{}":]', "", f"; {facts}")


if __name__ == "__main__":
    sys.excepthook = lambda kind, e, _: print(
        f"{path}: NOT PROVED:", *f"{WRONG * (kind is not ValueError)} {e}".split(), file=sys.stderr
    )
    for path in sys.argv[1:] or sys.exit(print(__doc__.split("\n")[0], file=sys.stderr) or 2):
        with open(path, encoding="utf-8") as file:
            listed = json.load(file).get("certificates")
        need(listed, f"{WRONG} it has no certificates")
        out = [*map(check, listed)]
        print(*out, f"{path}: {len(out)} proved, the last: {out[-1].split('; set')[0]}", sep="\n")
