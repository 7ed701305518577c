"""bandmf2023: bands of C against amplification by sampling, by the published accounting.

With p bands the records are split into p parts that take turns; the part whose turn it is gives a
Poisson sample of the same expected size, at p times the rate. Columns of C that are p apart do not
overlap, so that n steps are n / p steps of DP-SGD at that rate (one record is added or removed).
"""

import math

from claims.comparisons import statement
from claims.judges import Count, Delta, Epsilon, Probability, judge
from claims.verdicts import Finding
from mechanisms.privacy.sampling.poisson_sampling import noise_multiplier
from mechanisms.strategies.streams.optimised_toeplitz import banded
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload


@judge
def amplified_bands(
    *,
    steps: Count,
    rates: list[Probability],
    delta: Delta,
    epsilons: list[Epsilon],
    bands: list[Count],
    margin: float,
) -> Finding:
    """The least root mean squared error over the bands, over that of one band, in every scenario.

    A scenario is a rate and a budget.
    """
    workload, once = StreamWorkload(steps=steps), Participation()
    errors = {count: banded(workload, count, once).error(workload, once) for count in bands}

    def root_error(count: int, epsilon: float, rate: float) -> float:
        noise = noise_multiplier(epsilon, delta, count * rate, steps // count)
        return noise * math.sqrt(errors[count].mean)

    ratios, shown = [], []
    for rate in rates:
        own = []
        for epsilon in epsilons:
            one = root_error(1, epsilon, rate)
            own.append(min(root_error(count, epsilon, rate) for count in bands if count > 1) / one)
        shown.append(f"{', '.join(f'{ratio:.3f}' for ratio in own)} at rate 1/{1 / rate:g}")
        ratios += own
    better = sum(ratio < 1 - margin for ratio in ratios)
    found = f"{better} of {len(ratios)}: {'; '.join(shown)}"
    return Finding(
        parts=[statement("better in most scenarios", 2 * better > len(ratios), found)],
        detail=(
            "Root mean squared error over DP-SGD's, at epsilon "
            f"{', '.join(f'{epsilon:g}' for epsilon in epsilons)}. Prefix sums of {steps} steps, "
            f"delta {delta:g}, Renyi accounting, {', '.join(map(str, bands))} bands; Toeplitz "
            "C of least mean error."
        ),
    )
