"""Ranks all mechanisms for one query by their error at equal true privacy."""

from __future__ import annotations

import math
import multiprocessing
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
from mechanisms.query.query import Budget, Query, checked_real
from mechanisms.query.words import rounded_down
from mechanisms.strategies.workload_options import workload_factors
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED

if TYPE_CHECKING:
    import pandas as pd

# Errors tie with the least error of their group if they exceed it by at most this share.
TIE = 1e-3
# Sampled errors also tie within this many standard errors of their difference.
TIE_DEVIATIONS = 3.0
# Among ties these mechanisms come first: their noise is the simplest, independent and of one scale.
SIMPLEST = ("gaussian-analytic", "laplace", "gaussian")
# Mechanisms that are compared for a workload only if the caller names them, and why.
_ON_REQUEST = {
    "matrix-mechanism-cvxpy": "takes tens of seconds and finds what matrix-mechanism finds; name "
    "it with --mechanisms, or mechanisms= from Python"
}
# `Connection.poll` fails for about twice as many seconds.
_SECONDS = {"low": math.ulp(0.0), "high": 1e6, "allowed": "> 0 and at most 1e6"}
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
    mechanisms: Sequence[str] | None = None,
    seconds: float = 20.0,
    answer=None,
) -> pd.DataFrame:
    """Rank every mechanism for a query by its error at equal true privacy.

    Args:
        query: Shape and sensitivities; the more are stated, the more mechanisms support it.
        budget: One budget, or several for curves.
        workload: The linear queries that are asked of the answer: a name of
            `strategies.workload.NAMED`, a list with one name for each axis, a (q, M)
            array, or a Workload. The identity asks for every element.
        mechanisms: Keys, or module:Class of mechanisms from elsewhere; a repeated one counts once.
            None for all of the package, except matrix-mechanism-cvxpy for a workload: it takes tens
            of seconds to find what matrix-mechanism finds.
        seconds: Time limit for each mechanism, at all budgets and calibrations together; > 0, and
            at most 1e6.
        answer: A public answer of the query's shape. Mechanisms whose error depends on the answer
            release it 100 times, and are ranked by that error.

    Returns:
        One row for every budget, mechanism and calibration, best first. Among equal ranks,
        mechanisms whose published claim is refuted come last.
        status: "served", "unsupported", "too slow" or "failed"; `note` has the reason.
        rank: From 1 at each budget; <NA> if the row does not count, see below. Equal ranks are
            ties: within 0.1% of the first of them, or too close to separate by sampling.
        rmse: Root mean square error of an element, or of a query of the workload.
        rmse_error: Relative standard error of rmse; 0 if rmse is exact.
        times_best: rmse over the least rmse of the ranked rows.
        of_limit: rmse over a lower bound on every mechanism's, see docs/the_limit.md. NaN without a
            bound, for a workload other than the identity, and for an error on `answer`. The bound
            is a fast one: below M of about 1,000 `mechanisms limit` finds a larger one.
        true_epsilon, true_delta: The true epsilon at the claimed delta, and the true delta at the
            claimed epsilon; upper bounds if `note` says so.
        verdict: The verdict on the claim: "holds", "loose", "refuted", "undecided" or
            "inconsistent".
        seconds_per_draw: Wall-clock seconds of one draw of the noise.
        noise: The first parameter of the noise, such as "sigma 3.7306".

        A mechanism has a rank if it provably has the privacy of the budget: at the exact
        calibration or, if there is none and the claim is true, as published.

    Raises:
        TypeError, ValueError: A bad argument; UnknownMechanism for a key.
        ModuleNotFoundError: pandas is not installed.
    """
    import pandas as pd

    task = checked_task(query, budget, workload, answer)
    if isinstance(mechanisms, str):
        raise TypeError(f"mechanisms must be a list of keys, got {mechanisms!r}")
    named = mechanisms is not None or task.asks_elements
    keys = list(dict.fromkeys(all_mechanisms() if mechanisms is None else mechanisms))
    if not keys:
        raise ValueError("mechanisms must name at least one, got none; leave it out for all")
    for key in keys:
        get_mechanism(key)
    seconds = checked_real("seconds", seconds, **_SECONDS)
    # `limit` caches its results, and the forks inherit the cache.
    for each in task.budgets:
        limit(query, each, fast=True)
    rows = []
    for key in keys:
        if key in _ON_REQUEST and not named:
            rows += unserved_rows(task, key, TOO_SLOW, _ON_REQUEST[key])
        else:
            rows += rows_in_time(task, key, seconds)
    return ranked(pd.DataFrame(rows, columns=list(COLUMNS)))


