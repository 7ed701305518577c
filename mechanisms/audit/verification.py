"""Compares the claimed and the true privacy of a calibrated mechanism and gives a verdict."""

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
    """The claim of a calibrated mechanism, its true privacy, and a verdict.

    Args:
        mechanism, calibration: Key of the mechanism, and its calibration.
        claimed_epsilon, claimed_delta: The claim; delta is 0 if pure privacy is claimed.
        true_delta: delta(claimed_epsilon) with bounds, None without an exact profile.
        true_epsilon: epsilon(claimed_delta) with bounds (infinite if there is none), or None.
        noise_scale: The scale parameter of the noise, or None if it has none.
        expected_loss: E||noise||^2; None for mechanisms that are not additive.
        wasted_variance: Variance of the noise over that of the same noise rescaled until the true
            delta is the claimed one (below 1: too little noise), or None if unknown.
        verdict: "holds" (proved), "loose" (holds, and wastes more than 1% of variance), "refuted"
            (proved, or sampled with the audit's confidence), "undecided".
        audit: The sampled audit of the worst pair, or None without samples or where that pair is
            not known.
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
        """The verification as a dictionary of plain values, for JSON."""
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
    """Compare a mechanism's claim with its exact profile and, optionally, with samples.

    Args:
        mechanism: Calibrated at either calibration.
        samples: Draws of the sampled audit from each side of the worst pair; 0 for no audit. The
            audit draws privacy losses by sufficient statistics, never in M dimensions.
        seed, confidence: Seed and confidence of the audit.

    Raises:
        Unsupported: The mechanism claims no privacy, or its profile is unknown.
    """
    if mechanism.guarantee == "none":
        raise Unsupported("claims no privacy, so there is nothing to verify")
    epsilon = mechanism.budget.epsilon
    delta = claimed_delta(mechanism)
    profile = mechanism.profile()
    if profile is None:
        raise Unsupported(
            "has no exact profile to compare with its claim; sample its releases on a pair of "
            "inputs instead, see python -m mechanisms audit --help"
        )
    true_delta, true_epsilon = profile.delta(epsilon), profile.epsilon(delta)
    exact = not mechanism.slack()
    # The samples of an upper bound may belong to no two data sets.
    audit = None
    if samples and exact:
        audit = audit_losses(
            lambda rng, n, reverse=False: profile.sample_losses(rng, n, reverse=reverse),
            epsilon,
            samples=samples,
            seed=seed,
            confidence=confidence,
        )
    known = exact or (delta == 0 and profile.attains_largest_loss)
    wasted = _wasted_variance(mechanism, delta, true_delta) if known else None
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
        verdict=_verdict(true_delta, true_epsilon, epsilon, delta, wasted, audit),
        audit=audit,
    )


def claimed_delta(mechanism: Mechanism) -> float:
    """The delta of the claim.

    As published, pure and local guarantees claim 0, whatever the delta of the budget; at the exact
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
) -> str:
    """The claim counts as true if it is within rounding of the truth in delta or in epsilon.

    At a claimed delta of 0 relative accuracy exists in epsilon only. Lower bounds refute: they are
    0 where nothing more is known.
    """
    delta, epsilon = delta * (1 + TOLERANCE), epsilon * (1 + TOLERANCE)
    if true_delta.upper <= delta or true_epsilon.upper <= epsilon:
        tight = wasted is None or wasted <= 1 + VARIANCE_TOLERANCE
        return HOLDS if tight else LOOSE
    # A delta above 0 may underflow.
    false = true_epsilon.lower > epsilon and (delta == 0 or true_delta.lower > delta)
    sampled = audit is not None and audit.refutes(delta)
    return REFUTED if false or sampled else UNDECIDED


def explain(result: Verification) -> str:
    """The verification as text, for a reader who is new to differential privacy."""
    claimed = f"({result.claimed_epsilon:g}, {result.claimed_delta:g})"
    lines = [
        f"{result.mechanism}, {result.calibration} calibration",
        f"  claim        {claimed}-differential privacy: between neighbouring data sets no event",
        f"               becomes more than e^{result.claimed_epsilon:g} times as likely, up to a "
        f"probability of {result.claimed_delta:g}",
        f"  true delta   {result.true_delta.value:.6g} at that epsilon "
        f"[{result.true_delta.lower:.6g}, {result.true_delta.upper:.6g}]",
        f"  true epsilon {result.true_epsilon.value:.6g} at that delta"
        f"{_interval(result.true_epsilon)}",
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


def _interval(bounds: Bounds) -> str:
    """The bounds in brackets, nothing where they agree to all digits that are shown."""
    if f"{bounds.lower:.6g}" == f"{bounds.upper:.6g}":
        return ""
    return f" [{bounds.lower:.6g}, {bounds.upper:.6g}]"


def _reason(result: Verification) -> str:
    wasted = result.wasted_variance
    if result.verdict == HOLDS:
        tight = "" if wasted is None else ", and the noise is as small as the claim allows"
        return f"the claim is true{tight}"
    if result.verdict == LOOSE:
        return f"the claim is true, but noise with {wasted:.4g} times less variance would be enough"
    if result.verdict == REFUTED:
        needed = f"; it needs {1 / wasted:.4g} times the variance of this noise" if wasted else ""
        return f"the claim is false{needed}"
    return "neither the profile nor the samples decide whether the claim is true"
