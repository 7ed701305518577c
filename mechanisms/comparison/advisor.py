"""All mechanisms side by side for one query, ranked by their error at equal true privacy."""

from __future__ import annotations

import math
import multiprocessing
import numbers
import os
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.base.guard import checked_value
from mechanisms.base.mechanism import CALIBRATIONS
from mechanisms.base.registry import all_mechanisms, get_mechanism
from mechanisms.comparison.assessment import (
    FAILED,
    SERVED,
    TOO_SLOW,
    Task,
    assessed_rows,
    unserved_rows,
)
from mechanisms.limit.limit import limit
from mechanisms.query.query import Budget, Query
from mechanisms.query.words import rounded_down
from mechanisms.strategies.workload_options import workload_factors
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED

if TYPE_CHECKING:
    import pandas as pd

# Errors within this relative distance of the least one of their group are a tie.
TIE = 1e-3
# Sampled errors also tie within this many standard errors of their difference.
TIE_DEVIATIONS = 3.0
# Among ties, mechanisms with independent noise of one scale come first, as the simplest.
SIMPLEST = ("gaussian-analytic", "laplace", "gaussian")
# Mechanisms that are compared for a workload only if they are named, and why.
_ON_REQUEST = {
    "matrix-mechanism-cvxpy": "takes tens of seconds and finds what matrix-mechanism finds; name "
    "it with --mechanisms, or mechanisms= from Python"
}
# The longest that one may wait for a pipe.
_MOST_SECONDS = 1e6
COLUMNS = (
    *("epsilon", "delta", "mechanism", "title", "calibration", "status", "rank", "rmse"),
    *("rmse_error", "times_best", "of_limit", "true_epsilon", "true_delta", "verdict"),
    *("seconds_per_draw", "noise", "note"),
)
_WORDS = {"mechanism", "title", "calibration", "status", "verdict", "noise", "note"}


def compare(
    query: Query,
    budget: Budget | Sequence[Budget],
    *,
    workload="identity",
    calibrations: Sequence[str] = CALIBRATIONS,
    mechanisms: Sequence[str] | None = None,
    seconds: float = 20.0,
    answer=None,
) -> pd.DataFrame:
    """Every mechanism for a query, ranked by its error at equal true privacy.

    Args:
        query: Shape and sensitivities; the more are stated, the more mechanisms support it.
        budget: One budget, or several for curves.
        workload: The linear queries that are asked of the answer: a name of
            `strategies.workload_options.NAMES`, a list with one name for each axis, a (q, M)
            array, or a Workload. The identity asks for every element.
        calibrations: "published", "exact" or both.
        mechanisms: Keys, or module:Class of mechanisms from elsewhere; None for all of the package,
            but for matrix-mechanism-cvxpy with a workload, which takes tens of seconds to find what
            matrix-mechanism finds. One that is named twice counts once.
        seconds: Time limit for each mechanism, all budgets and calibrations together, > 0; at most
            1e6.
        answer: A public answer of the query's shape. Mechanisms whose error depends on the answer
            are released on it 100 times, and ranked.

    Returns:
        One row for every budget, mechanism and calibration, best first; of equal ranks those whose
        published claim is refuted last:
        status: "served", "unsupported", "too slow" or "failed"; `note` has the reason.
        rank: From 1 at each budget; <NA> where the row does not count, see below. Equal ranks are
            ties: within 0.1% of the first of them, or too close to separate by sampling.
        rmse: Root mean square error of an element, or of a query of the workload, exact where
            rmse_error, its relative standard error, is 0.
        times_best: rmse over the least of the ranked ones.
        of_limit: rmse over a lower bound of every mechanism's, see docs/the_limit.md; NaN without a
            bound, for another workload than the identity, and for an error on `answer`. The bound
            is a fast one: below M of about 1,000 `mechanisms limit` finds a larger one.
        true_epsilon, true_delta: The true epsilon at the claimed delta, and the true delta at the
            claimed epsilon; upper bounds where `note` says so.
        verdict: On the claim: "holds", "loose", "refuted" or "undecided".
        seconds_per_draw: Wall-clock seconds of one draw of the noise.
        noise: The first parameter of the noise, such as "sigma 3.7306".

        A mechanism has a rank if it provably has the privacy of the budget: at the exact
        calibration, or as published where there is none and the claim is true.

    Raises:
        TypeError, ValueError: A bad argument; UnknownMechanism for a key.
        ModuleNotFoundError: pandas is not installed.
    """
    import pandas as pd

    task = checked_task(query, budget, workload, calibrations, answer)
    if isinstance(mechanisms, str):
        raise TypeError(f"mechanisms must be a list of keys, got {mechanisms!r}")
    named = mechanisms is not None or task.asks_elements
    keys = list(dict.fromkeys(all_mechanisms() if mechanisms is None else mechanisms))
    if not keys:
        raise ValueError("mechanisms must name at least one, got none; leave it out for all")
    for key in keys:
        get_mechanism(key)
    if not isinstance(seconds, numbers.Real) or not 0 < seconds <= _MOST_SECONDS:
        raise ValueError(
            f"seconds must be a number > 0, at most {_MOST_SECONDS:g}, got {seconds!r}"
        )
    # The forks inherit what `limit` remembers.
    for each in task.budgets:
        limit(query, each, fast=True)
    rows = []
    for key in keys:
        if key in _ON_REQUEST and not named:
            rows += unserved_rows(task, key, TOO_SLOW, _ON_REQUEST[key])
        else:
            rows += rows_in_time(task, key, float(seconds))
    return ranked(pd.DataFrame(rows, columns=list(COLUMNS)))


