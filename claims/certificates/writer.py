"""What every certificate says: mechanism, claim, neighbours, noise, event and bound.

The verdicts are those of the reference run. Bounds are rounded down, those of what holds up.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath

from claims.certificates import FOLDER
from claims.certificates.probabilities import (
    ball_probabilities,
    best_score,
    half_space_probabilities,
    score_laws,
    with_kept,
)
from claims.judged_rows import calibrated
from claims.ledger import all_claims
from mechanisms import Budget, Query
from mechanisms.catalogue.product_noise import log_k_for, log_stated_delta
from mechanisms.catalogue.tldp import gaussian_variant, laplace_variant
from mechanisms.catalogue.workloads.dawa import DawaPublished
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.box_query import box_query
from mechanisms.strategies.partition import spikes
from paper_figures.paper_settings import PAPER_SETTINGS
from paper_figures.r1smg2024.numbers import GRADIENT

Certificate = dict[str, Any]
VERDICTS = FOLDER.parent / "tables" / "suite_verdicts.csv"
# Share of P that the quadrature of the writer may err; the bound is that much smaller.
_ERROR = 1e-10
_DIGITS = 8
# More components than these do not add to a bound that is one to nine digits.
_MOST_CHANGED, _CELLS = 784, 64


def exact(value: float) -> str:
    """A number as its source writes it: a short decimal, or a fraction with a small denominator."""
    text = f"{value:.12g}".replace("e+", "e")
    if float(text) == value:
        return text
    near = Fraction(value).limit_denominator(10**7)
    return str(near) if math.isclose(near, value, rel_tol=1e-14, abs_tol=0) else repr(value)


def rounded(value: mpmath.mpf, digits: int, *, up: bool = False) -> str:
    """A decimal that is not above `value` (not below it, where `up`), to so many digits."""
    exponent = int(mpmath.floor(mpmath.log10(value))) + 1 - digits
    unit = mpmath.mpf(10) ** exponent
    whole = int((mpmath.ceil if up else mpmath.floor)(value / unit))
    return f"{Decimal(whole).scaleb(exponent).normalize():{'f' if exponent > -25 else 'e'}}"


def certificate(
    setting: str,
    mechanism: str,
    budget: Budget,
    neighbours: dict,
    noise: dict,
    event: dict,
    bound: dict,
    step: dict | None = None,
) -> Certificate:
    """One certificate in the order in which it is read; delta is the text "0" for a pure claim."""
    claim = {"epsilon": exact(budget.epsilon), "delta": exact(budget.delta)}
    own = {"setting": setting, "mechanism": mechanism, "claim": claim}
    own |= {"step": step} if step else {}
    return own | {"neighbours": neighbours, "noise": noise, "event": event, "bound": bound}


def digits(value: float) -> str:
    """Fifteen digits, without a plus sign."""
    return f"{value:.15g}".replace("e+", "e")


def size(value: str | int, limit: str | int) -> dict[str, str | int]:
    """A size of the change between neighbours, with what the claim allows."""
    return {"is": value, "at_most": limit}


def lower_bound(p: Any, q: Any, epsilon: float, rate: float = 1.0) -> dict[str, str]:
    """P - e^epsilon Q, less what the probabilities may err, rounded down."""
    with mpmath.workdps(40):
        p, q, rate = mpmath.mpf(p), mpmath.mpf(q), mpmath.mpf(rate)
        gain = rate * p - (mpmath.exp(epsilon) - 1 + rate) * q
        return {"delta_at_least": rounded(gain - _ERROR * rate * p, _DIGITS)}


def ball(
    query: Query, sigma: float, epsilon: float, rate: float = 1.0
) -> tuple[dict, dict, dict[str, str]]:
    """Neighbours, event and bound for spherical noise with a half-normal radius.

    The loss of an output that lies kappa times as far from x' as from x is (M - 1) ln kappa, and
    what the radius adds, which is little.
    """
    loss = math.log1p(math.expm1(epsilon) / rate)
    tau = float(f"{math.sqrt(-math.expm1(-2 * loss / (query.size - 1))):.12g}")
    p, q = ball_probabilities(query.size, query.reach / sigma, tau)
    distance = size(exact(query.reach**2), exact(query.l2_sensitivity**2))
    neighbours = {"m": query.size, "distance_squared": distance}
    return neighbours, {"tau": repr(tau)}, lower_bound(p, q, epsilon, rate)


def r1smg(setting: str, query: Query, budget: Budget) -> Certificate:
    """R1SMG as published."""
    sigma = calibrated("r1smg", query, budget).noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(query, sigma, budget.epsilon)
    return certificate(setting, "r1smg", budget, neighbours, {"scale": digits(sigma)}, event, bound)


def r1smg_step(setting: str, step: Budget, total: Budget, rate: float) -> Certificate:
    """One step of DP-SGD with R1SMG, on a Poisson sample, against the total budget."""
    sigma = calibrated("r1smg", GRADIENT, step).noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(GRADIENT, sigma, total.epsilon, rate)
    own = {"epsilon": exact(step.epsilon), "delta": exact(step.delta), "rate": exact(rate)}
    noise = {"scale": digits(sigma)}
    return certificate(setting, "r1smg", total, neighbours, noise, event, bound, own)


def product_noise(
    setting: str, query: Query, budget: Budget, k: float | None = None
) -> Certificate:
    """Product noise; with k, the claim is the delta that is stated for k, rounded up."""
    if k is None:
        # The stated delta falls with k: it must not exceed the budget's.
        log_k = log_k_for(query.size, budget.epsilon, budget.delta)
        text = digits(math.exp(log_k) * (1 + 1e-10))
    else:
        log_stated = log_stated_delta(query.size, budget.epsilon, math.log(k))
        with mpmath.workdps(40):
            stated = float(rounded(mpmath.exp(log_stated) * (1 + 1e-10), 12, up=True))
        budget, text = Budget(epsilon=budget.epsilon, delta=stated), str(k)
    pure = Budget(epsilon=budget.epsilon)
    noise = calibrated("product-noise", query, pure, k=float(text)).noise
    sigma = noise.scale / math.sqrt(2)
    neighbours, event, bound = ball(query, sigma, budget.epsilon)
    noise = {"k": text, "scale": digits(sigma)}
    return certificate(setting, "product_noise", budget, neighbours, noise, event, bound)


def tldp(
    setting: str, letter: str, query: Query, epsilon: float, weight: float | None
) -> Certificate:
    """TLDP-L or TLDP-G, with one weight for all components or none."""
    laplace = letter == "l"
    width, budget = query.linf_sensitivity, Budget(epsilon=epsilon)
    if query.structure == "gram":
        # x = (1, 1, 1, 1) and y = (1, 1, -1, -1), in units of the bound: half of x x^T - y y^T is 0
        # and the other half of its elements are 2, where an element is at most 4.
        changed, share = query.size // 2, Fraction(1, 2)
    else:
        changed, share = min(query.changed, _MOST_CHANGED), Fraction(1)
    noise, log_keep = (laplace_variant if laplace else gaussian_variant)(query, budget)
    step = width * float(share)
    with mpmath.workdps(40):
        if laplace:
            cells = _CELLS if changed < _CELLS else 1
            law = score_laws(step / noise.scale, cells, changed)
            score, *pair = best_score(law, epsilon)
            event, scale = {"cells": cells, "score": score}, noise.scale
            # Of a sum of many terms that are all positive.
            pair = [mpmath.mpf(min(pair[0] * (1 - 1e-11), 1.0)), mpmath.mpf(pair[1] * (1 + 1e-11))]
        else:
            scale = noise.sigma
            mu = step * math.sqrt(changed) / scale
            z = float(f"{mu / 2 - epsilon / mu:.9g}")
            event, pair = {"z": repr(z)}, half_space_probabilities(z, mu)
        p, q = with_kept(pair, log_keep + math.log1p(-(weight or 0.0)), changed)
        bound = lower_bound(p, q, epsilon)
    change = size(exact_times(width, share), exact(width))
    return certificate(
        setting,
        "tldp",
        budget,
        {"changed": size(changed, query.size), "change": change},
        {"laplace": int(laplace), "weight": exact(weight or 0.0), "scale": digits(scale)},
        event,
        bound,
    )


def exact_times(value: float, factor: Fraction) -> str:
    return exact(value) if factor == 1 else str(Fraction(exact(value)) * factor)


def wishart(setting: str, query: Query, budget: Budget) -> Certificate:
    """The Wishart mechanism on a record of the largest norm, against none."""
    with mpmath.workdps(40):
        p = -mpmath.expm1(-mpmath.mpf(budget.epsilon) / 3)
        bound = lower_bound(p, 0, budget.epsilon)
    longest = exact(query.record_bound**2)
    scale = Fraction(longest) * 3 / (2 * Fraction(exact(budget.epsilon)))
    return certificate(
        setting,
        "wishart",
        budget,
        {"record_squared": size(longest, longest)},
        {"scale": str(scale)},
        {},
        bound,
    )


def dawa(setting: str, query: Query, budget: Budget) -> Certificate:
    """DAWA as published at its default ratio: the change that raises P / Q most.

    One cell, two cells where a record moves, or every other cell where all may change.
    """
    mechanism = DawaPublished.calibrate(query, budget)
    n, one = query.size, Fraction(exact(query.linf_sensitivity))
    if query.structure == "histogram" and query.adjacency == "replace":
        places = [(n // 4, n // 2)]
    else:
        places = [(n // 2, n)] if query.one_column else [(n // 2, n), (0, 2)]
    log_q = mechanism._log_all_single(spikes(n, {}))
    losses = {
        place: mechanism._log_all_single(uneven(n, *place, float(one))) - log_q for place in places
    }
    start, stride = max(losses, key=losses.get)
    with mpmath.workdps(30):
        bound = rounded(mpmath.mpf(losses[start, stride]) * (1 - 1e-9), 5)
    count, l1 = len(range(start, n, stride)), Fraction(exact(query.l1_sensitivity))
    norms = {
        "l1": size(str(count * one), str(l1)),
        "l2_squared": size(str(count * one**2), exact(query.l2_sensitivity**2)),
        "linf": size(str(one), str(one)),
    }
    scale = str(4 * l1 / Fraction(exact(budget.epsilon)))
    return certificate(
        setting,
        "dawa",
        budget,
        {"n": n} | norms | {"start": start, "stride": stride},
        {"scale": scale},
        {},
        {"epsilon_at_least": bound},
    )


def uneven(
    n: int, start: int, stride: int, change: float
) -> Callable[[int], list[tuple[float, int]]]:
    """Deviations, for `log_all_single`, of equal cells of which every `stride`-th is changed.

    An interval with several changed cells counts as one with one, unless every other is changed.
    """
    spots = range(start, n, stride)
    gaps = [start + 1, n - spots[-1], *[stride] * min(1, len(spots) - 1)]
    times = [1, 1, len(spots) - 1]

    def found(length: int) -> list[tuple[float, int]]:
        flat = sum(count * max(0, gap - length) for gap, count in zip(gaps, times, strict=False))
        some = length // 2 if stride == 2 else 1
        deviation = 2 * change * some * (length - some) / length
        return [(0.0, flat), (deviation, n - length + 1 - flat)]

    return found


def root(budget: Budget) -> mpmath.mpf:
    """mu of the analytic Gaussian to 14 digits, on the private side of the root."""
    with mpmath.workdps(60):
        epsilon, delta = mpmath.mpf(exact(budget.epsilon)), _real(exact(budget.delta))
        start = mpmath.mpf(float(mu_for(budget.epsilon, budget.delta)))

        def excess(mu):
            p, q = half_space_probabilities(mu / 2 - epsilon / mu, mu)
            return p - mpmath.exp(epsilon) * q - delta

        found = mpmath.findroot(excess, (start * (1 - 1e-9), start * (1 + 1e-9)), tol=1e-60)
        return mpmath.mpf(rounded(found, 14))


def _real(text: str) -> mpmath.mpf:
    fraction = Fraction(text)
    return mpmath.mpf(fraction.numerator) / fraction.denominator


def gaussian_holds(setting: str, budget: Budget) -> Certificate:
    """Analytic Gaussian noise has at most the claimed delta."""
    return certificate(
        setting,
        "gaussian",
        budget,
        {},
        {"scale": _text(root(budget))},
        {},
        {"delta_at_most": exact(budget.delta)},
    )


def _text(mu: mpmath.mpf) -> str:
    with mpmath.workdps(40):
        return mpmath.nstr(mu, 14, min_fixed=-(10**3), max_fixed=10**3)


def imgm_batch(setting: str, budget: Budget, rate: Fraction, *, sampled: bool) -> Certificate:
    """IMGM's noise at (epsilon / q, delta / q): released for all records, or on a secret sample."""
    step = {
        name: Fraction(exact(value)) / rate
        for name, value in (("epsilon", budget.epsilon), ("delta", budget.delta))
    }
    with mpmath.workdps(60):
        mu = root(Budget(**{name: float(value) for name, value in step.items()}))
        epsilon = float(budget.epsilon)
        if sampled:
            epsilon = math.log1p(math.expm1(epsilon) / float(rate))
        z = float(f"{float(mu) / 2 - epsilon / float(mu):.12g}")
        p, q = half_space_probabilities(z, mu)
        bound = lower_bound(p, q, budget.epsilon, float(rate) if sampled else 1.0)
    step = {name: str(value) for name, value in step.items()}
    step["rate"] = str(rate) if sampled else 1
    return certificate(
        setting, "gaussian", budget, {}, {"scale": _text(mu)}, {"z": repr(z)}, bound, step
    )


