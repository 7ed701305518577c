"""Explains a verification to a reader who is new to differential privacy."""

from mechanisms.privacy.profile import Bounds
from mechanisms.privacy.trade_off import claimed_true_positive_rate
from mechanisms.query.words import query_in_words, rounded_down, rounded_up
from mechanisms.verification.verification import (
    FALSE_POSITIVE_RATE,
    HOLDS,
    INCONSISTENT,
    LOOSE,
    REFUTED,
    Verification,
)

# Matters that no verdict covers; SHARP_EDGES.md says more.
_BEYOND = [
    "  randomness   the verdict takes the noise to be random. Numpy's generators are not",
    "               cryptographic: from the state of one its noise can be computed, so release",
    "               real data with a library of secure noise",
    "  precision    the verdict is about real numbers. The last bits of a float64 can reveal",
    "               more; audit --score bits looks at them",
]


def explain(result: Verification) -> str:
    """Return the verification as text."""
    claimed = f"({result.claimed_epsilon:g}, {result.claimed_delta:g})"
    plus = f", plus {result.claimed_delta:g}" if result.claimed_delta else ""
    lines = [
        f"{result.mechanism}, {result.calibration} calibration",
        f"  query        {query_in_words(vars(result.query))}",
        f"  verdict      {result.verdict}: {result.contradiction or _reason(result)}",
        f"  claim        {claimed}-differential privacy: the probability of any event is at most",
        f"               e^{result.claimed_epsilon:g} times that for a neighbouring data set{plus}",
    ]
    if result.verdict == INCONSISTENT:
        return "\n".join(lines)
    if result.slack is None:
        lines += [
            f"  true delta   {_probability(result.true_delta)} at that epsilon"
            f"{_interval(result.true_delta)}",
            f"  true epsilon {result.true_epsilon.value:.6g} at that delta"
            f"{_interval(result.true_epsilon)}",
        ]
    else:
        lines += [
            f"  delta        {_between(result.true_delta)} at that epsilon",
            f"  epsilon      {_between(result.true_epsilon)} at that delta:",
            f"               {result.slack}",
        ]
    lines += _attack(result)
    if result.noise_scale is not None:
        loss = result.expected_loss
        norm = "" if loss is None else f", expected squared norm {loss:.6g}"
        lines.append(f"  noise        {result.noise_parameter} {result.noise_scale:.6g}{norm}")
    lines += _limit_broken(result)
    if result.audit is not None:
        bounds = result.audit
        lines.append(
            f"  sampled      delta between {bounds.delta_lower:.4g} and {bounds.delta_upper:.4g} "
            f"({bounds.samples:,} draws of each side, {bounds.confidence:.1%} confidence)"
        )
    if result.not_sampled is not None:
        lines.append(f"  sampled      nothing, the worst pair is not known: {result.not_sampled}")
    lines.append(f"  releases     {_compared(result)}")
    return "\n".join([*lines, *_BEYOND])


def _limit_broken(result: Verification) -> list[str]:
    """Say that the noise is smaller than any private mechanism's, if it is."""
    if result.limit_broken is None:
        return []
    stated, least = result.limit_broken
    return [
        f"  limit        no mechanism of this error can be ({result.claimed_epsilon:g}, "
        f"{result.claimed_delta:g})-DP: the limit is an",
        f"               RMSE of {rounded_down(least, 5)} per element, and this one states "
        f"{stated:.5g} (docs/the_limit.md)",
    ]


def _compared(result: Verification) -> str:
    """Say what the releases showed, or why none was compared."""
    found = result.comparison
    if found is None:
        return "none compared with what the mechanism states"
    if found.missing:
        return f"not compared with what the mechanism states: {found.missing}"
    noise = "the stated noise and " if result.expected_loss is not None else ""
    return f"{found.releases:,}, which agree with {noise}the profile"


def _attack(result: Verification) -> list[str]:
    """Say what the profile and the claim mean for an attacker."""
    rate = result.true_positive_rate
    claimed = claimed_true_positive_rate(
        result.claimed_epsilon, result.claimed_delta, FALSE_POSITIVE_RATE
    )
    right = Bounds(*((1 + bound) / 2 for bound in result.advantage))
    return [
        f"  attack       true positive rate {_probability(rate)}{_interval(rate)} at a false "
        f"positive rate of {FALSE_POSITIVE_RATE:g};",
        f"               the claim allows {claimed:.6g}. Of two data sets it names the right one",
        f"               with probability {_probability(right)}{_interval(right)}",
    ]


def _probability(bounds: Bounds) -> str:
    """Return a probability as text; if it is below 1 but rounds to 1, "above" a lower bound."""
    if bounds.lower < 1 and f"{bounds.value:.6g}" == "1":
        return f"above {rounded_down(bounds.lower, 6)}"
    return f"{bounds.value:.6g}"


def _between(bounds: Bounds) -> str:
    """Return the bounds, rounded outward to six digits; one number if they agree."""
    low, high = rounded_down(bounds.lower, 6), rounded_up(bounds.upper, 6)
    return low if low == high else f"between {low} and {high}"


def _interval(bounds: Bounds) -> str:
    """Return the bounds in brackets, or "" if they agree in all digits that are shown."""
    if f"{bounds.lower:.6g}" == f"{bounds.upper:.6g}":
        return ""
    return f" [{rounded_down(bounds.lower, 6)}, {rounded_up(bounds.upper, 6)}]"


def _reason(result: Verification) -> str:
    wasted = result.wasted_variance
    if result.verdict == HOLDS:
        if wasted is None:
            return "the claim is true"
        return "the claim is true, and by its profile the noise is as small as the claim allows"
    if result.verdict == LOOSE:
        return (
            f"the claim is true, but by its profile the noise has {wasted:.4g} times the variance "
            "that it needs"
        )
    if result.verdict == REFUTED:
        needed = f"; it needs {1 / wasted:.4g} times the variance of this noise" if wasted else ""
        return f"the claim is false{needed}"
    return "neither the profile nor the samples decide whether the claim is true"
