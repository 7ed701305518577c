"""Is the claim true? Claimed and true privacy of a calibrated mechanism, and a verdict."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.audit.sampled_audit import AuditResult, audit_losses
from mechanisms.contract.mechanism import AdditiveMechanism, Mechanism
from mechanisms.contract.query import Unsupported
from mechanisms.profiles.profile import Bounds

HOLDS, LOOSE, REFUTED, UNDECIDED = "holds", "loose", "refuted", "undecided"
# Relative slack within which a true delta or epsilon counts as the claimed one.
TOLERANCE = 1e-6
# A claim that costs less than one percent of extra variance is called tight.
VARIANCE_TOLERANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What is claimed, what is true, and how that is known.

    Args:
        mechanism, calibration: Which noise.
        claimed_epsilon, claimed_delta: The claim; delta is 0 where purity is claimed.
        true_delta: delta(claimed_epsilon) with bounds, None without an exact profile.
        true_epsilon: epsilon(claimed_delta) with bounds (infinite where there is none), or None.
        noise_scale: The family's own scale parameter, or None where it has none.
        expected_loss: E||noise||^2; None for mechanisms that are not additive.
        wasted_variance: Variance of the noise over that of the same noise rescaled until the true
            delta is the claimed one (below 1: too little noise), or None where it is not known.
        verdict: "holds" and "loose" (both exact; loose wastes more than 1% of variance),
            "refuted" (exact, or sampled with the audit's confidence), "undecided".
        audit: The sampled audit, or None where none was asked for.
    """

    mechanism: str
    calibration: str
    claimed_epsilon: float
    claimed_delta: float
    true_delta: Bounds | None
    true_epsilon: Bounds | None
    noise_scale: float | None
    expected_loss: float | None
    wasted_variance: float | None
    verdict: str
    audit: AuditResult | None

    def to_dict(self) -> dict:
        """As JSON data."""
        bounds = {
            name: {"lower": bound.lower, "upper": bound.upper}
            for name, bound in (
                ("true_delta_at_epsilon", self.true_delta),
                ("true_epsilon_at_delta", self.true_epsilon),
            )
            if bound is not None
        }
        return {
            "mechanism": self.mechanism,
            "calibration": self.calibration,
            "claimed": {"epsilon": self.claimed_epsilon, "delta": self.claimed_delta},
            "true_delta_at_epsilon": self.true_delta.value if self.true_delta else None,
            "true_epsilon_at_delta": self.true_epsilon.value if self.true_epsilon else None,
            "bounds": bounds,
            "noise_scale": self.noise_scale,
            "expected_loss": self.expected_loss,
            "wasted_variance": self.wasted_variance,
            "verdict": self.verdict,
            "audit": self.audit.to_dict(self.claimed_delta) if self.audit else None,
        }


def verify(
    mechanism: Mechanism, *, samples: int = 0, seed: int = 0, confidence: float = 0.999
) -> Verification:
    """Compare a mechanism's claim with its exact profile and, if asked, with samples.

    Args:
        mechanism: Calibrated at either calibration.
        samples: Draws of the sampled audit of the worst pair, from each of its two sides; 0 for
            none. Losses are drawn through sufficient statistics, never in M dimensions.
        seed, confidence: Of the audit.

    Raises:
        Unsupported: The mechanism claims no privacy, or has neither a profile nor an audit.
    """
    if mechanism.guarantee == "none":
        raise Unsupported("claims no privacy, so there is nothing to verify")
    epsilon = mechanism.budget.epsilon
    delta = claimed_delta(mechanism)
    profile = mechanism.profile()
    if profile is None:
        raise Unsupported("has no exact profile and no density to audit")
    true_delta, true_epsilon = profile.delta(epsilon), profile.epsilon(delta)
    audit = None
    if samples:
        audit = audit_losses(
            lambda rng, n, reverse=False: profile.sample_losses(rng, n, reverse=reverse),
            epsilon,
            samples=samples,
            seed=seed,
            confidence=confidence,
        )
    wasted = None if mechanism.slack() else _wasted_variance(mechanism, delta, true_delta)
    return Verification(
        mechanism=mechanism.key,
        calibration=mechanism.calibration,
        claimed_epsilon=epsilon,
        claimed_delta=delta,
        true_delta=true_delta,
        true_epsilon=true_epsilon,
        noise_scale=next(iter(mechanism.parameters().values()), None),
        expected_loss=(
            mechanism.expected_loss() if isinstance(mechanism, AdditiveMechanism) else None
        ),
        wasted_variance=wasted,
        verdict=_verdict(
            true_delta, true_epsilon, epsilon, delta, wasted, audit, exact=not mechanism.slack()
        ),
        audit=audit,
    )


