"""What R1SMG's answers reveal: along one direction, and in one step of DP-SGD."""

from __future__ import annotations

import math

from scipy import integrate, special, stats

from mechanisms import Budget, Query
from mechanisms.accounting.poisson_sampling import SampledRun
from mechanisms.r1smg import log_psi
from paper_figures.ledger import Claim, Finding, judge
from paper_figures.results import Results
from paper_figures.verdict_rules import at_least, calibrated, listed, verdict_on_statement


@judge()
def null_space(claim: Claim, results: Results) -> Finding:
    """What one fixed direction, chosen before the noise is drawn, reveals about R1SMG's answer.

    The projection of the noise on a unit vector u is sqrt(sigma_*) z t with t the cosine between u
    and the random direction, t^2 ~ Beta(1/2, (M-1)/2). With u along the difference of two answers
    the event {projection < s/2} gives delta >= P(E) - e^epsilon Q(E).

    Arguments: size, sensitivity, epsilon, delta.
    """
    a = claim.arguments
    size, s, epsilon = a["size"], a["sensitivity"], a["epsilon"]
    sigma = math.sqrt(2 / epsilon) * s * math.exp(-log_psi(size, a["delta"]) / 2)
    threshold = s / 2 / sigma

    def density(z: float) -> float:
        cosine = min(1.0, (threshold / z) ** 2)
        return 2 * stats.norm.pdf(z) * special.betainc(0.5, (size - 1) / 2, cosine)

    kinks = [threshold, threshold * math.sqrt(size)]
    inside, error = integrate.quad(density, 0, 40, points=kinks, limit=200)
    delta = (1 + inside) / 2 - math.exp(epsilon) * (1 - inside) / 2 - error
    return Finding(
        ours=f"one fixed direction gives delta({epsilon:g}) >= {delta:.4g}, claimed {a['delta']:g}",
        verdict=verdict_on_statement(delta <= a["delta"]),
        detail=(
            f"Count query, M = {size}, s = {s:.4g}: the squared cosine of the random direction "
            "with a fixed one is 1/M on average, so along the difference of two answers the noise "
            f"has standard deviation {sigma / math.sqrt(size):.3g}, against {sigma:.3g} along its "
            "own direction. The bound is that of one event of this projection, by quadrature."
        ),
        calibration="published",
    )


@judge()
def one_step(claim: Claim, results: Results) -> Finding:
    """R1SMG-DPSGD: the total budget against the exact privacy of one Poisson-sampled step.

    Sampling with rate q turns delta(e) of a step into exactly q delta(e) at ln(1 + q (e^e - 1))
    (a record added); all steps together reveal no less than one.

    Arguments: size; rate q; budgets, pairs of total and step epsilon; delta and step_delta.
    """
    a = claim.arguments
    query = Query(shape=(a["size"],), l2_sensitivity=1.0)
    alone, sampled = [], []
    for total, step in a["budgets"]:
        budget = Budget(epsilon=step, delta=a["step_delta"])
        profile = calibrated("r1smg", query, budget).profile()
        alone.append(f"{at_least(profile.delta(step).lower)} at {step:g}")
        run = SampledRun(step=profile, rate=a["rate"], steps=1)
        sampled.append(run.step_delta(total).lower)
    totals = listed(f"{total:g}" for total, _ in a["budgets"])
    return Finding(
        ours=f"one step alone has delta >= {min(sampled):.3g} at epsilon {totals} with sampling, "
        f">= {listed(alone)} without",
        verdict=verdict_on_statement(max(sampled) <= a["delta"]),
        detail=(
            f"M = {a['size']}, the parameters of the tutorial's MNIST network (the paper does not "
            f"state M), clipping norm 1, rate {a['rate']:.4g} by Poisson sampling, one record "
            f"added; exact profile of R1SMG at the step budgets of eq. (16), delta_0 = "
            f"{a['step_delta']:g}."
        ),
        calibration="published",
    )
