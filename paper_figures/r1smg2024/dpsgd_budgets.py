"""The budgets of r1smg2024's DP-SGD, Section 7.3: verdicts in closed form, which read no study."""

from __future__ import annotations

import math
from collections.abc import Callable

import scipy

from claims.judged_rows import at_least, calibrated, listed, rounded_down
from claims.ledger import Claim, judge
from claims.rules import number, statement
from claims.verdicts import Finding, Part, Sizes
from mechanisms import Budget, Query
from mechanisms.privacy.sampling.poisson_sampling import SampledRun, gaussian_epsilon, step_budget
from paper_figures.r1smg2024.numbers import GRADIENT
from runs.results import Results

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.
COARSE_ORDERS = [1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, *range(5, 64), 128, 256, 512]


@judge()
def training_budget(claim: Claim, results: Results) -> Finding:
    """Total epsilon of DP-SGD with Poisson sampling: RDP as the papers use it, and PLD.

    Arguments: records, a list of the numbers that q may stand for; batch, epochs, delta; budgets,
    each with its total, noise multiplier and step epsilon; same_steps, the share by which the steps
    may differ that the two totals need (may be left out).
    """
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    a = claim.arguments

    def total(records: int, sigma: float, accountant=None) -> float:
        steps = a["epochs"] * records // a["batch"]
        rate = a["batch"] / records
        return gaussian_epsilon(sigma, rate, steps, a["delta"], accountant=accountant)

    parts = [
        number(
            f"sigma {sigma:g}, q = {a['batch']}/{records}",
            total(records, sigma),
            stated,
            claim.tolerance,
        )
        for records in a["records"]
        for stated, sigma, _ in a["budgets"]
    ]
    if "same_steps" in a:
        parts += [_one_number_of_steps(records, a) for records in a["records"]]
    first, sigmas = a["records"][0], [sigma for _, sigma, _ in a["budgets"]]
    coarse = [total(first, sigma, RdpAccountant(COARSE_ORDERS)) for sigma in sigmas]
    spacing = 1e-3
    tight = [total(first, s, PLDAccountant(value_discretization_interval=spacing)) for s in sigmas]
    return Finding(
        parts=parts,
        detail=(
            f"{a['epochs']} epochs, delta {a['delta']:g}, Poisson sampling, a record added or "
            "removed, Renyi DP with dp_accounting's orders. At the first q, with TensorFlow "
            f"Privacy's coarser orders {listed(f'{e:.5g}' for e in coarse)}; by privacy loss "
            f"distributions at most {listed(f'{e:.4g}' for e in tight)}."
        ),
        calibration="published",
        sizes=Sizes(records=a["records"][0], epochs=a["epochs"]),
    )


def _one_number_of_steps(records: int, a: dict) -> Part:
    """Whether the two totals come from one number of steps, whatever the number of epochs."""
    rate = a["batch"] / records
    needed = [_steps_to(epsilon, sigma, rate, a["delta"]) for epsilon, sigma, _ in a["budgets"]]
    return statement(
        f"one number of steps, q = {a['batch']}/{records}:",
        max(needed) <= (1 + a["same_steps"]) * min(needed),
        f"they need {listed(f'{steps:.3g}' for steps in needed)} steps",
    )


def _steps_to(epsilon: float, sigma: float, rate: float, delta: float) -> float:
    """Steps after which the total epsilon is reached, to 1%, between 100 and 1e6."""
    from dp_accounting.rdp import RdpAccountant

    def excess(log_steps: float) -> float:
        steps = round(math.exp(log_steps))
        accountant = RdpAccountant(COARSE_ORDERS)
        return gaussian_epsilon(sigma, rate, steps, delta, accountant=accountant) - epsilon

    return math.exp(scipy.optimize.brentq(excess, math.log(1e2), math.log(1e6), xtol=0.01))


@judge()
def split_over_steps(claim: Claim, results: Results) -> Finding:
    """Step budgets of eq. (16) from the stated totals.

    Arguments: records, a list of the numbers that q may stand for; batch, epochs, delta, slack
    (delta'); budgets, each with its total, noise multiplier and epsilon_0; stated_delta, delta_0
    (may be left out); digit, the last digit of epsilon_0, where both are asked to come from one
    number of epochs, and from one delta'.
    """
    a = claim.arguments
    parts = [
        number(
            f"epsilon_0 for {total:g}, q = {a['batch']}/{records}",
            step_budget(total, a["delta"], a["batch"] / records, a["epochs"], a["slack"])[0],
            epsilon,
            claim.tolerance,
        )
        for records in a["records"]
        for total, _, epsilon in a["budgets"]
    ]
    if "stated_delta" in a:
        # It depends neither on the total epsilon nor on q.
        step_delta = (a["delta"] - a["slack"]) / a["epochs"]
        parts.append(number("delta_0", step_delta, a["stated_delta"], claim.tolerance))
    if "digit" in a:
        parts += [_one_number_of_epochs(records, a) for records in a["records"]]
        parts += [_one_slack(records, a) for records in a["records"]]
    return Finding(
        parts=parts,
        detail=(
            f"Totals {listed(f'{total:g}' for total, *_ in a['budgets'])} as stated, delta "
            f"{a['delta']:g}, delta' {a['slack']:g}, {a['epochs']} epochs, T = epochs/q."
        ),
        calibration="published",
        sizes=Sizes(records=a["records"][0], epochs=a["epochs"]),
    )


def _one_number_of_epochs(records: int, a: dict) -> Part:
    """Whether the stated epsilon_0, before rounding, come from one number of epochs E."""
    rate = a["batch"] / records
    ranges = _ranges_of(a, lambda *stated: _epochs_for(*stated, rate, a["slack"]))
    words = listed(f"{low:.1f} to {high:.1f}" for low, high in ranges)
    return statement(
        f"one number of epochs, q = {a['batch']}/{records}", _share(ranges), f"E = {words}"
    )


