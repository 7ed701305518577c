"""The command `limit`: a lower bound on every mechanism's error, beside the best mechanism."""

import argparse
import json
from pathlib import Path

from mechanisms.cli.query_arguments import add_budget, add_query_arguments, query_of
from mechanisms.comparison.advisor import SIMPLEST, TIE
from mechanisms.comparison.best_known import exact_errors
from mechanisms.limit.certificate import limit_certificate
from mechanisms.limit.limit import limit
from mechanisms.query.query import Budget, Query
from mechanisms.query.words import query_in_words, rounded_down, rounded_up

PREMISE = (
    "The limit is for answers that take all values; without a structure, every vector within the\n"
    "sensitivities is a change between neighbours. For an answer in a ball or box state its bound."
)
_DESCRIPTION = (
    "Prints a certified lower bound on the error of every mechanism, additive or not, for a query "
    "whose answer takes all values. Beside it stand the mechanism of the package with the least "
    "error at the exact calibration, and the simplest within 0.1% of it, which `compare` chooses. "
    "The proof is in docs/the_limit.md."
)


def add_limit_command(commands) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "limit",
        help="the least error that any mechanism can have",
        description=_DESCRIPTION,
    )
    add_query_arguments(parser)
    add_budget(parser)
    parser.add_argument(
        "--fast",
        action="store_true",
        help="test only the event of one ball: takes 0.2 s, and is tight for large M",
    )
    parser.add_argument(
        "--certificate",
        type=Path,
        metavar="FILE",
        help="also write the test to FILE, which `python check_limit.py FILE` checks; see "
        "docs/certificates.md",
    )
    parser.set_defaults(run=_run, show=text)


def _run(options: argparse.Namespace) -> dict:
    query = query_of(options)
    budget = Budget(epsilon=options.epsilon, delta=options.delta)
    if options.certificate:
        written = json.dumps({"limits": [limit_certificate(query, budget)]})
        options.certificate.write_text(written, encoding="utf-8")
    return answer(query, budget, fast=options.fast)


def answer(query: Query, budget: Budget, *, fast: bool = False) -> dict:
    """Return the bound, the best mechanism of the package, and its error over the bound.

    Errors are root mean square errors of an element. The ratio is `of_limit`. `simplest` is the
    simplest mechanism within 0.1% of the best, which may be the best itself. A value that is not
    known is None.
    """
    lowest = limit(query, budget, fast=fast)
    errors = exact_errors(query, budget)
    best = min(errors, key=errors.get, default=None)
    tied = [key for key in errors if errors[key] <= errors[best] * (1 + TIE)]
    simplest = next((key for key in SIMPLEST if key in tied), best)
    known = lowest.rmse is not None and best is not None
    return {
        "shape": list(query.shape),
        "l2_sensitivity": query.l2_sensitivity,
        "l1_sensitivity": query.l1_sensitivity,
        "linf_sensitivity": query.linf_sensitivity,
        "adjacency": query.adjacency,
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "limit_rmse": lowest.rmse,
        "how": lowest.how,
        "best": best,
        "best_rmse": errors.get(best),
        "of_limit": errors[best] / lowest.rmse if known else None,
        "simplest": simplest,
        "simplest_rmse": errors.get(simplest),
    }


def text(found: dict) -> str:
    """Describe the answer: the limit is rounded down, and the error over it up."""
    lines = [
        f"Answer of shape {query_in_words(found)}, "
        f"({found['epsilon']:g}, {found['delta']:g})-DP. RMSE per element.",
        f"limit  {rounded_down(found['limit_rmse'], 6)}: {found['how']}"
        if found["limit_rmse"] is not None
        else found["how"],
        f"best   {found['best_rmse']:.6g}: {found['best']}"
        if found["best"]
        else "best   no mechanism of the package serves this query and budget",
    ]
    if found["of_limit"] is not None:
        lines[-1] += f", {rounded_up(found['of_limit'], 5)} times the limit"
    if found["simplest"] != found["best"]:
        lines.append(
            f"use    {found['simplest_rmse']:.6g}: {found['simplest']}, "
            f"the simplest within {TIE:.1%}"
        )
    if found["limit_rmse"] is not None:
        lines.append(PREMISE)
    return "\n".join(lines)
