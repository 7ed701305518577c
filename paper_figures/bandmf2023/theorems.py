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
    """The least root mean squared error over the bands, over that of one band, at every rate."""
    workload, once = StreamWorkload(steps=steps), Participation()
    errors = {count: banded(workload, count, once).error(workload, once) for count in bands}

    def root_error(count: int, epsilon: float, rate: float) -> float:
        noise = noise_multiplier(epsilon, delta, count * rate, steps // count)
        return noise * math.sqrt(errors[count].mean)

    parts = []
    for rate in rates:
        ratios = {}
        for epsilon in epsilons:
            one = root_error(1, epsilon, rate)
            more = (root_error(count, epsilon, rate) for count in bands if count > 1)
            ratios[epsilon] = min(one, *more) / one
        better = sum(ratio < 1 - margin for ratio in ratios.values())
        shown = ", ".join(
            f"{ratio:.3f} at epsilon {epsilon:g}" for epsilon, ratio in ratios.items()
        )
        name = f"at rate 1/{1 / rate:g}, better at most budgets"
        parts.append(statement(name, 2 * better > len(ratios), shown))
    return Finding(
        parts=parts,
        detail=(
            f"Root mean squared error over DP-SGD's. Prefix sums of {steps} steps, delta "
            f"{delta:g}, Renyi accounting, {', '.join(map(str, bands))} bands; Toeplitz "
            "C of least mean error."
        ),
    )
