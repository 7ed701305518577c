"""mvg2018 Section 5.3 and Appendix B: directions without a price, and the sensitivities."""

from __future__ import annotations

import itertools

import numpy as np

from paper_figures.judged_rows import calibrated
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.rules import number, statement
from papers.mvg2018 import COVARIANCE, FIRST_COMPONENT, REGRESSION


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
        parts=[
            statement(
                f"the same mu for {len(mus)} random directions",
                difference <= claim.tolerance,
                f"differs by {difference:.1g} (relative)",
            )
        ],
        detail=(
            f"Algorithm 1 on the {rows}x{columns} query of Experiment I with the precision "
            f"{precision}. mu is that of the l2 ball, from the singular values of the covariance. "
            "Where the answers lie in a box as well, the true mu can be smaller and depend on the "
            "directions."
        ),
        calibration="published",
    )


@judge()
def sensitivities(claim: Claim, results: Results) -> Finding:
    """Appendix B: the l2 sensitivities of the three queries. Arguments: stated, by study.

    Two records in the box change f(X) = X by at most the box's diagonal. For X X^T / N the change
    is x x^T - y y^T over N, and all pairs of the box's corners are tried; the bound over the ball
    around the box shows that no other pair changes more.
    """
    stated = claim.arguments["stated"]
    queries = {"regression": REGRESSION.query, "covariance": COVARIANCE.query}
    parts = [
        number(
            f"{study}, f(X) = X:",
            float(np.linalg.norm(2 * np.ones(query.shape[0]))),
            stated[study],
            claim.tolerance,
        )
        for study, query in queries.items()
    ]
    query, records = FIRST_COMPONENT.query, round(1 / FIRST_COMPONENT.budget.delta)
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=query.shape[0])))
    grams = np.einsum("ki,kj->kij", corners, corners) / records
    changes = np.linalg.norm(grams[:, None] - grams[None], axis=(2, 3))
    parts.append(
        number(
            "first component, f(X) = X X^T / N:",
            float(changes.max()),
            stated["first_component"],
            claim.tolerance,
        )
    )
    return Finding(
        parts=parts,
        detail=(
            f"X X^T / N: the largest change is {changes.max() * records:.4g} / N over all pairs of "
            f"corners of the box, and at most {query.gram_change * records:.4g} / N over the ball "
            "around it; the paper's number adds the norms of both terms. A sensitivity that is too "
            "large is safe and makes the noise larger than it has to be."
        ),
    )
