"""Compares the claimed and the true privacy of a calibrated mechanism, and gives a verdict."""

import math
from dataclasses import dataclass, field
from functools import cached_property, partial

from mechanisms.base.claim import TOLERANCE, claimed_delta, refutes
from mechanisms.base.guard import ReleaseError
from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.check.audit_statistics import AuditResult
from mechanisms.check.checks import THOROUGH, Comparison, require_consistent
from mechanisms.check.evidence import Effort
from mechanisms.limit.limit import limit
from mechanisms.privacy.profile import Bounds, PrivacyProfile
from mechanisms.privacy.trade_off import true_positive_rate
from mechanisms.query.query import Budget, Inconsistent, Query, Unsupported
from mechanisms.verification.sampled_audit import audit_losses

HOLDS, LOOSE, REFUTED, UNDECIDED = "holds", "loose", "refuted", "undecided"
# No verdict on the claim, because what the mechanism states about itself is false.
INCONSISTENT = "inconsistent"
# A true claim is loose if its noise has more than this share of extra variance.
VARIANCE_TOLERANCE = 0.01
# The false positive rate of the attack that shows what an epsilon means.
FALSE_POSITIVE_RATE = 0.01


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The claim of a calibrated mechanism, its true privacy, and a verdict.

    Args:
        mechanism, calibration: Key of the mechanism, and its calibration.
        claimed_epsilon, claimed_delta: The claim; delta is 0 if pure privacy is claimed.
        true_delta: delta(claimed_epsilon) with bounds; None without a profile.
        true_epsilon: epsilon(claimed_delta) with bounds, infinite if there is none; None without a
            profile.
        noise_scale: The first parameter of the noise; None if the noise has none.
        noise_parameter: The name of that parameter, such as sigma, a standard deviation, or R1SMG's
            sigma_star, a variance.
        expected_loss: E||noise||^2; None for mechanisms that are not additive.
        wasted_variance: Variance of the noise, over the variance of the same noise rescaled until
            the true delta is the claimed one (below 1: too little noise); None if unknown.
        verdict: "holds" (proved), "loose" (holds, and wastes more than 1% of variance), "refuted"
            (proved, or sampled with the audit's confidence), "undecided"; "inconsistent" if the
            mechanism contradicts itself, so that nothing is known about its claim.
        audit: The sampled audit of the worst pair; None without samples, or if that pair is not
            known.
        not_sampled: Why the worst pair is not known, if samples were asked for; else None.
        slack: Why only bounds on the true delta and epsilon are known; else None.
        profile: The true privacy profile; None without one.
        query: The query that the mechanism is calibrated to.
        contradiction: How the mechanism contradicts itself, if the verdict is "inconsistent".
        comparison: How many releases agree with what the mechanism states, or why none was
            compared. None if no comparison was asked for, or if it shows a contradiction.
    """

    mechanism: str
    calibration: str
    claimed_epsilon: float
    claimed_delta: float
    true_delta: Bounds | None = None
    true_epsilon: Bounds | None = None
    noise_scale: float | None
    expected_loss: float | None = None
    wasted_variance: float | None = None
    verdict: str
    audit: AuditResult | None = None
    noise_parameter: str | None = None
    profile: PrivacyProfile | None = field(default=None, repr=False, compare=False)
    query: Query | None = field(default=None, repr=False, compare=False)
    contradiction: str | None = None
    comparison: Comparison | None = None
    not_sampled: str | None = None
    slack: str | None = None

    @cached_property
    def advantage(self) -> Bounds | None:
        """The largest difference of true and false positive rate; None without a profile.

        The rates are of an attacker who distinguishes two neighbouring data sets by one release.
        """
        return self.profile.delta(0.0) if self.profile else None

    @cached_property
    def limit_broken(self) -> tuple[float, float] | None:
        """The stated RMSE of an element, and the least that any private mechanism can have.

        None unless the first is below the second, so that the claim is false whatever the profile.
        The limit is that of a fast test, and is not computed if the claim is true.
        """
        if self.query is None or self.expected_loss is None or self.verdict in (HOLDS, LOOSE):
            return None
        budget = Budget(epsilon=self.claimed_epsilon, delta=self.claimed_delta)
        least = limit(self.query, budget, fast=True).rmse
        stated = math.sqrt(self.expected_loss / self.query.size)
        return None if least is None or stated >= least else (stated, least)

    @cached_property
    def true_positive_rate(self) -> Bounds | None:
        """The attacker's largest rate at `FALSE_POSITIVE_RATE`; None without a profile."""
        return true_positive_rate(self.profile, FALSE_POSITIVE_RATE) if self.profile else None

    def to_dict(self) -> dict:
        """Return the verification as a dictionary of plain values, for JSON."""
        bounds = {
            "true_delta_at_epsilon": self.true_delta,
            "true_epsilon_at_delta": self.true_epsilon,
            "advantage": self.advantage,
            "true_positive_rate_at_1_percent": self.true_positive_rate,
        }
        return {
            "mechanism": self.mechanism,
            "calibration": self.calibration,
            "claimed": {"epsilon": self.claimed_epsilon, "delta": self.claimed_delta},
            **{name: None if found is None else found.value for name, found in bounds.items()},
            "bounds": {
                name: {"lower": found.lower, "upper": found.upper}
                for name, found in bounds.items()
                if found is not None
            },
            "noise_scale": self.noise_scale,
            "noise_parameter": self.noise_parameter,
            "expected_loss": self.expected_loss,
            "limit_rmse_broken": self.limit_broken[1] if self.limit_broken else None,
            "wasted_variance": self.wasted_variance,
            "verdict": self.verdict,
            "contradiction": self.contradiction,
            "releases": self.comparison.releases if self.comparison else 0,
            "not_compared": self.comparison.missing if self.comparison else "",
            "audit": self.audit.to_dict(self.claimed_delta) if self.audit else None,
            "not_sampled": self.not_sampled,
            "slack": self.slack,
        }


def verify(
    mechanism: Mechanism,
    *,
    samples: int = 0,
    seed: int = 0,
    confidence: float = 0.999,
    effort: Effort | None = THOROUGH,
) -> Verification:
    """Compare a mechanism with what it states, and its claim with its profile and samples.

    Args:
        mechanism: At either calibration.
        samples: Draws of the sampled audit from each side of the worst pair; 0 for no audit. The
            audit draws privacy losses of the profile by sufficient statistics, never in M
            dimensions.
        seed: Seed of all draws.
        confidence: Confidence of the audit.
        effort: How many releases are compared with the stated moments and profile, see
            `mechanisms.check.checks`; None for none.

    Raises:
        Unsupported: The mechanism claims no privacy, or its profile is unknown.
    """
    if mechanism.guarantee == "none":
        raise Unsupported("claims no privacy, so there is nothing to verify")
    contradiction = comparison = None
    if effort is not None:
        try:
            comparison = require_consistent(mechanism, seed=seed, effort=effort)
        except (Inconsistent, ReleaseError) as reason:
            contradiction = str(reason)
    epsilon = mechanism.budget.epsilon
    delta = claimed_delta(mechanism)
    profile, parameters = mechanism.profile(), mechanism.parameters()
    stated = partial(
        Verification,
        mechanism=mechanism.key,
        calibration=mechanism.calibration,
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        noise_scale=next(iter(parameters.values()), None),
        noise_parameter=next(iter(parameters), None),
        query=mechanism.query,
    )
    if contradiction is not None:
        return stated(verdict=INCONSISTENT, contradiction=contradiction)
    if profile is None:
        raise Unsupported(
            "has no exact profile to compare with its claim; `python -m mechanisms audit KEY` with "
            "the same options samples its releases instead"
        )
    true_delta, true_epsilon = profile.delta(epsilon), profile.epsilon(delta)
    slack = profile.slack
    # If the profile is only an upper bound, its losses may belong to no two data sets.
    audit = None
    if samples and not slack:
        audit = audit_losses(
            profile.sample_losses,
            epsilon,
            samples=samples,
            seed=seed,
            confidence=confidence,
        )
        contradiction = _contradiction_of_losses(audit, true_delta)
    known = not slack or (delta == 0 and profile.attains_largest_loss)
    wasted = _wasted_variance(profile, epsilon, delta, true_delta) if known and parameters else None
    return stated(
        true_delta=true_delta,
        true_epsilon=true_epsilon,
        expected_loss=(
            mechanism.expected_loss() if isinstance(mechanism, AdditiveMechanism) else None
        ),
        wasted_variance=wasted,
        verdict=(
            INCONSISTENT
            if contradiction is not None
            else _verdict(true_delta, true_epsilon, epsilon, delta, wasted, audit)
        ),
        audit=audit,
        profile=profile,
        contradiction=contradiction,
        comparison=comparison,
        not_sampled=slack if samples else None,
        slack=slack,
    )


def _contradiction_of_losses(audit: AuditResult, true_delta: Bounds) -> str | None:
    """Say how the losses that a profile draws contradict the delta that it states, or None."""
    consistent = audit.consistent and audit.delta_lower <= true_delta.upper * (1 + TOLERANCE)
    if consistent and audit.forward.delta.upper >= true_delta.lower * (1 - TOLERANCE):
        return None
    return (
        f"{audit.samples:,} privacy losses that its profile draws show a delta between "
        f"{audit.delta_lower:.4g} and {audit.delta_upper:.4g}, and the profile states "
        f"{true_delta.value:.4g}"
    )


def _wasted_variance(
    profile: PrivacyProfile, epsilon: float, delta: float, true_delta: Bounds
) -> float | None:
    reached = getattr(true_delta, profile.calibrated_curve)
    # Delta is reached within rounding, so that the search would end where it began.
    if delta > 0 and abs(reached - delta) <= TOLERANCE * delta:
        return 1.0
    try:
        factor = profile.scale_factor(epsilon, delta)
    except ValueError:
        return None
    return 1 / factor**2


def _verdict(
    true_delta: Bounds,
    true_epsilon: Bounds,
    epsilon: float,
    delta: float,
    wasted: float | None,
    audit: AuditResult | None,
) -> str:
    """Return the verdict on the claim of (epsilon, delta).

    The claim counts as true if it is within rounding of the truth in delta or in epsilon: at a
    claimed delta of 0 only epsilon has a relative accuracy. Lower bounds refute the claim; they are
    0 if nothing more is known.
    """
    most_delta, most_epsilon = delta * (1 + TOLERANCE), epsilon * (1 + TOLERANCE)
    if true_delta.upper <= most_delta or true_epsilon.upper <= most_epsilon:
        tight = wasted is None or wasted <= 1 + VARIANCE_TOLERANCE
        return HOLDS if tight else LOOSE
    sampled = audit is not None and audit.refutes(most_delta)
    false = sampled or refutes(true_delta, true_epsilon, epsilon, delta)
    return REFUTED if false else UNDECIDED
