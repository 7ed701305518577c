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
            f"removed. Laplace noise of standard deviation {multiplier:g} C in each element shows "
            f"the gradient that is spread over all elements as Gaussian noise of mu = {mu:.4f} "
            f"would. Gaussian noise of that standard deviation has mu = {1 / multiplier:g}. So "
            f"Laplace noise needs at least {more:.3f} times the standard deviation, {more**2:.2f} "
            "times the variance, to be as private. Drawing the records of a step at random mixes "
            "the same two distributions and changes nothing in this."
        ),
        calibration="published",
    )
