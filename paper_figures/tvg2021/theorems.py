"""tvg2021: Gaussian noise with a covariance for each axis against i.i.d. Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paper_figures.judged_rows import listed
from paper_figures.ledger import Claim, judge
from paper_figures.results import Results
from paper_figures.verdicts import NOT_RUN, Finding, Part


@judge()
def tensor_noise(claim: Claim, results: Results) -> Finding:
    """How much larger than i.i.d. noise such noise is at equal privacy; no experiment is run.

    Arguments: shape (of the answer); ratios, each of the largest to the least eigenvalue of every
    covariance, whose eigenvalues rise geometrically.
    """
    shape, ratios = claim.arguments["shape"], claim.arguments["ratios"]
    factors = {
        ratio: factor_over_iid([np.geomspace(1.0, ratio, size) for size in shape])
        for ratio in ratios
    }
    found = listed(f"{factor:.3g} for a ratio of {ratio:g}" for ratio, factor in factors.items())
    return Finding(
        parts=[Part("experiments", NOT_RUN)],
        detail=(
            "Noise whose covariance is the Kronecker product of one matrix per axis is exactly as "
            "private, for changes of l2 norm up to s, as Gaussian noise with mu = s over the root "
            "of the product of their least eigenvalues. At equal mu the expected squared norm is "
            "that of i.i.d. noise times the product, over the axes, of the mean over the least "
            f"eigenvalue. For an answer of {'x'.join(map(str, shape))} and eigenvalues that rise "
            f"geometrically, with the same ratio of the largest to the least on each axis: {found}."
        ),
        calibration="exact",
    )


def factor_over_iid(eigenvalues: Sequence[np.ndarray]) -> float:
    """E||noise||^2 over that of i.i.d. Gaussian noise of the same mu for a Frobenius ball; >= 1.

    Args:
        eigenvalues: Of the covariance of each axis, positive.
    """
    return math.prod(float(each.mean() / each.min()) for each in eigenvalues)
