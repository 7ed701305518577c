"""Judge mvg2018's theory in closed form: directions, budgets, costs, sensitivities, pure noise.

The judges cover Sections 5.3, 6.1 and 6.3, Theorems 4 and 5, and Appendix B. They also prove that
the releases of two studies are noise.
"""

import itertools
import math
from dataclasses import replace
from typing import Literal

import numpy as np

from claims.comparisons import more_than_noise, number, statement, universal
from claims.judged_rows import calibrated
from claims.judges import Count, Shape, judge
from claims.verdicts import Finding, Sizes
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.comparison.no_data import distance_at_precision
from mechanisms.query.words import rounded_up
from papers.mvg2018 import COVARIANCE, FIRST_COMPONENT, REGRESSION
from papers.setting import PaperSetting

# The studies of identity queries, which run Algorithm 1.
IDENTITY_QUERIES = {"regression": REGRESSION, "covariance": COVARIANCE}


@judge
def directions_free(*, precision: list[float], draws: Count, tolerance: float) -> Finding:
    """Judge whether MVG's true guarantee with a fixed allocation is the same in all directions."""
    query, budget = REGRESSION.query, REGRESSION.budget
    rows = query.shape[0]
    rng = np.random.default_rng(0)
    least = []
    for _ in range(draws):
        directions = np.linalg.qr(rng.standard_normal((rows, rows)))[0]
        options = {"directions": directions, "precision": precision}
        noise = calibrated("mvg", query, budget, **options).noise
        # Because Psi = I, mu is s over the smallest singular value of U1.
        least.append(np.linalg.norm(noise.row_directions * noise.row_std, -2))
    apart = float(np.ptp(least) / np.mean(least))
    found = f"differs by {apart:.1g} (relative)"
    return Finding(
        parts=[statement(f"the same mu for {draws} random directions", apart <= tolerance, found)],
        detail=(
            f"Algorithm 1 on the query of Experiment I with the precision {precision}. mu is that "
            "of the l2 ball, from the singular values of the covariance. Where the answers lie in "
            "a box as well, the true mu can be smaller and depend on the directions."
        ),
        calibration="published",
    )


@judge
def precision_budgets(*, draws: Count, tolerance: float) -> Finding:
    """Judge Theorems 4 and 5: noise that spends the whole budget meets Theorem 3's condition.

    Allocations and directions are random. The norms of the singular values of the two inverse
    covariances are computed from the covariances themselves.
    """
    rng = np.random.default_rng(0)
    parts = []
    for mode, setting, name in (
        ("unimodal", REGRESSION, "Theorem 4, Psi = I"),
        ("equimodal", FIRST_COMPONENT, "Theorem 5, Psi = Sigma"),
    ):
        query = setting.query
        bound = precision_bound(query, setting.budget, "published")
        spent = []
        for _ in range(draws):
            rows = query.shape[0]
            noise = calibrated(
                "mvg",
                query,
                setting.budget,
                mode=mode,
                directions=np.linalg.qr(rng.standard_normal((rows, rows)))[0],
                precision=rng.dirichlet(np.ones(rows)),
            ).noise
            factors = (
                (noise.row_directions, noise.row_std),
                (noise.column_directions, noise.column_std),
            )
            spent.append(np.prod([_inverse_norm(*factor) for factor in factors]) / bound)
        holds = max(abs(ratio - 1) for ratio in spent) <= tolerance
        found = f"spends {min(spent):.9g} to {max(spent):.9g} times the bound"
        parts.append(statement(name, holds, "spends exactly the bound" if holds else found))
    return Finding(
        parts=parts,
        detail=(
            f"{draws} random allocations and directions each: Algorithm 1 on "
            "the query of Experiment I, Algorithm 2 on that of Experiment II. More precision in "
            "any direction would break the condition of Theorem 3, which is sufficient and not "
            "necessary for privacy."
        ),
        calibration="published",
    )


def _inverse_norm(directions: np.ndarray | None, std: np.ndarray) -> float:
    """Return the l2 norm of the singular values of the inverse of a covariance.

    The eigenvectors are the columns of `directions`, or the axes if it is None.
    """
    if directions is None:
        return float(np.linalg.norm(std**-2))
    covariance = (directions * std**2) @ directions.T
    return float(np.linalg.norm(np.linalg.svd(np.linalg.inv(covariance), compute_uv=False)))


