"""Options of the command line that describe a query, a mechanism and a budget."""

import argparse
import dataclasses
import json
import math
import re
import warnings

from mechanisms.base.claim import claimed_delta
from mechanisms.base.mechanism import CALIBRATIONS, Mechanism
from mechanisms.base.registry import all_mechanisms, get_mechanism
from mechanisms.cli.arguments import number
from mechanisms.query.query import ADJACENCIES, STRUCTURES, Budget, Query

# An array of float64 with this many elements takes 1.6 GB.
LARGEST_SIZE = 2 * 10**8
# The fields of `Query` other than its shape; each has an option of its own.
QUERY_FIELDS = tuple(each.name for each in dataclasses.fields(Query) if each.name != "shape")
_FIELD_NAME = re.compile(rf"\b({'|'.join(name for name in QUERY_FIELDS if '_' in name)})\b")
_FIELD_AND_VALUE = re.compile(
    rf"\b(structure|adjacency) ('?)({'|'.join(STRUCTURES + ADJACENCIES)})\b\2"
)
_PURE_CLAIMS = {"pure": "pure privacy", "local": "pure local privacy"}


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"0*[1-9]\d*(x0*[1-9]\d*)*", text.lower()):
        raise argparse.ArgumentTypeError(
            f"must be positive sizes such as 89x89 or 1000, got {text!r}"
        )
    return tuple(int(axis) for axis in text.lower().split("x"))


def _range(text: str) -> tuple[float, float]:
    ends = text.split(",")
    if len(ends) != 2:
        raise argparse.ArgumentTypeError(f"must be two numbers such as 0,1, got {text!r}")
    return number(ends[0]), number(ends[1])


def name_and_value(text: str) -> tuple[str, object]:
    """Read NAME=VALUE, for `add_argument`; a value that is not JSON is text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value, parse_float=number)
    except json.JSONDecodeError:
        return name, value


def mechanism_key(text: str) -> str:
    """Return the key of the mechanism with this key or title, in any case, for `add_argument`.

    A text that names no mechanism of the package is returned as it is.
    """
    names = {text.casefold(), text.casefold().replace(" ", "-")}
    for key, cls in all_mechanisms().items():
        if names & {key, cls.title.casefold()}:
            return key
    return text


def add_key(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a mechanism."""
    parser.add_argument(
        "key", type=mechanism_key, help="a mechanism's key or title, or module:Class"
    )


def add_budget(parser: argparse.ArgumentParser) -> None:
    """Add --epsilon and --delta."""
    parser.add_argument("--epsilon", type=number, required=True, help="epsilon of the budget")
    parser.add_argument(
        "--delta", type=number, default=0.0, help="delta of the budget (default: 0)"
    )


def add_mechanism_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `mechanism_of` reads."""
    add_key(parser)
    add_query_arguments(parser)
    add_budget(parser)
    parser.add_argument(
        "--calibration",
        choices=CALIBRATIONS,
        default="published",
        help="noise as published, or rescaled until it truly has the budget (default: published)",
    )
    parser.add_argument(
        "--option",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the mechanism; `describe KEY` lists them; may be repeated",
    )


def add_query_arguments(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Add the options that `query_of` reads; `required` says whether --shape must be given."""
    parser.add_argument(
        "--shape", type=_shape, required=required, help="lengths of the answer's axes, as in 89x89"
    )
    for name, about in (
        (
            "l2-sensitivity",
            "largest l2 change of the answer (default: the largest that the other options allow)",
        ),
        ("l1-sensitivity", "largest l1 change of the answer"),
        ("linf-sensitivity", "largest change of one element"),
        ("frobenius-bound", "largest Frobenius norm of the answer"),
        ("record-bound", "largest l2 norm of a record (default: 1 for a histogram)"),
    ):
        parser.add_argument(f"--{name}", type=number, help=about)
    parser.add_argument("--element-range", type=_range, help="a,b if every element lies in [a, b]")
    # No `choices`: the query refuses other words, and says what to do.
    parser.add_argument(
        "--adjacency",
        metavar=f"{{{','.join(ADJACENCIES)}}}",
        help="what neighbouring data sets are (default: add-remove)",
    )
    parser.add_argument(
        "--structure",
        metavar=f"{{{','.join(STRUCTURES)}}}",
        help="how records form the answer",
    )


def query_of(options) -> Query:
    """Return the query that the command line describes.

    Raises:
        ValueError: The query is not valid, or its answer has more than `LARGEST_SIZE` elements.
    """
    size = math.prod(options.shape)
    if size > LARGEST_SIZE:
        raise ValueError(
            f"shape must have at most {LARGEST_SIZE:,} elements, got {size:,} in "
            f"{'x'.join(map(str, options.shape))}"
        )
    return Query(shape=options.shape, **given_fields(options))


def given_fields(options) -> dict[str, object]:
    """Return the fields of `Query`, other than its shape, that the command line gives."""
    return {name: value for name in QUERY_FIELDS if (value := getattr(options, name)) is not None}


def mechanism_of(options, warn_if_refuted: bool = False) -> Mechanism:
    """Return the mechanism that the command line describes.

    Its warnings are stored in `options.notes`, with a note if it claims pure or local privacy and
    the budget has delta > 0.

    Args:
        warn_if_refuted: Whether to warn if the mechanism's profile refutes its claim. Commands that
            judge the claim themselves pass False.
    """
    query = query_of(options)
    budget = Budget(epsilon=options.epsilon, delta=options.delta)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cls = get_mechanism(options.key)
        calibrate = cls.calibrate if warn_if_refuted else cls.calibrate_only
        mechanism = calibrate(query, budget, options.calibration, **dict(options.option))
    options.notes = [f"warning: {with_option_names(str(warning.message))}" for warning in caught]
    delta, claim = claimed_delta(mechanism), _PURE_CLAIMS.get(mechanism.guarantee)
    if claim and delta != budget.delta:
        options.notes.append(
            f"note: the claim has delta {delta:g}, not {budget.delta:g}: {mechanism.key} as "
            f"published claims {claim}"
        )
    return mechanism


def with_option_names(text: str) -> str:
    """Write fields of `Query`, their values and the calibration in a text as options."""
    text = text.replace('calibration="exact"', "--calibration exact")
    text = _FIELD_NAME.sub(lambda found: f"--{found[0].replace('_', '-')}", text)
    return _FIELD_AND_VALUE.sub(r"--\1 \3", text)