def _one_slack(records: int, a: dict) -> Part:
    """Whether the stated epsilon_0, before rounding, come from one delta' at the stated epochs."""
    rate = a["batch"] / records
    ranges = _ranges_of(a, lambda *stated: _slack_for(*stated, rate, a["epochs"]))
    words = listed(f"{low:.2f} to {high:.2f}" for low, high in ranges)
    return statement(
        f"one delta', q = {a['batch']}/{records}", _share(ranges), f"log10 delta' = {words}"
    )


def _ranges_of(a: dict, solve: Callable[[float, float], float]) -> list[list[float]]:
    """What `solve` gives for each total and both ends of its epsilon_0 before rounding."""
    half = a["digit"] / 2
    return [
        sorted(solve(total, epsilon + end) for end in (half, -half))
        for total, _, epsilon in a["budgets"]
    ]


def _share(ranges: list[list[float]]) -> bool:
    """Whether one number lies in all of these."""
    return max(low for low, _ in ranges) <= min(high for _, high in ranges)


def _slack_for(total: float, epsilon: float, rate: float, epochs: float) -> float:
    """log10 of the delta' at which eq. (16) gives the step budget `epsilon` for a total."""
    steps, x = epochs / rate, rate * epsilon
    left = total - steps * x * math.expm1(x)
    return -((left / x) ** 2) / (2 * steps) / math.log(10)


def _epochs_for(total: float, epsilon: float, rate: float, slack: float) -> float:
    """E at which eq. (16) gives the step budget `epsilon` for a total."""

    def excess(log_epochs: float) -> float:
        return step_budget(total, 0.5, rate, math.exp(log_epochs), slack)[0] - epsilon

    return math.exp(scipy.optimize.brentq(excess, 0.0, math.log(1e4), xtol=1e-6))


@judge()
def one_step(claim: Claim, results: Results) -> Finding:
    """R1SMG-DPSGD: the total budget against the exact privacy of one Poisson-sampled step.

    Sampling with rate q turns delta(e) of a step into exactly q delta(e) at ln(1 + q (e^e - 1))
    (a record added); all steps together reveal no less than one.

    Arguments: rate q; budgets, each with its total, noise multiplier and step epsilon; delta and
    step_delta.
    """
    a = claim.arguments
    alone, parts = [], []
    for total, _, step in a["budgets"]:
        profile = _step_profile("r1smg", step, a["step_delta"])
        alone.append(f"{at_least(profile.delta(step).lower)} at {step:g}")
        lower = SampledRun(step=profile, rate=a["rate"], steps=1).step_delta(total).lower
        parts.append(
            statement(
                f"({total:g}, {a['delta']:g})-DP:",
                lower <= a["delta"],
                f"one step alone has delta >= {rounded_down(lower)}",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"M = {GRADIENT.size}, the parameters of the tutorial's MNIST network (the paper does "
            f"not state M), clipping norm 1, rate {a['rate']:.4g} by Poisson sampling, one record "
            f"added; exact profile of R1SMG at the step budgets of eq. (16), delta_0 = "
            f"{a['step_delta']:g}. Without sampling delta is at least {listed(alone)}."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed(f"{total:g}" for total, *_ in a["budgets"])),
    )


@judge()
def looser_composition(claim: Claim, results: Results) -> Finding:
    """Section 7.3: whether eq. (16) favours DPSGD over R1SMG.

    Arguments: rate q; budgets, each with its total, noise multiplier and step epsilon; step_delta.
    """
    a = claim.arguments
    parts = []
    for total, sigma, step in a["budgets"]:
        query = Query(shape=(1,), l2_sensitivity=1.0)
        budget = Budget(epsilon=step, delta=a["step_delta"])
        looser = calibrated("gaussian-analytic", query, budget).noise.sigma
        parts.append(
            statement(
                f"eq. (16) is looser than the accountant, total {total:g}:",
                looser > sigma,
                f"Gaussian noise needs a multiplier of {looser:.3g} instead of {sigma:g}",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            "The multiplier is that of the analytic Gaussian at the step budget, with Poisson "
            f"sampling at rate {a['rate']:.4g}, a record added."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed(f"{total:g}" for total, *_ in a["budgets"])),
    )


@judge()
def amplified_step(claim: Claim, results: Results) -> Finding:
    """Eq. (16): q epsilon_0 against the epsilon of a step on a Poisson sample.

    Sampling turns an (epsilon_0, delta_0)-DP step into (ln(1 + q (e^epsilon_0 - 1)), q delta_0)-DP,
    and no smaller epsilon holds for every such step (Balle, Barthe and Gaboardi 2018).

    Arguments: rate q; budgets, each with its total, noise multiplier and epsilon_0.
    """
    a = claim.arguments
    steps = [step for *_, step in a["budgets"]]
    spent = {step: math.log1p(a["rate"] * math.expm1(step)) for step in steps}
    factors = listed(f"{true / step / a['rate']:.3g}" for step, true in spent.items())
    return Finding(
        parts=[
            number(f"for epsilon_0 = {step:g}", true, a["rate"] * step, claim.tolerance)
            for step, true in spent.items()
        ],
        detail=(
            f"q = {a['rate']:.4g}. The true epsilon is {factors} times q epsilon_0, which is its "
            "limit for small epsilon_0."
        ),
        sizes=Sizes(epsilons=listed(f"{step:g} per step" for step in steps)),
    )


def _step_profile(mechanism: str, epsilon: float, delta: float):
    return calibrated(mechanism, GRADIENT, Budget(epsilon=epsilon, delta=delta)).profile()
