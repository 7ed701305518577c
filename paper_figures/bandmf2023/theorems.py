"""bandmf2023: bands of C against amplification by sampling, by the published accounting.

With p bands the records are split into p parts that take turns; the part whose turn it is gives a
Poisson sample of the same expected size, at p times the rate. Columns of C that are p apart do not
overlap, so that n steps are n / p steps of DP-SGD at that rate (one record is added or removed).
"""

from __future__ import annotations

import math

from mechanisms.accounting.poisson_sampling import noise_multiplier
from mechanisms.factorisations.optimised_toeplitz import banded
from mechanisms.factorisations.participation import Participation
from mechanisms.factorisations.stream_workload import StreamWorkload
from paper_figures.ledger import Claim, judge
from paper_figures.results import Results
from paper_figures.rules import statement
from paper_figures.verdicts import Finding


@judge()
def amplified_bands(claim: Claim, results: Results) -> Finding:
    """The least root mean squared error over the bands, over that of one band.

    Arguments: steps; rate, of DP-SGD; delta; epsilons; bands, which divide the steps, 1 among them.
    """
    a = claim.arguments
    workload, once = StreamWorkload(steps=a["steps"]), Participation()
    errors = {bands: banded(workload, bands, once).error(workload, once) for bands in a["bands"]}

    def root_error(bands: int, epsilon: float) -> float:
        noise = noise_multiplier(epsilon, a["delta"], bands * a["rate"], a["steps"] // bands)
        return noise * math.sqrt(errors[bands].mean)

    best = {}
    for epsilon in a["epsilons"]:
        over_one = {
            bands: root_error(bands, epsilon) / root_error(1, epsilon) for bands in a["bands"]
        }
        bands = min(over_one, key=over_one.get)
        best[epsilon] = (over_one[bands], bands)
    better = sum(ratio < 1 - claim.margin for ratio, _ in best.values())
    found = "; ".join(
        f"epsilon {epsilon:g}: {ratio:.3f} ({bands} bands)"
        for epsilon, (ratio, bands) in best.items()
    )
    part = statement("better in most", 2 * better > len(best), f"in {better} of {len(best)}")
    return Finding(
        parts=[part],
        ours=f"root mean squared error over DP-SGD's, {found}",
        detail=(
            f"Prefix sums of {a['steps']} steps at rate {a['rate']:g}, delta {a['delta']:g}, Renyi "
            f"accounting, {', '.join(map(str, a['bands']))} bands; Toeplitz C of least mean error."
        ),
    )
