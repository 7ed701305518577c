"""The command `compare`, which ranks the mechanisms for a query."""

from __future__ import annotations

import argparse
import math
import numbers
import textwrap
import warnings
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.base.public_information import WORKLOAD, takes
from mechanisms.base.registry import get_mechanism
from mechanisms.cli.arguments import number
from mechanisms.cli.query_arguments import (
    add_query_arguments,
    given_fields,
    query_of,
    with_option_names,
)
from mechanisms.comparison.advisor import (
    compare,
    conclusion,
    leaders,
    rmse_text,
    unranked,
)
from mechanisms.comparison.assessment import SERVED
from mechanisms.query.query import Budget, Query
from mechanisms.query.words import aligned, query_in_words
from mechanisms.strategies.workload import NAMED

if TYPE_CHECKING:
    import pandas as pd

_DESCRIPTION = (
    "Ranks the mechanisms that support the query by their error at equal true privacy, and says "
    "why the others do not."
)
# The exit status; other commands have it if the mechanism does not support the query.
NOTHING_RANKED = 3
# The most characters in a line of text.
_WIDTH = 80


def add_compare_command(commands) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "compare",
        help="rank the mechanisms for a query",
        description=_DESCRIPTION,
        epilog=f"Exit status: {NOTHING_RANKED} if no mechanism is ranked.",
    )
    add_query_arguments(parser, required=False)
    parser.add_argument(
        "--workload",
        type=read_workload,
        default="identity",
        metavar="NAME|FILE",
        help=f"the linear queries that are asked of the answer: {', '.join(NAMED)} (one name for "
        "all axes, or one for each, such as prefix,identity), or a .npy or .csv file of a matrix "
        "with one row per query (default: identity, which asks for every element)",
    )
    parser.add_argument(
        "--epsilon",
        type=lambda text: [number(each) for each in text.split(",")],
        required=True,
        help="one number, or several, such as 0.1,1,10",
    )
    parser.add_argument(
        "--delta", type=number, default=0.0, help="delta of the budget (default: 0)"
    )
    parser.add_argument(
        "--mechanisms",
        type=lambda text: text.split(","),
        metavar="KEY,...",
        help="the mechanisms to compare, also module:Class (default: all of the package)",
    )
    parser.add_argument(
        "--seconds", type=number, default=20.0, help="time limit for each mechanism (default: 20)"
    )
    parser.add_argument(
        "--best", action="store_true", help="print the best mechanism, and code that uses it"
    )
    parser.add_argument(
        "--answer",
        type=read_answer,
        metavar="FILE",
        help="a public answer like yours, in a .npy file or in a .csv file of a column or a matrix "
        "without names: mechanisms whose error depends on the answer, such as dawa, are ranked by "
        "their error on it; its shape is the default of --shape",
    )
    parser.set_defaults(run=_run, show=str)


def _run(options: argparse.Namespace) -> dict | str:
    if options.best and len(options.epsilon) > 1:
        raise ValueError(f"--best takes one --epsilon, got {len(options.epsilon)}")
    if options.shape is None:
        if options.answer is None:
            raise ValueError("compare needs --shape, or an --answer that has it")
        options.shape = options.answer.shape
    elif options.answer is not None and options.answer.size == math.prod(options.shape):
        options.answer = options.answer.reshape(options.shape)
    query = query_of(options)
    frame = compare(
        query,
        [Budget(epsilon=epsilon, delta=options.delta) for epsilon in options.epsilon],
        workload=options.workload,
        mechanisms=options.mechanisms,
        seconds=options.seconds,
        answer=options.answer,
    )
    options.status = NOTHING_RANKED * int(frame["rank"].isna().all())
    per = "element" if is_identity(options.workload) else "query"
    if options.best:
        return best_code(query, frame, options, per)
    if options.json:
        # Missing values become None.
        rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return {"rows": rows, "conclusion": conclusion(frame, per)}
    return text(query, frame, per)


def read_workload(given: str):
    """Read a workload: a name, a list of names, or the matrix in a file."""
    if given in NAMED:
        return given
    if given.endswith((".npy", ".csv")):
        return _read(given, "matrix")
    names = given.split(",")
    unknown = [name for name in names if name not in NAMED]
    if unknown:
        raise argparse.ArgumentTypeError(
            f"must be one of {', '.join(NAMED)}, such names with commas, or a .npy or .csv file, "
            f"got {unknown[0]!r}"
        )
    return names


def read_answer(given: str) -> np.ndarray:
    """Read the numbers in a .npy or .csv file; one row or column of a .csv file is a vector."""
    answer = _read(given, "answer")
    return answer.ravel() if given.endswith(".csv") and 1 in answer.shape else answer


def _read(given: str, what: str) -> np.ndarray:
    try:
        if given.endswith(".npy"):
            return np.load(given, allow_pickle=False)
        # utf-8-sig skips a byte order mark, which would spoil the first number.
        # An empty file is a warning to numpy.
        with warnings.catch_warnings(action="error"):
            return np.loadtxt(given, delimiter=",", ndmin=2, comments=None, encoding="utf-8-sig")
    except (OSError, EOFError, ValueError, UserWarning) as error:
        raise argparse.ArgumentTypeError(
            f"cannot read the {what} {given} ({error}); a .csv file holds numbers and commas only"
        ) from None


