"""Noise bounds: how large the conditions of the papers are, by their own formulas."""

from __future__ import annotations

import numpy as np
from scipy import special

from mechanisms.profiles.gaussian_profile import mu_for
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import listed, verdict_on_statement


@judge()
def limit_at_zero(claim: Claim, results: Results) -> Finding:
    """imgm2022: B at ever smaller epsilon against 2 PhiInv((delta + 1)/2).

    Arguments: deltas, epsilons (falling).
    """
    deltas, epsilons = (np.array(claim.arguments[k], dtype=float) for k in ("deltas", "epsilons"))
    limit = 2 * special.ndtri((1 + deltas) / 2)
    errors = np.abs(mu_for(epsilons[:, None], deltas) / limit - 1).max(axis=1)
    approaching = bool(np.all(np.diff(errors) < 0))
    return Finding(
        ours=f"relative difference {errors[-1]:.1g} at epsilon {epsilons[-1]:g}",
        verdict=verdict_on_statement(approaching and errors[-1] <= claim.tolerance),
        detail=(
            f"delta {listed(f'{d:g}' for d in deltas)}; largest relative difference "
            f"{listed(f'{e:.1g} at {x:g}' for e, x in zip(errors, epsilons, strict=True))}."
        ),
    )