def rows_in_time(task: Task, key: str, seconds: float) -> list[dict]:
    """One row for every budget and calibration; a mechanism over the time limit says so.

    A signal handler cannot interrupt native code, and a mechanism may end its own process. So a
    fork assesses each mechanism, and is killed where it is late.

    seconds: For all budgets and calibrations together.
    """
    forking = multiprocessing.get_context("fork")
    answers, end = forking.Pipe(duplex=False)
    fork = forking.Process(target=_send_rows, args=(end, task, key))
    fork.start()
    end.close()
    try:
        if answers.poll(seconds):
            return answers.recv()
    except EOFError:
        note = "ended its process without an answer, which may be a lack of memory"
        return unserved_rows(task, key, FAILED, note)
    finally:
        fork.kill()
        fork.join()
    note = (
        f"takes longer than {seconds:.3g} seconds for this size (strategy, profile or draws); "
        "allow more with --seconds, or seconds= from Python"
    )
    return unserved_rows(task, key, TOO_SLOW, note)


def _send_rows(end: Connection, task: Task, key: str) -> None:
    # What a mechanism prints is no answer, and Ctrl-C is for the parent, which kills its forks.
    os.dup2(2, 1)
    os.setsid()
    end.send(assessed_rows(task, key))


def checked_task(query: Query, budget, workload, calibrations, answer=None) -> Task:
    """The arguments of `compare` as a task; raises TypeError or ValueError."""
    budgets = tuple(budget) if isinstance(budget, list | tuple) else (budget,)
    if not isinstance(query, Query) or not all(isinstance(each, Budget) for each in budgets):
        given = ", ".join(type(each).__name__ for each in (query, *budgets))
        raise TypeError(
            f"compare takes a Query and a Budget, or a sequence of Budgets, got {given}"
        )
    if not budgets or len(set(budgets)) < len(budgets):
        raise ValueError(f"compare needs at least one budget, and each of them once, got {budgets}")
    known = not isinstance(calibrations, str) and set(calibrations) <= set(CALIBRATIONS)
    if not known or not calibrations:
        raise ValueError(f"calibrations must be some of {CALIBRATIONS}, got {calibrations!r}")
    if answer is not None:
        answer = checked_value(np.asarray(answer), query)
    return Task(
        answer=answer,
        query=query,
        budgets=budgets,
        calibrations=tuple(dict.fromkeys(calibrations)),
        factors=workload_factors(query, workload=workload),
    )


def ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of all budgets with rank and times_best, best first."""
    import pandas as pd

    parts = []
    for _, part in rows.groupby(["epsilon", "delta"], sort=False):
        part = part.assign(rank=part.index.map(_ranks(part)))
        part = part.assign(refuted=refuted(part) & part["rank"].notna())
        best = part.loc[part["rank"].notna(), "rmse"].min()
        parts.append(part.assign(times_best=part["rmse"] / best))
    frame = pd.concat(parts).sort_values(
        ["epsilon", "delta", "rank", "refuted", "rmse", "mechanism", "calibration"],
        na_position="last",
    )
    types = dict.fromkeys(COLUMNS, "float64") | dict.fromkeys(_WORDS, "string") | {"rank": "Int64"}
    return frame[list(COLUMNS)].reset_index(drop=True).astype(types)


def refuted(rows: pd.DataFrame) -> pd.Series:
    """Whether the published claim of each row's mechanism is refuted."""
    published = rows["calibration"].eq("published") & rows["verdict"].eq(REFUTED)
    return rows["mechanism"].isin(rows["mechanism"][published])


def _ranks(rows: pd.DataFrame) -> dict[int, int]:
    """The ranks of the rows of one budget that count, by their labels in the index."""
    counted = rows[
        (rows["status"] == SERVED)
        & rows["verdict"].isin([HOLDS, LOOSE])
        & (rows["rmse"] < math.inf)
    ]
    # A mechanism counts at its exact calibration, or as published where it has none.
    counted = (
        counted.sort_values("calibration", kind="stable")
        .drop_duplicates("mechanism")
        .sort_values("rmse", kind="stable")
    )
    ranks = {}
    first, rank = None, 0
    for place, row in enumerate(counted.itertuples(), 1):
        if first is None or not _ties(first, row):
            first, rank = row, place
        ranks[row.Index] = rank
    return ranks


