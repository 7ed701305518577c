"""MVG's releases in the studies of mvg2018 are noise: a proof for every gamma and both zetas.

Theorem 3 bounds the product of the norms of both inverse covariances; Algorithm 1 gives one of them
the norm sqrt(n). What is left bounds how far any value of the query can move the noise.
"""

import math
from dataclasses import replace
from typing import Literal

from claims.comparisons import more_than_noise
from claims.judges import judge
from claims.verdicts import Finding, Sizes
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.comparison.no_data import distance_at_precision
from mechanisms.query.words import rounded_up
from paper_figures.mvg2018.numbers import COVARIANCE, REGRESSION
from paper_figures.paper_setting import PaperSetting

USEFUL = "more useful than an answer without data"
# The identity queries, which run Algorithm 1.
STUDIES = {"regression": REGRESSION, "covariance": COVARIANCE}


def distance_of_algorithm_1(setting: PaperSetting, zeta: str) -> float:
    """Total variation between MVG's release and its noise, at most, for every gamma >= s/2.

    Every query has gamma >= s/2, and a smaller gamma allows more precision. The values themselves
    reach the range of the data, `frobenius_bound`.
    """
    query = setting.query
    least = replace(query, frobenius_bound=query.l2_sensitivity / 2)
    bound = precision_bound(least, setting.budget, zeta)
    return distance_at_precision(query.frobenius_bound, bound / math.sqrt(query.shape[1]))


@judge
def noise_alone(*, query: Literal["regression", "covariance"]) -> Finding:
    """Whether MVG's release in a study is more than noise, for every allocation and direction."""
    setting = STUDIES[query]
    published, root = (distance_of_algorithm_1(setting, zeta) for zeta in ("published", "sqrt"))
    found = f"total variation from noise at most {rounded_up(published, 2)}, with the root of zeta "
    return Finding(
        parts=[more_than_noise(USEFUL, max(published, root), found + rounded_up(root, 2))],
        detail=(
            "Algorithm 1 at every gamma of at least s/2, every allocation of precision and every "
            "orthogonal directions that do not depend on the data. The bound is that of two "
            "Gaussians whose Mahalanobis distance is the largest norm of the data times the root "
            "of the precision."
        ),
        calibration="published",
        sizes=Sizes(
            records=round(1 / setting.budget.delta), epsilons=f"{setting.budget.epsilon:g}"
        ),
    )
