"""Measure the audits and write docs/audit_self_tests.md, in some ten minutes.

Each row is computed with the seeds 0, 1, 2, ... up to its number of runs.
"""

import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from mechanisms import Budget, Mechanism, Query, get_mechanism
from mechanisms.black_box.learned_scores import FixedScore, learners_of
from mechanisms.black_box.release_audit import audit_release
from mechanisms.black_box.sequential_audit import audit_samples
from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.privacy.trade_off import type_two_error
from mechanisms.verification.sampled_audit import audit_losses, losses_to_refute

PAGE = Path(__file__).resolve().parents[2] / "docs" / "audit_self_tests.md"
EPSILON, MU = 0.5, 1.0
TRUTH = GaussianProfile(mu=MU)
DELTA = TRUTH.delta(EPSILON).value
ALPHA = np.linspace(0.01, 0.99, 99)
CURVE = type_two_error(TRUTH, ALPHA).value


def draws_of(profile) -> Callable:
    return lambda rng, n, reverse=False: profile.sample_losses(rng, n, reverse=reverse)


# --- errors under true claims ------------------------------------------------------------------


def interval_misses(seed: int) -> bool:
    """`audit_losses` at 95%: an interval of delta, from 300 losses of each side."""
    found = audit_losses(draws_of(TRUTH), EPSILON, samples=300, seed=seed, confidence=0.95)
    return not found.delta_lower <= DELTA <= found.delta_upper


def losses_refute(seed: int) -> bool:
    """`losses_to_refute` at 95%: a claim that holds with equality, up to 1000 losses."""
    found = losses_to_refute(
        draws_of(TRUTH), EPSILON, DELTA, samples=1000, seed=seed, confidence=0.95
    )
    return found is not None


def outputs_err(seed: int) -> tuple[bool, bool, bool]:
    """`audit_samples` at 85%, 5% each: verdict, bound of delta, band of the curve; 512 outputs."""
    found = audit_samples(
        tuple(lambda rng, n, mu=mu: mu + rng.standard_normal((n, 1)) for mu in (0.0, MU)),
        {"known": FixedScore(lambda outputs: -outputs[:, 0])},
        EPSILON, DELTA, samples=512, seed=seed, confidence=0.85,
    )  # fmt: skip
    band = found.curve
    missed = (band.upper(ALPHA) < CURVE).any() or (band.lower(ALPHA) > CURVE).any()
    return found.verdict == "refuted", found.delta_lower > DELTA, bool(missed)


def error_rows(runs: int) -> list[tuple[str, ...]]:
    """What may err, how often it may, and how often it did."""
    outputs = np.array([outputs_err(seed) for seed in range(runs)]).mean(axis=0)
    measured = (
        ("losses: interval of delta", np.mean([interval_misses(seed) for seed in range(runs)])),
        ("losses: refuted by betting", np.mean([losses_refute(seed) for seed in range(runs)])),
        ("outputs: claim refuted", outputs[0]),
        ("outputs: bound of delta", outputs[1]),
        ("outputs: band of the trade-off curve", outputs[2]),
    )
    return [(name, f"{runs:,}", "5%", f"{share:.2%}") for name, share in measured]


# --- what is refuted, and after how many samples ----------------------------------------------


def calibrated(key: str, query: Query, budget: Budget, **options) -> Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return get_mechanism(key).calibrate(query, budget, "published", **options)