def verdicts() -> dict[str, dict[str, str]]:
    """By mechanism and setting: the verdict of the guarantee study of the reference run."""
    found: dict[str, dict[str, str]] = {}
    with VERDICTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["mechanism"], {})[row["setting"]] = row["verdict"]
    return found


def files() -> Iterator[tuple[str, list[str], list[Certificate]]]:
    """Name, claims and certificates of every file."""
    arguments = {claim.id: claim.arguments for claim in all_claims()}
    settings = {setting.name: setting for setting in PAPER_SETTINGS}
    found = verdicts()

    def chosen(key: str, verdict: str = "refuted"):
        names = [name for name, each in found[key].items() if each == verdict]
        return [settings[name] for name in names]

    published = [r1smg(each.name, each.query, each.budget) for each in chosen("r1smg")]
    inside = {each.name for each in chosen("r1smg") if each.budget.epsilon * each.query.size < 1}
    small = [
        r1smg(
            f"M = {m}, (0.9 / M, 1e-5)",
            Query(shape=(m,), l2_sensitivity=1.0),
            Budget(epsilon=0.9 / m, delta=1e-5),
        )
        for m in arguments["r1-thm5"]["sizes"]
        if m > 3  # for M = 3 the claim holds
    ]
    own = [each for each in published if each["setting"] in inside]
    yield "r1-thm5", ["r1-thm5", "guarantee/r1smg"], own + small
    others = [each for each in published if each["setting"] not in inside]
    yield "guarantee-r1smg", ["guarantee/r1smg"], others

    a = arguments["r1-dpsgd-private"]
    steps = [
        r1smg_step(
            f"one step of the total {total:g}",
            Budget(epsilon=step, delta=a["step_delta"]),
            Budget(epsilon=total, delta=a["delta"]),
            a["rate"],
        )
        for total, _, step in a["budgets"]
    ]
    yield "r1-dpsgd-private", ["r1-dpsgd-private"], steps

    stated = [
        product_noise(
            f"M = {each['query']['shape'][0]}, epsilon {each['epsilon']:g}",
            Query(shape=tuple(each["query"]["shape"]), l2_sensitivity=1.0),
            Budget(epsilon=each["epsilon"]),
            each["options"]["k"],
        )
        for each in arguments["product-guarantee"]["settings"]
    ]
    yield "product-guarantee", ["product-guarantee"], stated
    key = "product-noise"
    yield (
        f"guarantee-{key}",
        [f"guarantee/{key}"],
        [product_noise(each.name, each.query, each.budget) for each in chosen(key)],
    )

    for claim, names in (("tldp-thm1", ["tldp-thm1", "tldp-thm2"]), ("tldp-thm3", ["tldp-thm3"])):
        a = arguments[claim]
        weight = a.get("weight")
        yield (
            claim,
            names,
            [
                tldp(
                    f"TLDP-{letter.upper()}{'-w' if weight else ''}, I = {count}",
                    letter,
                    box_query((count,), 0.0, a["width"]),
                    a["epsilon"],
                    weight,
                )
                for letter in "lg"
                for count in a["counts"]
            ],
        )
    for letter in "lg":
        for key, weight in ((f"tldp-{letter}", None), (f"tldp-{letter}-w", 0.5)):
            rows = chosen(key)
            made = [
                tldp(each.name, letter, each.query, each.budget.epsilon, weight) for each in rows
            ]
            yield f"guarantee-{key}", [f"guarantee/{key}"], made

    a = arguments["imgm-f1-budget"]
    batches = [
        imgm_batch(
            f"{data}, {words}, epsilon {epsilon:g}",
            Budget(epsilon=epsilon, delta=a["delta"]),
            Fraction(a["batch"], records),
            sampled=reading == "sampled",
        )
        for reading, words in (("released", "all records"), ("sampled", "one secret sample"))
        for data, records in a["records"].items()
        for epsilon in a["epsilons"]
    ]
    yield "imgm-f1-budget", ["imgm-f1-budget"], batches

    pure = {name: Budget(epsilon=each.budget.epsilon) for name, each in settings.items()}
    for key, make in (("wishart", wishart), ("dawa-published", dawa)):
        made = [make(each.name, each.query, pure[each.name]) for each in chosen(key)]
        yield f"guarantee-{key}", [f"guarantee/{key}"], made

    alike = ("gaussian-analytic", "imgm", "llagp", "dphsgd")
    for key in alike:
        made = [gaussian_holds(each.name, each.budget) for each in chosen(key, "holds")]
        names = [f"guarantee/{key}", *(["imgm-thm2"] if key == "imgm" else [])]
        yield f"guarantee-{key}", names, made


def text_of(claims: list[str], certificates: list[Certificate]) -> str:
    """The bytes of a file."""
    lines = ",\n".join(json.dumps(each) for each in certificates)
    return f'{{"claims": {json.dumps(claims)}, "certificates": [\n{lines}\n]}}\n'


def write(folder: Path) -> list[Path]:
    """Write all certificates; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, claims, certificates in files():
        paths.append(folder / f"{name}.json")
        paths[-1].write_text(text_of(claims, certificates), encoding="utf-8")
    return paths
