"""An audit of releases on pairs of neighbours that a query allows, chosen by a look at releases."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from mechanisms.black_box.release_audit import audit_release
from mechanisms.query.query import Query
from mechanisms.verification.audit_statistics import familywise_confidence
from mechanisms.verification.neighbours import changes, pair_that_differs, resting_value

# Releases by which pairs are chosen, pairs, and the fewest outputs of each value.
LOOK, PAIRS = 32, 6
FEWEST = 200


@dataclasses.dataclass(frozen=True)
class Audited:
    """What an audit of releases found.

    refuted: Whether the claim is false, with the confidence of all audits of the report together.
    epsilon_lower, delta_lower: Lower bounds at the claimed delta and epsilon; of the pair `pair`.
    samples: Outputs of each value, of all pairs.
    missing: Why there is nothing to audit, or empty.
    """

    refuted: bool = False
    epsilon_lower: float = 0.0
    delta_lower: float = 0.0
    pair: str = ""
    samples: int = 0
    missing: str = ""


def audit_pairs(
    release: Callable | list[str],
    query: Query,
    epsilon: float,
    delta: float,
    *,
    audits: int,
    seconds: float,
    most: int,
    text: bool = False,
) -> Audited:
    """Audit a function (value, rng) or a program on up to `PAIRS` pairs that the query allows.

    Args:
        audits: How many such calls share the confidence of 99.9%.
        seconds: About how long all pairs may take.
        most: Outputs of each value of a pair.
        text: See `audit_release`.

    Raises:
        As `audit_release`: a release that is no array of finite numbers, or fails.
    """
    begun = time.perf_counter()
    pairs = chosen_pairs(release if callable(release) else None, query)
    per_output = (time.perf_counter() - begun) / LOOK if callable(release) else 0.0
    if not pairs:
        return Audited(missing="no two values that the query allows are known to be neighbours")
    # A quarter of the time for the scores.
    affordable = int(0.75 * seconds / (2 * len(pairs) * max(per_output, 1e-7)))
    if affordable < FEWEST:
        return Audited(missing=f"a release takes {per_output:.2g} s, too long to sample")
    samples = min(most, affordable, max(FEWEST, 2**23 // query.size))
    confidence = familywise_confidence(0.999, audits * len(pairs))
    best = Audited()
    for name, pair in pairs:
        found = audit_release(
            release, *pair, epsilon, delta,
            samples=samples, confidence=confidence, whole_budget=True, text=text,
            time_limit=max(1.0, seconds),
        )  # fmt: skip
        refuted = found.refuted_after is not None
        if best.samples == 0 or (refuted, found.epsilon_lower) > (best.refuted, best.epsilon_lower):
            best = Audited(refuted, found.epsilon_lower, found.delta_lower, name, best.samples)
        best = dataclasses.replace(best, samples=best.samples + found.samples)
    return best


def chosen_pairs(release: Callable | None, query: Query) -> list[tuple[str, tuple]]:
    """Up to `PAIRS` pairs of values that the query allows, with their names.

    Args:
        release: A function (value, rng) whose answers show where its noise is least; None to choose
            without a look.
    """
    rest = resting_value(query)
    if rest is None:
        return []
    rng = np.random.default_rng(0)
    looks = [np.asarray(release(rest.copy(), rng), float) for _ in range(LOOK if release else 0)]
    noise = np.array([look - rest for look in looks if look.shape == rest.shape])
    if len(noise) < LOOK:
        noise = rng.standard_normal((LOOK, *query.shape))
    found = (
        (name, pair_that_differs(query, change, rest))
        for name, change in changes(query, noise, rng)
    )
    return [(name, pair) for name, pair in found if pair is not None][:PAIRS]
