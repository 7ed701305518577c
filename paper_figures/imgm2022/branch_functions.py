"""Algorithm 2 of imgm2022, its two branch functions, and the verdict on them."""

import math

import scipy

from claims.comparisons import statement
from claims.judged_rows import listed
from claims.judges import Delta, Epsilon, judge
from claims.verdicts import Finding
from mechanisms.privacy.gaussian_profile import mu_for


@judge
def branches(*, epsilons: list[Epsilon], deltas: list[Delta], tolerance: float) -> Finding:
    """Algorithm 2: B from its two branch functions against the root of g(B) = delta.

    T, which is not an input of the algorithm and is printed in one of two terms, is 1.
    """
    errors: dict[str, list[float]] = {"delta >= delta_0": [], "delta < delta_0": []}
    for epsilon in epsilons:
        for delta in deltas:
            branch, root = algorithm_2(epsilon, delta)
            errors[branch].append(abs(root / float(mu_for(epsilon, delta)) - 1))
    # With T = 4 in that one term, the root should be that of four releases, B / 2.
    fourfold = [
        algorithm_2(epsilon, delta, times=4)[1] / (float(mu_for(epsilon, delta)) / 2)
        for epsilon in epsilons
        for delta in deltas
        if algorithm_2(epsilon, delta)[0] == "delta < delta_0"
    ]
    return Finding(
        parts=tuple(
            statement(
                branch,
                max(found) <= tolerance,
                f"B differs by {max(found):.1g} (relative) at {len(found)} budgets",
            )
            for branch, found in errors.items()
        ),
        detail=(
            f"At epsilon {listed(f'{e:g}' for e in epsilons)} and delta "
            f"{listed(f'{d:g}' for d in deltas)}. Line 7 is printed with T in one of its two "
            f"terms. At T = 4 that gives {min(fourfold):.3g} to {max(fourfold):.3g} times the B of "
            "four releases at these budgets, where more than 1 is too little noise: a misprint, "
            "which T = 1 removes."
        ),
        calibration="published",
    )


def algorithm_2(epsilon: float, delta: float, times: int = 1) -> tuple[str, float]:
    """Which branch Algorithm 2 takes, and the B that it returns; `times` is T as printed."""
    growth = math.exp(epsilon)
    if delta >= 0.5 - growth * scipy.special.ndtr(-math.sqrt(2 * epsilon)):

        def rising(v: float) -> float:
            tail = scipy.special.ndtr(-math.sqrt(epsilon * (v + 2)))
            return scipy.special.ndtr(math.sqrt(epsilon * v)) - growth * tail - delta

        v = scipy.optimize.brentq(rising, 0, 1e6, xtol=1e-300, rtol=1e-14)
        alpha = math.sqrt(1 + v / 2) - math.sqrt(v / 2)
        return "delta >= delta_0", math.sqrt(2 * epsilon) / alpha

    def falling(u: float) -> float:
        first = scipy.special.ndtr(-math.sqrt(epsilon * u / times))
        return first - growth * scipy.special.ndtr(-math.sqrt(epsilon * (u + 2))) - delta

    u = scipy.optimize.brentq(falling, 0, 1e9, xtol=1e-300, rtol=1e-14)
    alpha = math.sqrt(1 + u / 2) + math.sqrt(u / 2)
    return "delta < delta_0", math.sqrt(2 * epsilon) / alpha
