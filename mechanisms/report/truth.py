"""The true privacy of a mechanism's claim for one query and budget, and the checks of itself."""

import dataclasses
import math
import warnings

from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.base.registry import get_mechanism
from mechanisms.query.named_code import error_line
from mechanisms.query.query import Budget, OutOfRangeWarning, Query, Unsupported
from mechanisms.report.pairs_audit import Audited, audit_pairs
from mechanisms.report.standard_queries import FAMILIES
from mechanisms.report.subject import Subject
from mechanisms.verification.self_check import QUICK
from mechanisms.verification.verification import (
    INCONSISTENT,
    REFUTED,
    UNDECIDED,
    Verification,
    claimed_delta,
    verify,
)

UNSUPPORTED, FAILED = "unsupported", "failed"
# Of an audit of one cell.
SECONDS_OF_AUDIT, OUTPUTS_OF_AUDIT = 3.0, 10_000


def query_of(question: dict) -> Query:
    """The query of a question: that of a family at a size, or the one that was stated."""
    if "stated" in question:
        return Query(**question["stated"] | {"shape": tuple(question["stated"]["shape"])})
    return FAMILIES[question["family"]].query(question["size"])


def truth(subject: Subject, question: dict) -> dict:
    """What is true of the claim at one query and budget, for a child process.

    Args:
        question: `epsilon`, `delta`, `audits` (how many share a confidence), and a query.

    Returns:
        verdict: One of `verify`, or "unsupported" or "failed"; `why` in words where it is needed.
        true_epsilon, true_delta: Their bounds [lower, upper], where a profile is known.
        source: What the verdict rests on: "profile", "own profile" or "samples".
        releases: How many agree with what the mechanism states. rmse: Of an element, stated.
        warning: Where the budget lies outside the range of the mechanism's own theorem.
    """
    try:
        return _truth(subject, question)
    except Unsupported as reason:
        return {"verdict": UNSUPPORTED, "why": f"it {reason}"}
    except BaseException as error:
        return failure(error, subject.name)


def failure(error: BaseException, name: str) -> dict:
    """What is said of foreign code `name` that raised: there is no answer, and why in one line."""
    if isinstance(error, SystemExit | KeyboardInterrupt):
        why = f"it ends the process: {error!r}"
    elif isinstance(error, MemoryError):
        why = "it asks for more memory than a report may use"
    else:
        why = error_line(error, name)
    return {"verdict": FAILED, "why": why}


def _truth(subject: Subject, question: dict) -> dict:
    budget = Budget(epsilon=question["epsilon"], delta=question["delta"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = get_mechanism(subject.name).calibrate(
            query_of(question), budget, **subject.options
        )
    notices = [str(each.message) for each in caught if each.category is OutOfRangeWarning]
    answer = {"warning": "; ".join(notices), "delta": claimed_delta(mechanism)}
    try:
        found = verify(mechanism, effort=QUICK)
    except Unsupported:
        # It does not contradict itself, and states no profile.
        return answer | _by_samples(mechanism, question, "it states no privacy profile")
    answer |= _numbers(found)
    if found.verdict == INCONSISTENT:
        return answer | {"why": found.contradiction}
    ours = has_our_profile(mechanism)
    answer["source"] = "profile" if ours else "own profile"
    if found.verdict == UNDECIDED:
        why = found.slack or "the bounds of its profile contain the claim"
        return answer | _by_samples(mechanism, question, why)
    if found.verdict == REFUTED and not ours:
        # A profile that says too little of the privacy would accuse a private mechanism.
        return answer | _by_samples(
            mechanism, question, "only the profile in its own file contradicts the claim"
        )
    return answer


def has_our_profile(mechanism: Mechanism) -> bool:
    """Whether the profile follows from noise of the package that is only added to the value."""
    cls = type(mechanism)
    return cls.__module__.startswith("mechanisms.catalogue.") or (
        isinstance(mechanism, AdditiveMechanism)
        and type(mechanism.noise).__module__.startswith("mechanisms.noise.")
        and all(
            getattr(cls, name) is getattr(AdditiveMechanism, name)
            for name in ("profile", "profile_of_release", "prepared", "_release", "sample", "slack")
        )
    )


def _numbers(found: Verification) -> dict:
    numbers: dict = {"verdict": found.verdict}
    if found.true_epsilon is not None:
        numbers["true_epsilon"] = [found.true_epsilon.lower, found.true_epsilon.upper]
        numbers["true_delta"] = [found.true_delta.lower, found.true_delta.upper]
    if found.expected_loss is not None:
        numbers["rmse"] = math.sqrt(found.expected_loss / found.query.size)
    if found.wasted_variance is not None:
        numbers["wasted_variance"] = found.wasted_variance
    if found.limit_broken is not None:
        numbers["limit"] = found.limit_broken[1]
    if found.comparison is not None:
        numbers["releases"] = found.comparison.releases
        numbers["not_compared"] = found.comparison.missing
    return numbers


def _by_samples(mechanism: Mechanism, question: dict, why: str) -> dict:
    """The verdict of an audit, where the profile gives none; `why` it gives none."""

    def release(value, rng):
        return mechanism.release(value, rng)

    budget = mechanism.budget
    found = audit_pairs(
        release, mechanism.query, budget.epsilon, claimed_delta(mechanism),
        audits=question["audits"], seconds=SECONDS_OF_AUDIT, most=OUTPUTS_OF_AUDIT,
    )  # fmt: skip
    return audited_verdict(found, why)


def audited_verdict(found: Audited, why: str = "") -> dict:
    """The part of an answer that an audit gives."""
    if found.refuted:
        return {"verdict": REFUTED, "source": "samples", "audit": dataclasses.asdict(found)}
    shown = found.missing or f"{found.samples:,} outputs for each value do not contradict the claim"
    return {
        "verdict": UNDECIDED,
        "source": "samples",
        "why": "; ".join(filter(None, [why, shown])),
        "audit": dataclasses.asdict(found),
    }
