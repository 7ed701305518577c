"""Judges of the budgets of r1smg2024's DP-SGD, Section 7.3, in closed form; they read no study."""

import math
from collections.abc import Callable
from functools import partial

import scipy

from claims.comparisons import number, statement
from claims.judged_rows import calibrated, listed, listed_numbers
from claims.judges import Count, Delta, Probability, judge
from claims.verdicts import Finding, Part, Sizes
from mechanisms import Budget, Query
from mechanisms.privacy.sampling.poisson_sampling import SampledRun, gaussian_epsilon, step_budget
from mechanisms.query.words import rounded_down
from papers.r1smg2024 import GRADIENT, TrainingBudget

# The Renyi orders of compute_dp_sgd_privacy in TensorFlow Privacy.
COARSE_ORDERS = [1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5, *range(5, 64), 128, 256, 512]


@judge
def training_budget(
    *,
    records: list[Count],
    batch: Count,
    epochs: int,
    delta: Delta,
    budgets: list[TrainingBudget],
    same_steps: float | None = None,
    tolerance: float,
) -> Finding:
    """Judge the total epsilon of DP-SGD with Poisson sampling by Renyi DP.

    Args:
        same_steps: The relative difference up to which numbers of steps are equal; by default
            the numbers of steps that give the totals are not judged.
    """
    parts = [
        number(
            f"sigma {budget.multiplier:g}, q = {batch}/{size}",
            gaussian_epsilon(budget.multiplier, batch / size, epochs * size // batch, delta),
            budget.total,
            tolerance,
        )
        for size in records
        for budget in budgets
    ]
    if same_steps is not None:
        for size in records:
            needed = [
                _steps_to(budget.total, budget.multiplier, batch / size, delta)
                for budget in budgets
            ]
            parts.append(
                statement(
                    f"one number of steps, q = {batch}/{size}:",
                    max(needed) <= (1 + same_steps) * min(needed),
                    f"they need {listed(f'{steps:.3g}' for steps in needed)} steps",
                )
            )
    return Finding(
        parts=parts,
        detail=(
            f"{epochs} epochs, delta {delta:g}, Poisson sampling, a record added or "
            "removed, Renyi DP with dp_accounting's orders."
        ),
        calibration="published",
        sizes=Sizes(records=records[0], epochs=epochs),
    )


def _steps_to(epsilon: float, sigma: float, rate: Probability, delta: float) -> float:
    """Return the number of steps, to 1%, after which the total epsilon is reached.

    The number must lie between 100 and 1e6.
    """
    from dp_accounting.rdp import RdpAccountant

    def excess(log_steps: float) -> float:
        steps = round(math.exp(log_steps))
        accountant = RdpAccountant(COARSE_ORDERS)
        return gaussian_epsilon(sigma, rate, steps, delta, accountant=accountant) - epsilon

    return math.exp(scipy.optimize.brentq(excess, math.log(1e2), math.log(1e6), xtol=0.01))


@judge
def split_over_steps(
    *,
    records: list[Count],
    batch: Count,
    epochs: int,
    delta: Delta,
    slack: Probability,
    budgets: list[TrainingBudget],
    stated_delta: Delta,
    digit: float | None = None,
    tolerance: float,
) -> Finding:
    """Judge the step budgets that eq. (16) gives for the stated totals.

    Args:
        digit: The unit of the last digit of the stated step budgets; by default it is not judged
            whether other epochs or another delta' give them.
    """
    parts = [
        number(
            f"epsilon_0 for {budget.total:g}, q = {batch}/{size}",
            step_budget(budget.total, delta, batch / size, epochs, slack)[0],
            budget.step,
            tolerance,
        )
        for size in records
        for budget in budgets
    ]
    # delta_0 depends neither on the total epsilon nor on q.
    parts.append(number("delta_0", (delta - slack) / epochs, stated_delta, tolerance))
    if digit is not None:
        parts += [
            _one_number(
                f"one number of epochs, q = {batch}/{size}",
                "E",
                1,
                budgets,
                digit,
                partial(_epochs_for, rate=batch / size, slack=slack),
            )
            for size in records
        ]
        parts += [
            _one_number(
                f"one delta', q = {batch}/{size}",
                "log10 delta'",
                2,
                budgets,
                digit,
                partial(_slack_for, rate=batch / size, epochs=epochs),
            )
            for size in records
        ]
    return Finding(
        parts=parts,
        detail=(
            f"Totals {listed_numbers(total for total, *_ in budgets)} as stated, delta "
            f"{delta:g}, delta' {slack:g}, {epochs} epochs, T = epochs/q."
        ),
        calibration="published",
        sizes=Sizes(records=records[0], epochs=epochs),
    )


def _one_number(
    name: str,
    symbol: str,
    places: int,
    budgets: list[TrainingBudget],
    digit: float,
    solve: Callable[[float, float], float],
) -> Part:
    """Judge whether one value of a parameter gives all stated epsilon_0, up to their rounding.

    Args:
        symbol: The symbol of the parameter.
        places: The decimal places to which the parameter is shown.
        digit: The unit of the last digit of the stated epsilon_0.
        solve: Returns the parameter for a total and its epsilon_0.
    """
    ranges = [
        sorted(solve(budget.total, budget.step + end) for end in (digit / 2, -digit / 2))
        for budget in budgets
    ]
    words = listed(f"{low:.{places}f} to {high:.{places}f}" for low, high in ranges)
    one = max(low for low, _ in ranges) <= min(high for _, high in ranges)
    return statement(name, one, f"{symbol} = {words}")


def _slack_for(total: float, epsilon: float, rate: Probability, epochs: float) -> float:
    """Return log10 of the delta' with which eq. (16) splits a total into steps of `epsilon`."""
    steps, x = epochs / rate, rate * epsilon
    left = total - steps * x * math.expm1(x)
    return -((left / x) ** 2) / (2 * steps) / math.log(10)


def _epochs_for(total: float, epsilon: float, rate: Probability, slack: float) -> float:
    """Return the number of epochs E over which eq. (16) splits a total into steps of `epsilon`."""

    def excess(log_epochs: float) -> float:
        return step_budget(total, 0.5, rate, math.exp(log_epochs), slack)[0] - epsilon

    return math.exp(scipy.optimize.brentq(excess, 0.0, math.log(1e4), xtol=1e-6))


@judge
def one_step(
    *, rate: Probability, budgets: list[TrainingBudget], delta: Delta, step_delta: Delta
) -> Finding:
    """Judge R1SMG-DPSGD's total budget by the exact privacy of one Poisson-sampled step.

    If a record is added, Poisson sampling at rate q turns the delta of a step at epsilon into
    exactly q delta at ln(1 + q (e^epsilon - 1)). All steps together reveal no less than one step.
    """
    parts = []
    for total, _, step in budgets:
        budget = Budget(epsilon=step, delta=step_delta)
        profile = calibrated("r1smg", GRADIENT, budget).profile()
        lower = SampledRun(step=profile, rate=rate, steps=1).step_delta(total).lower
        parts.append(
            statement(
                f"({total:g}, {delta:g})-DP:",
                lower <= delta,
                f"one step alone has delta >= {rounded_down(lower)}",
            )
        )
    return Finding(
        parts=parts,
        detail=(
            f"M = {GRADIENT.size}, the parameters of the tutorial's MNIST network (the paper does "
            f"not state M), clipping norm 1, rate {rate:.4g} by Poisson sampling, one record "
            f"added; exact profile of R1SMG at the step budgets of eq. (16), delta_0 = "
            f"{step_delta:g}."
        ),
        calibration="published",
        sizes=Sizes(epsilons=listed_numbers(total for total, *_ in budgets)),
    )


@judge
def looser_composition(*, budgets: list[TrainingBudget], step_delta: Delta) -> Finding:
    """Judge Section 7.3: whether eq. (16) favours DPSGD over R1SMG."""
    parts = []
    for total, sigma, step in budgets:
        query = Query(shape=(1,), l2_sensitivity=1.0)
        budget = Budget(epsilon=step, delta=step_delta)
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
        detail="The multiplier is that of the analytic Gaussian at the step budget.",
        calibration="published",
        sizes=Sizes(epsilons=listed_numbers(total for total, *_ in budgets)),
    )


@judge
def amplified_step(
    *, rate: Probability, budgets: list[TrainingBudget], tolerance: float
) -> Finding:
    """Judge the q epsilon_0 of eq. (16) by the epsilon of a step on a Poisson sample.

    Sampling turns an (epsilon_0, delta_0)-DP step into (ln(1 + q (e^epsilon_0 - 1)), q delta_0)-DP,
    and no smaller epsilon holds for every such step (Balle, Barthe and Gaboardi 2018).
    """
    steps = [step for *_, step in budgets]
    spent = {step: math.log1p(rate * math.expm1(step)) for step in steps}
    return Finding(
        parts=[
            number(f"for epsilon_0 = {step:g}", true, rate * step, tolerance)
            for step, true in spent.items()
        ],
        detail=f"q = {rate:.4g}; q epsilon_0 is the limit for small epsilon_0.",
        sizes=Sizes(epsilons=listed(f"{step:g} per step" for step in steps)),
    )