def rows_in_time(task: Task, key: str, seconds: float) -> list[dict]:
    """Return the rows of a mechanism, or rows that say that it takes too long.

    A signal handler cannot interrupt native code, and a mechanism may end its own process. So each
    mechanism is assessed in a fork, which is killed when its time is up.

    seconds: Time limit for all budgets and calibrations together.
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
    # Output of the mechanism goes to stderr. Ctrl-C reaches only the parent, which kills its forks.
    os.dup2(2, 1)
    os.setsid()
    end.send(assessed_rows(task, key))


def checked_task(query: Query, budget, workload, answer=None) -> Task:
    """Return the arguments of `compare` as a task; raise TypeError or ValueError for bad ones."""
    budgets = tuple(budget) if isinstance(budget, list | tuple) else (budget,)
    if not isinstance(query, Query) or not all(isinstance(each, Budget) for each in budgets):
        given = ", ".join(type(each).__name__ for each in (query, *budgets))
        raise TypeError(
            f"compare takes a Query and a Budget, or a sequence of Budgets, got {given}"
        )
    if not budgets or len(set(budgets)) < len(budgets):
        raise ValueError(f"compare needs at least one budget, and each of them once, got {budgets}")
    if answer is not None:
        answer = checked_value(np.asarray(answer), query)
    return Task(
        answer=answer,
        query=query,
        budgets=budgets,
        calibrations=CALIBRATIONS,
        factors=workload_factors(query, workload=workload),
    )


def ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """Add the columns rank and times_best to the rows of all budgets, and sort them, best first."""
    import pandas as pd

    parts = []
    for _, part in rows.groupby(["epsilon", "delta"], sort=False):
        rank = part.index.map(_ranks(part))
        best = part["rmse"][rank.notna()].min()
        parts.append(
            part.assign(
                rank=rank,
                refuted=refuted(part) & rank.notna(),
                times_best=part["rmse"] / best,
            )
        )
    frame = pd.concat(parts).sort_values(
        ["epsilon", "delta", "rank", "refuted", "rmse", "mechanism", "calibration"],
        na_position="last",
    )
    types = dict.fromkeys(COLUMNS, "float64") | dict.fromkeys(_WORDS, "string") | {"rank": "Int64"}
    return frame[list(COLUMNS)].reset_index(drop=True).astype(types)


def refuted(rows: pd.DataFrame) -> pd.Series:
    """Return, for each row, whether the published claim of its mechanism is refuted."""
    published = rows["calibration"].eq("published") & rows["verdict"].eq(REFUTED)
    return rows["mechanism"].isin(rows["mechanism"][published])


def _ranks(rows: pd.DataFrame) -> dict[int, int]:
    """Return the ranks of the rows of one budget that count, by their labels in the index."""
    counted = rows[
        (rows["status"] == SERVED)
        & rows["verdict"].isin([HOLDS, LOOSE])
        & (rows["rmse"] < math.inf)
    ]
    # A mechanism counts at its exact calibration or, if it has none, as published.
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
    """Return whether the error of `row` ties with the error of `first`, which is no larger."""
    deviation = math.hypot(first.rmse * first.rmse_error, row.rmse * row.rmse_error)
    return row.rmse - first.rmse <= max(TIE * first.rmse, TIE_DEVIATIONS * deviation)


def conclusion(frame: pd.DataFrame, per: str = "element") -> list[str]:
    """Return a paragraph for every budget: the best mechanism, what ties with it, and the next.

    per: "element" or "query", whichever the error is of.
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
    # The rows of a stored run lack the parameter of the noise.
    scale = f" ({told.noise})" if isinstance(told.noise, str) else ""
    text = (
        f"At {budget} use {best.title}, {how}{scale}, for the least error of those compared: "
        f"RMSE {rmse_text(told)} per {per}{close}."
    )
    if not math.isnan(told.of_limit):
        least = rounded_down(1 / told.of_limit, 4)
        text += f" Every private mechanism has a worst case of at least {least} of that error."
    ties = [_title_of(row) for row in first.iloc[1:].itertuples()]
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
    """Return the title of a row of `leaders`, with the calibration it needs, or its refutation."""
    if leader.false:
        return f"{leader.title} (refuted as published)"
    exact = leader.calibration == "exact" and not leader.ready
    return f"{leader.title} (exactly calibrated)" if exact else leader.title


def leaders(part: pd.DataFrame, rank: float = 1) -> pd.DataFrame:
    """Return the rows of this rank at one budget, the simplest mechanism first.

    Of equally simple mechanisms, those that are as good without rescaling come first; the column
    `ready` marks them. Mechanisms that are refuted as published, marked by `false`, come last.
    """
    first = part[part["rank"] == rank]
    as_good = part["calibration"].eq("published") & part["verdict"].isin([HOLDS, LOOSE])
    as_good &= part["rmse"] <= first["rmse"].min() * (1 + TIE)
    order = {key: place for place, key in enumerate(SIMPLEST)}
    first = first.assign(
        ready=first["mechanism"].isin(part["mechanism"][as_good]),
        false=first["mechanism"].isin(part["mechanism"][refuted(part)]),
        place=first["mechanism"].map(order).fillna(len(order)),
    )
    return first.sort_values(["false", "place", "ready"], ascending=[True, True, False])


def unranked(frame: pd.DataFrame) -> list[tuple[list[str], str]]:
    """Return why mechanisms have no rank at any budget: keys of mechanisms, and their reason.

    The reason is a sentence, "it needs ..." or, for several mechanisms, "each needs ...".
    """
    known = set(frame["mechanism"][frame["rank"].notna()])
    rest = frame[~frame["mechanism"].isin(known)].drop_duplicates("mechanism", keep="last")
    rest = rest.assign(note=[_reason(row) for row in rest.itertuples()])
    return [
        (list(keys), f"{'it' if len(keys) == 1 else 'each'} {reason}")
        for reason, keys in rest.groupby("note")["mechanism"]
    ]


def _reason(row) -> str:
    if isinstance(row.verdict, str) and row.verdict not in (HOLDS, LOOSE):
        claim = f"has a claim that is {row.verdict}"
        return f"{claim}; it {row.note}" if row.note else claim
    return row.note


def rmse_text(row) -> str:
    """Return the error of a row: five digits, or three and the standard error if it is sampled."""
    if row.rmse_error > 0:
        return f"{row.rmse:.3g} +- {row.rmse * row.rmse_error:.1g}"
    return f"{row.rmse:.5g}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
