"""bifr2026: the inverse square root with two bands against other Toeplitz inverses with two."""

import math
from collections import defaultdict
from itertools import product

import scipy

from claims.comparisons import universal
from claims.judges import judge
from claims.verdicts import Finding
from mechanisms.strategies.streams.closed_forms import banded_inverse_root
from mechanisms.strategies.streams.factorisation import ToeplitzFactorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload, impulse


@judge
def two_bands(
    *, steps: list[int], least_separation: int, participations: list[int], margin: float
) -> Finding:
    """The root mean squared error of prefix sums with 1, -1/2 over that with the best lambda."""
    ratios, best = defaultdict(list), []
    for size, times in product(steps, participations):
        apart = size // times
        if apart < least_separation:
            continue
        workload = StreamWorkload(steps=size)
        participation = Participation(times=times, separation=apart)
        error, share = least_error_of_two_bands(workload, participation)
        root = banded_inverse_root(workload, 2).error(workload, participation).mean
        ratios[math.inf if times == 1 else apart].append(math.sqrt(root / error))
        best.append(share)
    parts = []
    for apart, found in sorted(ratios.items()):
        cases = [ratio > 1 + margin for ratio in found]
        when = "one participation" if apart == math.inf else f"back after {apart:,} steps"
        parts.append(universal(f"{when}, more error", cases, f"{_spread(found)} times"))
    return Finding(
        parts=parts,
        detail=(
            f"n = {', '.join(map(str, steps))} with k = "
            f"{', '.join(map(str, participations))}, n / k apart, which is at least "
            f"{least_separation}; the best lambda is "
            f"{min(best):.2f} to {max(best):.2f}. Both sensitivities are exact: C has the "
            "decreasing column lambda^i."
        ),
    )


def _spread(ratios: list[float]) -> str:
    """The least and the largest, or the only one."""
    return " to ".join(dict.fromkeys(f"{each:.2f}" for each in (min(ratios), max(ratios))))


def least_error_of_two_bands(
    workload: StreamWorkload, participation: Participation
) -> tuple[float, float]:
    """The least mean error over C^-1 with the column 1, -lambda, 0, ..., and its lambda < 1."""

    def error(share: float) -> float:
        inverse = impulse(workload.steps)
        inverse[1] = -share
        made = ToeplitzFactorisation.of_inverse(inverse)
        return made.error(workload, participation).mean

    found = scipy.optimize.minimize_scalar(error, bounds=(0.0, 1.0), method="bounded")
    return float(found.fun), float(found.x)
