"""The words that describe a query, a mechanism and a budget on a command line."""

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

# One array of float64 of this size takes 1.6 GB.
LARGEST_SIZE = 2 * 10**8
BESIDE_SHAPE = tuple(each.name for each in dataclasses.fields(Query) if each.name != "shape")
_FIELDS = re.compile(rf"\b({'|'.join(name for name in BESIDE_SHAPE if '_' in name)})\b")
_KINDS = re.compile(rf"\b(structure|adjacency) ('?)({'|'.join(STRUCTURES + ADJACENCIES)})\b\2")
_PURE = {"pure": "pure privacy", "local": "pure local privacy"}


def _shape(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"0*[1-9]\d*(x0*[1-9]\d*)*", text.lower()):
        raise argparse.ArgumentTypeError(
            f"must be positive sizes such as 89x89 or 1000, got {text!r}"
        )
    return tuple(int(axis) for axis in text.lower().split("x"))


def _range(text: str) -> tuple[float, float]:
    ends = text.split(",")
    if len(ends) != 2:
        raise argparse.ArgumentTypeError(f"must be a,b such as 0,1, got {text!r}")
    return number(ends[0]), number(ends[1])


def option_value(text: str) -> tuple[str, object]:
    """A type for `add_argument`: NAME=VALUE, the value as JSON or else as text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    try:
        return name, json.loads(value, parse_float=number)
    except json.JSONDecodeError:
        return name, value


def mechanism_key(text: str) -> str:
    """A type for `add_argument`: a mechanism by its key or its title, in capitals or not."""
    names = {text.casefold(), text.casefold().replace(" ", "-")}
    for key, cls in all_mechanisms().items():
        if names & {key, cls.title.casefold()}:
            return key
    return text


def add_key(parser: argparse.ArgumentParser) -> None:
    """The mechanism that a command is about."""
    parser.add_argument(
        "key", type=mechanism_key, help="a mechanism's key or title, or module:Class"
    )


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of every command that calibrates a mechanism."""
    add_key(parser)
    add_shape_and_sensitivities(parser)
    parser.add_argument("--epsilon", type=number, required=True, help="epsilon of the budget")
    parser.add_argument(
        "--delta", type=number, default=0.0, help="delta of the budget (default: 0)"
    )
    parser.add_argument(
        "--calibration",
        choices=CALIBRATIONS,
        default="published",
        help="noise as published, or rescaled to the budget's true privacy (default: published)",
    )
    parser.add_argument(
        "--option",
        type=option_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the mechanism; `describe KEY` lists them; may be repeated",
    )


def add_shape_and_sensitivities(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """Options that describe a query, see `query_of`; `required` if a shape must be given."""
    parser.add_argument("--shape", type=_shape, required=required, help="axes, such as 89x89")
    parser.add_argument(
        "--l2-sensitivity",
        type=number,
        help="largest l2 change of the answer (default: the largest that the others allow)",
    )
    parser.add_argument("--l1-sensitivity", type=number, help="largest l1 change of the answer")
    parser.add_argument("--linf-sensitivity", type=number, help="largest change of one element")
    parser.add_argument("--element-range", type=_range, help="a,b if every element lies in [a, b]")
    parser.add_argument(
        "--frobenius-bound", type=number, help="largest Frobenius norm of the answer"
    )
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
    parser.add_argument(
        "--record-bound",
        type=number,
        help="largest l2 norm of a record (default: 1 for a histogram)",
    )


def query_of(options) -> Query:
    """The query that the command line describes.

    Raises:
        ValueError: The query is not valid, or its answer too large for a command that draws.
    """
    size = math.prod(options.shape)
    if size > LARGEST_SIZE:
        raise ValueError(
            f"shape must have at most {LARGEST_SIZE:,} elements, got {size:,} in "
            f"{'x'.join(map(str, options.shape))}"
        )
    return Query(shape=options.shape, **stated(options))


def stated(options) -> dict[str, object]:
    """What the command line states of a query beside its shape, by the fields of `Query`."""
    return {name: value for name in BESIDE_SHAPE if (value := getattr(options, name)) is not None}


def mechanism_of(options, judged: bool = False) -> Mechanism:
    """The mechanism that the command line describes; `options.notes` get what to say of it.

    judged: Whether that is also said of a claim that is refuted, where the command itself does not.
    """
    query = query_of(options)
    budget = Budget(epsilon=options.epsilon, delta=options.delta)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cls = get_mechanism(options.key)
        calibrate = cls.calibrate if judged else cls.calibrate_only
        mechanism = calibrate(query, budget, options.calibration, **dict(options.option))
    options.notes = [f"warning: {in_options(str(notice.message))}" for notice in caught]
    delta, claim = claimed_delta(mechanism), _PURE.get(mechanism.guarantee)
    if claim and delta != budget.delta:
        options.notes.append(
            f"note: the claim has delta {delta:g}, not {budget.delta:g}: {mechanism.key} as "
            f"published claims {claim}"
        )
    return mechanism


def in_options(text: str) -> str:
    """A text that names fields of a query, with the options of the command line in their place."""
    text = text.replace('calibration="exact"', "--calibration exact")
    text = _FIELDS.sub(lambda found: f"--{found[0].replace('_', '-')}", text)
    return _KINDS.sub(r"--\1 \3", text)
