"""bandmf2023: bands of C against amplification by sampling, by the published accounting.

With p bands the records are split into p parts that take turns; the part whose turn it is gives a
Poisson sample of the same expected size, at p times the rate. Columns of C that are p apart do not
overlap, so that n steps are n / p steps of DP-SGD at that rate (one record is added or removed).
"""

from __future__ import annotations

import math

from claims.ledger import Claim, judge
from claims.rules import statement
from claims.verdicts import Finding, Outcome
from mechanisms.privacy.sampling.poisson_sampling import noise_multiplier
from mechanisms.strategies.streams.optimised_toeplitz import banded
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload
from runs.results import Results


@judge()
def amplified_bands(claim: Claim, results: Results) -> Finding:
    """The least root mean squared error over the bands, over that of one band, at every rate.

    Arguments: steps; rates, of DP-SGD; delta; epsilons; bands, which divide the steps; one of them
    is 1.
    """
    a = claim.arguments
    workload, once = StreamWorkload(steps=a["steps"]), Participation()
    errors = {bands: banded(workload, bands, once).error(workload, once) for bands in a["bands"]}

    def root_error(bands: int, epsilon: float, rate: float) -> float:
        noise = noise_multiplier(epsilon, a["delta"], bands * rate, a["steps"] // bands)
        return noise * math.sqrt(errors[bands].mean)

    outcomes = []
    for rate in a["rates"]:
        ratios = {}
        for epsilon in a["epsilons"]:
            each = {bands: root_error(bands, epsilon, rate) for bands in a["bands"]}
            ratios[epsilon] = min(each.values()) / each[1]
        better = sum(ratio < 1 - claim.margin for ratio in ratios.values())
        found = ", ".join(
            f"{ratio:.3f} at epsilon {epsilon:g}" for epsilon, ratio in ratios.items()
        )
        part = statement("better at most budgets", 2 * better > len(ratios), found)
        outcomes.append(Outcome(choice=f"rate 1/{1 / rate:g}", parts=(part,)))
    return Finding(
        choice="the sampling rate of a scenario",
        outcomes=outcomes,
        detail=(
            f"Root mean squared error over DP-SGD's. Prefix sums of {a['steps']} steps, delta "
            f"{a['delta']:g}, Renyi accounting, {', '.join(map(str, a['bands']))} bands; Toeplitz "
            "C of least mean error."
        ),
    )
