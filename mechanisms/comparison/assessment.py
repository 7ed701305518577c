"""Assesses one mechanism for a query: its error, its true privacy and its speed."""

import math
import timeit
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np

from mechanisms.base.guard import ReleaseError
from mechanisms.base.mechanism import AdditiveMechanism, Mechanism
from mechanisms.base.public_information import WORKLOAD, public_options
from mechanisms.base.registry import get_mechanism
from mechanisms.check.checks import QUICK, require_consistent_in_study
from mechanisms.check.evidence import Effort
from mechanisms.comparison.sampled_losses import sampled_losses, weighted_squares
from mechanisms.limit.limit import limit
from mechanisms.query.extras import needed
from mechanisms.query.query import Budget, Inconsistent, Query, Unsupported
from mechanisms.strategies.workload import Identity, Kronecker, Workload
from mechanisms.verification.verification import INCONSISTENT, verify

SERVED, UNSUPPORTED, TOO_SLOW, FAILED = "served", "unsupported", "too slow", "failed"
_TIMED_DRAWS = 3
# The number of releases of a public answer.
_RELEASES = 100


@dataclass(frozen=True, kw_only=True)
class Task:
    """The task on which every mechanism is assessed.

    Args:
        query: Shape and sensitivities.
        budgets: The budgets to calibrate to.
        calibrations: "published", "exact" or both.
        factors: The linear queries that are asked of the answer, as factors of a Kronecker product.
        answer: A public answer of the query's shape, for mechanisms whose error depends on it.
    """

    query: Query
    budgets: tuple[Budget, ...]
    calibrations: tuple[str, ...]
    factors: tuple[Workload, ...]
    answer: np.ndarray | None = None

    @property
    def asks_elements(self) -> bool:
        """Whether the queries ask for every element, and nothing else."""
        return all(isinstance(factor, Identity) for factor in self.factors)

    @property
    def asked(self) -> int:
        """The number of queries that are asked; for the identity the number of elements."""
        return math.prod(factor.queries for factor in self.factors)


def unserved_rows(task: Task, key: str, status: str, note: str) -> list[dict]:
    """Return the rows of a mechanism that gives no numbers, with the reason in `note`."""
    return [
        {**_names(key, budget, calibration), "status": status, "note": note}
        for budget in task.budgets
        for calibration in task.calibrations
    ]


def assessed_rows(task: Task, key: str) -> list[dict]:
    """Return one row for every budget and calibration of a mechanism, see `advisor.compare`."""
    return [
        _names(key, budget, calibration) | _assessed(task, key, budget, calibration)
        for budget in task.budgets
        for calibration in task.calibrations
    ]


def _names(key: str, budget: Budget, calibration: str) -> dict:
    """Return the columns that name a row; `mechanism` is a name that `get_mechanism` takes."""
    return {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "mechanism": key,
        "title": get_mechanism(key).title,
        "calibration": calibration,
    }


def _assessed(task: Task, key: str, budget: Budget, calibration: str) -> dict:
    cls = get_mechanism(key)
    with warnings.catch_warnings():
        # The notes of the rows name the range of a theorem in place of a warning.
        warnings.simplefilter("ignore")
        found = {"status": SERVED}
        try:
            options = known_options(task, cls)
            mechanism = cls.calibrate_only(task.query, budget, calibration, **options)
            # The tests check the package's own mechanisms at length: few releases are enough here.
            outside = ":" in key
            if not outside:
                require_consistent_in_study(mechanism, seed=0, first=False)
            effort = QUICK if outside else None
            found |= assessment(mechanism, task, effort=effort)
            found["noise"] = _scale(mechanism)
            # The limit is for the worst answer, and an error on one answer may be below it.
            if task.asks_elements and "seconds_per_draw" in found:
                least = limit(task.query, budget, fast=True).rmse
                found["of_limit"] = found["rmse"] / least if least else None
            return found
        except (Inconsistent, ReleaseError) as reason:
            return found | {"verdict": INCONSISTENT, "note": f"contradicts itself: {reason}"}
        except Unsupported as reason:
            return {"status": UNSUPPORTED, "note": str(reason)}
        except ImportError as error:
            return {"status": UNSUPPORTED, "note": needed(error)}
        except Exception as error:
            # A broken mechanism must not keep the others from being compared.
            return {"status": FAILED, "note": f"raised {type(error).__name__}: {error}"}