@judge
def sampling_cost(*, shapes: list[Shape]) -> Finding:
    """Judge Section 6.3: the operations and memory of a draw U1 N U2 with factors from an SVD."""
    products = [m * n * (m + n) <= m**3 + n**3 for m, n in shapes]
    shown = ", ".join(f"{m}x{n}: {m * m + n * n + m * n:,}" for m, n in shapes)
    return Finding(
        parts=[
            universal("the products cost no more than the SVDs", products),
            statement("memory of three matrices", True, f"numbers stored: {shown}"),
        ],
        detail="m^3 + n^3 - mn (m + n) = (m + n) (m - n)^2 >= 0 at every shape.",
    )


@judge
def sensitivities(*, stated: dict[str, float], tolerance: float) -> Finding:
    """Judge the l2 sensitivities of the three queries in Appendix B.

    Replacing a record x in the box by y changes f(X) = X by at most the box's diagonal. It changes
    X X^T / N by (x x^T - y y^T) / N, for which all pairs of corners are tried. The bound over the
    ball around the box shows that no other pair makes a larger change.
    """
    parts = [
        number(
            f"{study}, f(X) = X:",
            float(np.linalg.norm(2 * np.ones(setting.query.shape[0]))),
            stated[study],
            tolerance,
        )
        for study, setting in IDENTITY_QUERIES.items()
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
            tolerance,
        )
    )
    return Finding(
        parts=parts,
        detail=(
            f"X X^T / N: the largest change is {changes.max() * records:.4g} / N over all pairs of "
            f"corners of the box, and at most {query.gram_change * records:.4g} / N over the ball "
            "around it; the paper's number would follow from adding the norms of both terms. A "
            "sensitivity that is too large is safe and makes the noise larger than it has to be."
        ),
    )


@judge
def least_in_every_direction(*, shares: list[float], tolerance: float) -> Finding:
    """Judge Sections 5.3 and 6.1: every direction keeps some noise, whatever the allocation.

    By Theorem 3, a direction with the whole precision budget P has the variance 1 / sqrt(P). The
    noise in the other directions then grows without bound.
    """
    query, budget = REGRESSION.query, REGRESSION.budget
    size = query.shape[0]
    least = math.sqrt(query.shape[1]) / precision_bound(query, budget, "published")
    found = []
    for share in shares:
        precision = [share, *[(1 - share) / (size - 1)] * (size - 1)]
        noise = calibrated("mvg", query, budget, precision=precision).noise
        found.append(float(noise.row_std.min() ** 2 / least))
    return Finding(
        parts=[
            universal(
                "the least variance over 1 / sqrt(P):",
                [ratio >= 1 - tolerance for ratio in found],
                f"{found[0]:.4g} to {found[-1]:.4g}",
            )
        ],
        detail=(
            f"Algorithm 1 in Experiment I, one direction with a share of {shares[0]:g} to "
            f"{shares[-1]:g} of the precision."
        ),
        calibration="published",
    )


def distance_of_algorithm_1(setting: PaperSetting, zeta: str) -> float:
    """Return a bound on the total variation between MVG's release and its noise.

    The bound holds for every gamma. Every query has gamma >= s/2, and a smaller gamma allows more
    precision. The norm of the answer reaches `frobenius_bound`, which follows from the range of the
    data.
    """
    query = setting.query
    least = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    bound = precision_bound(least, setting.budget, zeta)
    return distance_at_precision(query.frobenius_bound, bound / math.sqrt(query.shape[1]))


@judge
def noise_alone(*, query: Literal["regression", "covariance"]) -> Finding:
    """Judge whether MVG's release in a study can be more than noise, whatever the allocation."""
    setting = IDENTITY_QUERIES[query]
    published, root = (distance_of_algorithm_1(setting, zeta) for zeta in ("published", "sqrt"))
    found = f"total variation from noise at most {rounded_up(published, 2)}, with the root of zeta "
    return Finding(
        parts=[
            more_than_noise(
                "more useful than an answer without data",
                max(published, root),
                found + rounded_up(root, 2),
            )
        ],
        detail=(
            "Algorithm 1 at every gamma of at least s/2, every allocation of precision and all "
            "orthogonal directions that do not depend on the data. The bound is that of two "
            "Gaussians whose Mahalanobis distance is the largest norm of the data times the root "
            "of the precision."
        ),
        calibration="published",
        sizes=Sizes(
            records=round(1 / setting.budget.delta), epsilons=f"{setting.budget.epsilon:g}"
        ),
    )