def _ties(first, row) -> bool:
    """Whether the error of `row` ties with the smaller one of `first`."""
    deviation = math.hypot(first.rmse * first.rmse_error, row.rmse * row.rmse_error)
    return row.rmse - first.rmse <= max(TIE * first.rmse, TIE_DEVIATIONS * deviation)


def conclusion(frame: pd.DataFrame, per: str = "element") -> list[str]:
    """For every budget of a comparison: the best, what ties with it, and the next.

    per: Whether the error is that of an "element" or of a "query".
    """
    return [
        _conclusion(part, f"({epsilon:g}, {delta:g})", per)
        for (epsilon, delta), part in frame.groupby(["epsilon", "delta"])
    ]


def _conclusion(part: pd.DataFrame, budget: str, per: str) -> str:
    first = leaders(part)
    if first.empty:
        return (
            f"At {budget} no mechanism supports this query with proven privacy and a known error."
        )
    best, how, close = first.iloc[0], "as published", ""
    told = best
    if best.calibration == "exact" and best.ready:
        close = f", within {TIE:.1%} of its exact calibration"
        published = part["mechanism"].eq(best.mechanism) & part["calibration"].eq("published")
        told = part[published].iloc[0]
    elif best.calibration == "exact":
        how = "exactly calibrated"
    # Stored rows have no scale.
    scale = f" ({told.noise})" if isinstance(told.noise, str) else ""
    text = (
        f"At {budget} use {best.title}, {how}{scale}, for the least error of those compared: "
        f"RMSE {rmse_text(told)} per {per}{close}."
    )
    if told.of_limit == told.of_limit and told.of_limit is not None:
        least = rounded_down(1 / told.of_limit, 4)
        text += f" Every private mechanism has a worst case of at least {least} of that error."
    others = first[first["mechanism"] != best.mechanism]
    ties = [_title_of(row) for row in others.itertuples()]
    if ties:
        who = _listed(ties)
        within = "as far as samples tell" if first["rmse_error"].any() else f"within {TIE:.1%}"
        text += f" {who} {'ties' if len(ties) == 1 else 'tie'} with it ({within})."
    behind = part[part["rank"] > 1]
    if len(behind):
        following = next(leaders(part, behind["rank"].min()).itertuples())
        text += (
            f" Next is {_title_of(following)} with {following.rmse / told.rmse:.4g} times that "
            "error."
        )
    return text


def _title_of(leader) -> str:
    """The title of a row of `leaders`, with what it must be calibrated by, or is refuted for."""
    if leader.false:
        return f"{leader.title} (refuted as published)"
    exact = leader.calibration == "exact" and not leader.ready
    return f"{leader.title} (exactly calibrated)" if exact else leader.title


def leaders(part: pd.DataFrame, rank: float = 1) -> pd.DataFrame:
    """The rows of this rank at one budget, the simplest first, then those that need no rescaling.

    `ready` marks the latter. A mechanism that is refuted as published comes last.
    """
    first = part[part["rank"] == rank]
    as_good = part["calibration"].eq("published") & part["verdict"].isin([HOLDS, LOOSE])
    as_good &= part["rmse"] <= first["rmse"].min() * (1 + TIE)
    order = {key: place for place, key in enumerate(SIMPLEST)}
    first = first.assign(
        ready=first["mechanism"].isin(part["mechanism"][as_good]),
        false=first["mechanism"].isin(part["mechanism"][refuted(part)]),
        place=first["mechanism"].map(order).fillna(len(order)),
        rescaled=lambda rows: ~rows["ready"],
    )
    return first.sort_values(["false", "place", "rescaled"], kind="stable")


def unranked(frame: pd.DataFrame) -> list[tuple[list[str], str]]:
    """Why mechanisms are ranked at no budget: the keys of those with one reason, and a sentence.

    "it needs ...", and of several mechanisms "each needs ...".
    """
    known = set(frame["mechanism"][frame["rank"].notna()])
    rest = frame[~frame["mechanism"].isin(known)].drop_duplicates("mechanism", keep="last")
    reasons = [_reason(row) for row in rest.itertuples()]
    groups = rest.assign(note=reasons).groupby("note")
    return [
        (list(part["mechanism"]), f"{'it' if len(part) == 1 else 'each'} {reason}")
        for reason, part in groups
    ]


def _reason(row) -> str:
    if isinstance(row.verdict, str) and row.verdict not in (HOLDS, LOOSE):
        claim = f"has a claim that is {row.verdict}"
        return f"{claim}; it {row.note}" if row.note else claim
    return row.note


def rmse_text(row) -> str:
    """The error of a row: five digits, or three and the standard error where it is sampled."""
    if row.rmse_error > 0:
        return f"{row.rmse:.3g} +- {row.rmse * row.rmse_error:.1g}"
    return f"{row.rmse:.5g}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