def summary(name: str, claim: str, audit: str, found: list[int | None], most: int) -> tuple:
    """One row: the share of runs in which the claim was refuted, and the median of the samples."""
    fallen = sorted(math.inf if count is None else count for count in found)
    middle = fallen[len(fallen) // 2]
    shown = f"{int(middle):,}" if math.isfinite(middle) else "undecided"
    share = f"{sum(count is not None for count in found)} of {len(found)}"
    return name, claim, audit, f"{most:,}", share, shown


def by_losses(name: str, claim: str, profile, epsilon: float, delta: float, runs: int, most: int):
    """A row from losses of an exact profile."""
    found = [
        losses_to_refute(draws_of(profile), epsilon, delta, samples=most, seed=seed)
        for seed in range(runs)
    ]
    return summary(name, claim, "losses", found, most)


def by_outputs(name: str, claim: str, draws, epsilon: float, delta: float, runs: int, most: int,
               scores=("mean", "spread")):  # fmt: skip
    """A row from outputs."""
    found = [
        audit_samples(
            draws, learners_of(scores), epsilon, delta, samples=most, seed=seed
        ).refuted_after
        for seed in range(runs)
    ]
    return summary(name, claim, f"outputs, {' and '.join(scores)}", found, most)


def by_release(name: str, claim: str, mechanism: Mechanism, pair, epsilon: float, delta: float,
               runs: int, most: int):  # fmt: skip
    """A row from releases of a mechanism, as of an unknown function."""
    found = [
        audit_release(
            mechanism.release, *pair, epsilon, delta, samples=most, seed=seed
        ).refuted_after
        for seed in range(runs)
    ]
    return summary(name, claim, "outputs, default scores", found, most)


def naive_laplace(value: float) -> Callable:
    return lambda rng, n: value + rng.laplace(size=(n, 1))


def curator(value: float) -> Callable:
    """Reveals the value once in a million outputs, and is 0.8-private otherwise."""
    return lambda rng, n: (
        value + np.where(rng.random((n, 1)) < 1e-6, 0.0, rng.laplace(scale=1.25, size=(n, 1)))
    )


def sample_rows(runs: int, scale: float) -> list[tuple]:
    """Every known fault and every control; `scale` multiplies the budgets of the long rows."""
    mu, claim = mu_for(1.0, 1e-5), "(1, 1e-5)"
    budget = Budget(epsilon=1.0, delta=1e-5)
    unit = Query(shape=(8, 8), l2_sensitivity=1.0)
    r1smg = calibrated("r1smg", unit, budget)
    product = calibrated(
        "product-noise", Query(shape=(784,), l2_sensitivity=1.0), Budget(epsilon=0.1), k=1000.0
    )
    image = Query(shape=(28, 28), l2_sensitivity=28.0, l1_sensitivity=784.0, linf_sensitivity=1.0,
                  element_range=(0.0, 1.0), adjacency="local")  # fmt: skip
    tldp = calibrated("tldp-l", image, Budget(epsilon=1.0))
    first = np.zeros((8, 8))
    second = np.zeros((8, 8))
    second[0, 0] = 1.0
    stated = product.budget.delta
    long = max(1000, int(2_000_000 * scale))
    short = max(1000, int(100_000 * scale))
    return [
        by_losses("Gaussian, sigma x 1", claim, GaussianProfile(mu=mu), 1.0, 1e-5, runs, short),
        by_losses(
            "Gaussian, sigma x 0.95", claim, GaussianProfile(mu=mu / 0.95), 1.0, 1e-5, runs, long
        ),
        by_losses(
            "Gaussian, sigma x 0.8", claim, GaussianProfile(mu=mu / 0.8), 1.0, 1e-5, runs, short
        ),
        by_losses("R1SMG, 8 x 8", claim, r1smg.profile(), 1.0, 1e-5, runs, short),
        by_release("R1SMG, 8 x 8", claim, r1smg, (first, second), 1.0, 1e-5, runs, 4000),
        by_losses(
            "Product noise, M = 784, k = 1000",
            f"(0.1, {stated:.3g})",
            product.profile(),
            0.1,
            stated,
            runs,
            short,
        ),
        by_losses("TLDP-L, 28 x 28", "(1, 0)", tldp.profile(), 1.0, 0.0, runs, short),
        by_release(
            "TLDP-L, 28 x 28",
            "(1, 0)",
            tldp,
            (np.zeros((28, 28)), np.ones((28, 28))),
            1.0,
            0.0,
            runs,
            2000,
        ),
        by_outputs(
            "Naive Laplace, values 0 and 1",
            "(1, 1e-6)",
            (naive_laplace(0.0), naive_laplace(1.0)),
            1.0,
            1e-6,
            runs,
            20_000,
            ("bits",),
        ),
        by_outputs(
            "Naive Laplace, values 0 and 1",
            "(1, 1e-6)",
            (naive_laplace(0.0), naive_laplace(1.0)),
            1.0,
            1e-6,
            runs,
            short,
        ),
        by_outputs(
            "Curator: reveals once in a million",
            "(1, 0)",
            (curator(0.0), curator(1.0)),
            1.0,
            0.0,
            runs,
            short,
        ),
    ]


# --- the page ----------------------------------------------------------------------------------


def table(header: tuple[str, ...], rows: list[tuple]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


SELF_CHECK = "## Mistakes that a mechanism finds in itself"


def kept() -> str:
    """The part of the page that `measure_self_check.py` measures, as it stands."""
    return SELF_CHECK + PAGE.read_text().split(SELF_CHECK)[1]


def page(errors: list[tuple], samples: list[tuple]) -> str:
    """The page of both tables, and what is kept."""
    heads = (
        ("what may err", "runs", "allowed", "measured"),
        ("mechanism", "claim", "audit", "most samples", "refuted", "median samples"),
    )
    return f"""# How often the audits err, and what they find

Written by `python tests/benchmarks/measure_audits.py`. Run number i of a row has the seed i.

## Errors where the claim is true

Gaussian noise with mu = 1, claimed at epsilon = 0.5 with exactly its true delta, {DELTA:.4f}. A
true claim that is tight is the easiest to refute by mistake.

{table(heads[0], errors)}

## Samples until the claim is refuted

At 99.9% confidence. Samples are outputs for each of the two values, including those used for
training; "refuted" counts runs, and "undecided" says that in most runs the claim was not refuted.
Three rows must stay undecided: the Gaussian with all of its noise, whose claim is true; naive
Laplace noise where the score ignores the bits; and the curator, a mechanism that reveals the value
once in a million outputs.

{table(heads[1], samples)}

{kept()}"""


if __name__ == "__main__":
    PAGE.write_text(page(error_rows(2000), sample_rows(11, 1.0)))