def is_identity(workload) -> bool:
    """Whether a workload that `read_workload` returned asks for every element."""
    names = [workload] if isinstance(workload, str) else workload
    return isinstance(names, list) and set(names) == {"identity"}


def text(query: Query, frame: pd.DataFrame, per: str) -> str:
    """Describe a comparison: a table for each budget, the reasons and the conclusion."""
    tables = [
        f"At ({epsilon:g}, {delta:g}):\n{_table(part)}"
        for (epsilon, delta), part in frame.groupby(["epsilon", "delta"])
        if part["status"].eq(SERVED).any()
    ]
    parts = [_head(query, per), *tables, _reasons(frame), *_out_of_range(query, frame)]
    return "\n\n".join([*parts, _conclusion(frame, per)])


def _head(query: Query, per: str) -> str:
    return _wrapped(f"Answer of shape {query_in_words(vars(query))}. RMSE per {per}.")


def _conclusion(frame: pd.DataFrame, per: str) -> str:
    return "\n".join(map(_wrapped, conclusion(frame, per)))


def _wrapped(line: str) -> str:
    """Wrap a line to `_WIDTH`; what follows an indented line is indented further."""
    indent = "    " if line.startswith("  ") else ""
    return textwrap.fill(
        line, _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )


def _out_of_range(query: Query, frame: pd.DataFrame) -> list[str]:
    """Say which mechanisms are used outside the range of the theorem on their published noise."""
    served = frame[(frame["status"] == SERVED) & (frame["calibration"] == "published")]
    lines = [
        _wrapped(f"  {row.mechanism}: {reason}")
        for row in served.itertuples()
        if (
            reason := get_mechanism(row.mechanism).limit(
                query, Budget(epsilon=row.epsilon, delta=row.delta)
            )
        )
    ]
    return ["\n".join(["Outside the range of its theorem, as published:", *lines])] if lines else []


def best_code(query: Query, frame: pd.DataFrame, options: argparse.Namespace, per: str) -> str:
    """Describe the best mechanism at one budget, if any, with the code that releases with it."""
    first = leaders(frame)
    if first.empty:
        return _conclusion(frame, per)
    best = first.iloc[0]
    words = "".join(f", {name}={value!r}" for name, value in given_fields(options).items())
    lines = [
        _head(query, per),
        "",
        _conclusion(frame, per),
        "",
        "import numpy as np",
        "",
        "from mechanisms import Budget, Query, get_mechanism",
        "",
        f"answer = np.zeros({query.shape})  # put your answer here",
        f"query = Query(shape={query.shape}{words})",
        f"budget = Budget(epsilon={float(best.epsilon)!r}, delta={float(best.delta)!r})",
    ]
    option = ""
    if not is_identity(options.workload) and takes(get_mechanism(best.mechanism), WORKLOAD):
        option = f", workload={options.workload!r}"
        if isinstance(options.workload, np.ndarray):
            option = ", workload=matrix"
            lines.append(f"matrix = np.zeros({options.workload.shape})  # put your workload here")
    calibration = "published" if best.ready else "exact"
    lines += [
        f'mechanism = get_mechanism("{best.mechanism}").calibrate('
        f'query, budget, "{calibration}"{option})',
        "print(mechanism.parameters())",
        "released = mechanism.release(answer, np.random.default_rng())",
    ]
    return "\n".join(lines)


def _table(frame: pd.DataFrame) -> str:
    """Tabulate the mechanisms at one budget, with the verdict on their published claim."""
    published = frame[frame["calibration"] == "published"].set_index("mechanism")
    lines = [
        ("", "", "", "", "", "as published:", ""),
        ("rank", "mechanism", "calibration", "RMSE", "of best", "true epsilon", "verdict"),
    ]
    for row in frame[frame["status"] == SERVED].drop_duplicates("mechanism").itertuples():
        error = rmse_text(row) if row.rmse == row.rmse else "-"
        claim = published.loc[row.mechanism]
        lines.append(
            (
                _number(row.rank),
                row.mechanism,
                row.calibration,
                error,
                _number(row.times_best),
                _number(claim.true_epsilon, 4),
                claim.verdict if isinstance(claim.verdict, str) else "unknown",
            )
        )
    return aligned(lines)


def _reasons(frame: pd.DataFrame) -> str:
    """Say why mechanisms are not ranked: each reason, after the mechanisms that share it."""
    lines = [
        _wrapped(f"  {', '.join(keys)}: {with_option_names(reason)}")
        for keys, reason in unranked(frame)
    ]
    return "\n".join(["Not ranked:", *lines]) if lines else "Every mechanism is ranked."


def _number(value, digits: int = 5) -> str:
    # Missing values are NaN, or pandas.NA, which is not a number.
    return f"{value:.{digits}g}" if isinstance(value, numbers.Real) and value == value else "-"
