"""mvg2018 Section 5.3: the guarantee does not depend on the directions of the noise."""

from __future__ import annotations

import numpy as np

from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import calibrated, verdict_on_statement
from papers.mvg2018 import REGRESSION


@judge()
def directions_free(claim: Claim, results: Results) -> Finding:
    """The true guarantee of MVG at a fixed precision allocation, for random directions.

    Arguments: precision, one weight per row of the query of Experiment I; draws.
    """
    query, precision = REGRESSION.query, claim.arguments["precision"]
    rows, columns = query.shape
    rng = np.random.default_rng(0)
    mus = []
    for _ in range(claim.arguments["draws"]):
        directions = np.linalg.qr(rng.standard_normal((rows, rows)))[0]
        options = {"directions": directions, "precision": precision}
        noise = calibrated("mvg", query, REGRESSION.budget, **options).noise
        # Psi = I: the smallest singular value of U1 decides.
        u1 = noise.row_directions * noise.row_std
        mus.append(query.l2_sensitivity / np.linalg.norm(u1, -2))
    difference = float(np.ptp(mus) / np.mean(mus))
    return Finding(
        ours=f"mu differs by {difference:.1g} (relative) over {len(mus)} random directions",
        verdict=verdict_on_statement(difference <= claim.tolerance),
        detail=(
            f"Algorithm 1 on the {rows}x{columns} query of Experiment I with the precision "
            f"{precision}. mu is that of the l2 ball, from the singular values of the covariance. "
            "Where the answers lie in a box as well, the true mu can be smaller and depend on the "
            "directions."
        ),
        calibration="published",
    )
