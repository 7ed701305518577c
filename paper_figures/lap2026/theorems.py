"""lap2026: Laplace noise on a gradient clipped to an l2 norm against Gaussian noise."""

from __future__ import annotations

import math

from mechanisms.profiles.fisher import laplace_mu
from paper_figures.ledger import Claim, judge
from paper_figures.results import Results
from paper_figures.verdicts import NOT_RUN, Finding, Part


@judge()
def laplace_noise(claim: Claim, results: Results) -> Finding:
    """What Laplace noise of a Gaussian's variance reveals; the accuracies are not run.

    Arguments: parameters (of the network), noise_multiplier (standard deviation of one element's
    noise over the clipping norm).
    """
    size, multiplier = claim.arguments["parameters"], claim.arguments["noise_multiplier"]
    mu = laplace_mu(size, math.sqrt(2) / multiplier)
    more = mu * multiplier
    return Finding(
        parts=[Part("accuracies", NOT_RUN)],
        detail=(
            f"A gradient of {size:,} elements is clipped to l2 norm C, and a record is added or "
            f"removed. Laplace noise of standard deviation {multiplier:g} C in each element "
            "reveals a gradient that is spread over all elements as much as Gaussian noise of "
            f"mu = {mu:.4f} does. Gaussian noise of the same standard deviation has "
            f"mu = {1 / multiplier:g}. So Laplace noise needs at least {more:.3f} times the "
            f"standard deviation, {more**2:.2f} times the variance, to be as private. Sampling the "
            "records of a step mixes the same two distributions and does not change this."
        ),
        calibration="published",
    )
