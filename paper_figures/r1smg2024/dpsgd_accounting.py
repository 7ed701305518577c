"""Privacy accounting: DP-SGD budgets, their split over steps, and a Renyi divergence."""

from __future__ import annotations

from mechanisms.accounting.poisson_sampling import gaussian_epsilon, step_budget
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import listed, verdict_on_numbers

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.


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
    (epsilon_0, delta_0); other_records, for a rate that is told besides.
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