def _scale(mechanism: Mechanism) -> str | None:
    """Return the first parameter of the noise, such as "sigma 3.7306", or None without one."""
    known = mechanism.parameters().items()
    return next((f"{name} {value:.5g}" for name, value in known), None)


def known_options(task: Task, cls: type[Mechanism]) -> dict:
    """Return the options that tell a mechanism which queries are asked of the answer."""
    return public_options(cls, {WORKLOAD: lambda: Kronecker(task.factors)})


def assessment(mechanism: Mechanism, task: Task, *, effort: Effort | None) -> dict:
    """Return the numbers, the verdict and the note on one mechanism for `advisor.compare`.

    Args:
        mechanism: Calibrated to the query of the task.
        effort: How much is drawn to compare the mechanism with what it states; None for nothing.

    Raises:
        Unsupported: The mechanism claims no privacy, or its error is not known.
    """
    numbers, notes = _privacy(mechanism, effort)
    if isinstance(mechanism, AdditiveMechanism) and mechanism.only_adds_noise:
        numbers |= _error(mechanism, task)
    elif task.answer is not None:
        numbers |= _error_on_answer(mechanism, task)
        notes.append("has its error at the given answer")
    else:
        notes.append(
            "has an error that depends on the answer: give --answer, public data of the same kind"
        )
    outside = mechanism.limit(mechanism.query, mechanism.budget)
    if outside and mechanism.calibration == "published":
        notes.append(f"is outside its theorem's range: {outside}")
    # Every note is a predicate of the mechanism, as the message of `Unsupported` is.
    return numbers | {"note": "; it ".join(notes)}


def _privacy(mechanism: Mechanism, effort: Effort | None) -> tuple[dict, list[str]]:
    """Return the true privacy with the verdict on the claim, and notes on what is not known."""
    if mechanism.guarantee != "none" and mechanism.profile() is None:
        return {}, ["has no exact profile to compare with its claim"]
    found = verify(mechanism, effort=effort)
    if found.contradiction is not None:
        return {"verdict": found.verdict}, [f"contradicts itself: {found.contradiction}"]
    return {
        "true_epsilon": found.true_epsilon.value,
        "true_delta": found.true_delta.value,
        "verdict": found.verdict,
    }, [f"has only a bound on its true privacy: {found.slack}"] if found.slack else []


def _error(mechanism: AdditiveMechanism, task: Task) -> dict:
    # Each mechanism has its own seed, so that the sampling errors of two are independent.
    seed = list(f"{mechanism.key} {mechanism.calibration} {mechanism.budget}".encode())
    mean, error = _mean_loss(mechanism, task, seed)
    draw = partial(mechanism.sample, np.random.default_rng(0), 1)
    return {
        "rmse": math.sqrt(mean / task.asked),
        # The square root halves a relative error.
        "rmse_error": error / 2,
        # The first draw warms up.
        "seconds_per_draw": min(timeit.repeat(draw, number=1, repeat=_TIMED_DRAWS)),
    }


def _error_on_answer(mechanism: Mechanism, task: Task) -> dict:
    rng = np.random.default_rng(0)
    released = mechanism.releases(task.answer, rng, _RELEASES)
    losses = weighted_squares(released - task.answer, task.factors)
    mean, error = losses.mean(), losses.std(ddof=1) / math.sqrt(_RELEASES)
    return {
        "rmse": math.sqrt(mean / task.asked),
        "rmse_error": float(error / (2 * mean)) if mean else 0.0,
    }


def _mean_loss(mechanism: AdditiveMechanism, task: Task, seed: list[int]) -> tuple[float, float]:
    """Return E||W n||^2 and its relative standard error, which is 0 for a closed form."""
    if task.asks_elements:
        return mechanism.expected_loss(), 0.0
    variance = mechanism.noise.workload_variance(task.factors)
    if variance is not None:
        return variance, 0.0
    losses = sampled_losses(mechanism.noise, task.factors, seed)
    if losses is None:
        raise Unsupported("has no closed form of the error of these queries, nor a fast sampler")
    mean = float(losses.mean())
    return mean, float(losses.std(ddof=1)) / math.sqrt(len(losses)) / mean