def claimed_delta(mechanism: Mechanism) -> float:
    """The delta of the claim.

    As published, pure and local guarantees claim 0, whatever the budget allows; on the exact
    calibration the claim is the budget.
    """
    if mechanism.calibration == "exact" or mechanism.guarantee == "approximate":
        return mechanism.budget.delta
    return 0.0


def _wasted_variance(mechanism: Mechanism, delta: float, true_delta: Bounds) -> float | None:
    if not mechanism.parameters():
        return None
    profile = mechanism.profile()
    reached = getattr(true_delta, profile.calibrated_curve)
    # Met within rounding: the search would end where it began.
    if delta > 0 and abs(reached - delta) <= TOLERANCE * delta:
        return 1.0
    try:
        factor = profile.scale_factor(mechanism.budget.epsilon, delta)
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
    *,
    exact: bool,
) -> str:
    """The claim counts as true when it is within rounding of the truth in delta or in epsilon.

    At a claimed delta of 0 no relative accuracy in delta exists, but there is one in epsilon.
    A profile that is not exact is an upper bound: it proves claims and refutes none, and no more
    does an audit of its pair, which no two data sets need to have.
    """
    delta, epsilon = delta * (1 + TOLERANCE), epsilon * (1 + TOLERANCE)
    if true_delta.upper <= delta or true_epsilon.upper <= epsilon:
        tight = wasted is None or wasted <= 1 + VARIANCE_TOLERANCE
        return HOLDS if tight else LOOSE
    false = true_delta.lower > delta and true_epsilon.lower > epsilon
    sampled = audit is not None and audit.refutes(delta)
    return REFUTED if exact and (false or sampled) else UNDECIDED


def explain(result: Verification) -> str:
    """The verification in words for a reader who is new to differential privacy."""
    claimed = f"({result.claimed_epsilon:g}, {result.claimed_delta:g})"
    lines = [
        f"{result.mechanism}, {result.calibration} calibration",
        f"  claims       {claimed}-differential privacy: for neighbouring data sets no event may",
        f"               be more than e^{result.claimed_epsilon:g} times as likely, except with "
        f"probability {result.claimed_delta:g}",
        f"  true delta   {result.true_delta.value:.6g} at that epsilon "
        f"[{result.true_delta.lower:.6g}, {result.true_delta.upper:.6g}]",
        f"  true epsilon {result.true_epsilon.value:.6g} at that delta",
    ]
    if result.noise_scale is not None:
        loss = result.expected_loss
        norm = "" if loss is None else f", expected squared norm {loss:.6g}"
        lines.append(f"  noise        scale {result.noise_scale:.6g}{norm}")
    if result.audit is not None:
        bounds = result.audit
        lines.append(
            f"  sampled      delta between {bounds.delta_lower:.4g} and {bounds.delta_upper:.4g} "
            f"({bounds.samples:,} draws of each side, {bounds.confidence:.1%} confidence)"
        )
    lines.append(f"  verdict      {result.verdict}: {_reason(result)}")
    return "\n".join(lines)


def _reason(result: Verification) -> str:
    wasted = result.wasted_variance
    if result.verdict == HOLDS:
        tight = "" if wasted is None else ", and the noise is as small as the claim allows"
        return f"the claim is true{tight}"
    if result.verdict == LOOSE:
        return f"the claim is true, but {wasted:.4g} times less variance would do"
    if result.verdict == REFUTED:
        needed = (
            f"; the same claim would need {1 / wasted:.4g} times the variance" if wasted else ""
        )
        return f"the claim is false{needed}"
    return "neither the exact bounds nor the samples decide"
