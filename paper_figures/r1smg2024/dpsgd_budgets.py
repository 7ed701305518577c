"""The budgets of r1smg2024's DP-SGD, Section 7.3: verdicts in closed form, which read no study."""

from __future__ import annotations

from mechanisms import Budget
from mechanisms.accounting.poisson_sampling import SampledRun, gaussian_epsilon, step_budget
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import (
    at_least,
    calibrated,
    listed,
    verdict_on_numbers,
    verdict_on_statement,
)
from papers.r1smg2024 import GRADIENT

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.
COARSE_ORDERS = [1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, *range(5, 64), 128, 256, 512]


@judge()
def training_budget(claim: Claim, results: Results) -> Finding:
    """Total epsilon of DP-SGD with Poisson sampling: RDP as the papers use it, and PLD.

    Arguments: records, batch, epochs, delta; stated, pairs of noise multiplier and epsilon.
    """
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    a = claim.arguments
    steps = a["epochs"] * a["records"] // a["batch"]

    def totals(accountant) -> list[float]:
        return [
            gaussian_epsilon(
                sigma, a["batch"] / a["records"], steps, a["delta"], accountant=accountant()
            )
            for sigma, _ in a["stated"]
        ]

    sigmas = [sigma for sigma, _ in a["stated"]]
    ours, coarse = totals(RdpAccountant), totals(lambda: RdpAccountant(COARSE_ORDERS))
    tight = totals(lambda: PLDAccountant(value_discretization_interval=1e-3))
    pairs = list(zip(ours, (stated for _, stated in a["stated"]), strict=True))
    words = listed(f"{e:.4g} at sigma {s:g}" for e, s in zip(ours, sigmas, strict=True))
    differ = ", ".join(f"{e / stated - 1:+.1%}" for e, stated in pairs)
    return Finding(
        ours=f"{words} ({differ})",
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"q = {a['batch']}/{a['records']}, {a['epochs']} epochs ({steps} steps), delta "
            f"{a['delta']:g}, Poisson sampling, a record added or removed, dp_accounting's orders. "
            "With TensorFlow Privacy's coarser ones "
            f"{listed(f'{e:.5g}' for e in coarse)}; by privacy loss distributions at most "
            f"{listed(f'{e:.4g}' for e in tight)}."
        ),
        calibration="published",
    )


@judge()
def split_over_steps(claim: Claim, results: Results) -> Finding:
    """Step budgets of eq. (16) from the stated totals.

    Arguments: records, batch, epochs, delta, slack (delta'); stated, pairs of total epsilon and
    (epsilon_0, delta_0); other_records, of a second sampling rate to compare with.
    """
    a = claim.arguments
    pairs, words, others = [], [], []
    for total, stated in a["stated"]:
        split = step_budget(total, a["delta"], a["batch"] / a["records"], a["epochs"], a["slack"])
        pairs += zip(split, stated, strict=True)
        words.append(f"({split[0]:.3g}, {split[1]:.3g})")
        if "other_records" in a:
            rate = a["batch"] / a["other_records"]
            others.append(step_budget(total, a["delta"], rate, a["epochs"], a["slack"])[0])
    differ = ", ".join(f"{ours / stated - 1:+.1%}" for ours, stated in pairs[::2])
    other = (
        f" With q = {a['batch']}/{a['other_records']} it would be "
        f"{listed(f'{e:.3g}' for e in others)}."
        if others
        else ""
    )
    return Finding(
        ours=f"{listed(words)} (epsilon_0 {differ})",
        verdict=verdict_on_numbers(pairs, claim.tolerance),
        detail=(
            f"Totals {listed(f'{total:g}' for total, _ in a['stated'])} as stated, delta "
            f"{a['delta']:g}, delta' {a['slack']:g}, q = {a['batch']}/{a['records']}, "
            f"{a['epochs']} epochs, T = epochs/q.{other}"
        ),
        calibration="published",
    )


@judge()
def one_step(claim: Claim, results: Results) -> Finding:
    """R1SMG-DPSGD: the total budget against the exact privacy of one Poisson-sampled step.

    Sampling with rate q turns delta(e) of a step into exactly q delta(e) at ln(1 + q (e^e - 1))
    (a record added); all steps together reveal no less than one.

    Arguments: rate q; budgets, pairs of total and step epsilon; delta and step_delta.
    """
    a = claim.arguments
    alone, sampled = [], []
    for total, step in a["budgets"]:
        budget = Budget(epsilon=step, delta=a["step_delta"])
        profile = calibrated("r1smg", GRADIENT, budget).profile()
        alone.append(f"{at_least(profile.delta(step).lower)} at {step:g}")
        run = SampledRun(step=profile, rate=a["rate"], steps=1)
        sampled.append(run.step_delta(total).lower)
    totals = listed(f"{total:g}" for total, _ in a["budgets"])
    return Finding(
        ours=f"one step alone has delta >= {min(sampled):.3g} at epsilon {totals} with sampling, "
        f">= {listed(alone)} without",
        verdict=verdict_on_statement(max(sampled) <= a["delta"]),
        detail=(
            f"M = {GRADIENT.size}, the parameters of the tutorial's MNIST network (the paper does "
            f"not state M), clipping norm 1, rate {a['rate']:.4g} by Poisson sampling, one record "
            f"added; exact profile of R1SMG at the step budgets of eq. (16), delta_0 = "
            f"{a['step_delta']:g}."
        ),
        calibration="published",
    )
