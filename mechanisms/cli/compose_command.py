"""The command `compose`: the total privacy of many releases of one mechanism."""

import argparse
import math

from mechanisms.base.mechanism import Mechanism
from mechanisms.cli.arguments import number, whole_number
from mechanisms.cli.query_arguments import add_mechanism_arguments, mechanism_of
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.query.query import Unsupported
from mechanisms.query.words import rounded_down, rounded_up

_DESCRIPTION = (
    "Bounds the total privacy of many independent releases of one mechanism from above and below. "
    "The query and the budget are those of a single release. The bounds follow from the "
    "mechanism's true privacy profile, not from its claim. "
    "docs/choose_a_mechanism.md shows how to compose releases that differ."
)


def add_compose_command(commands) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "compose",
        help="the total privacy of many releases",
        description=_DESCRIPTION,
    )
    add_mechanism_arguments(parser)
    parser.add_argument(
        "--steps", type=whole_number(1, 10**9), required=True, help="number of releases"
    )
    parser.add_argument(
        "--rate",
        type=number,
        help="probability with which a fresh Poisson sample for each release contains a record "
        "(default: every release is on all records)",
    )
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--at-delta", type=number, metavar="D", help="print epsilon at this delta")
    asked.add_argument("--at-epsilon", type=number, metavar="E", help="print delta at this epsilon")
    parser.set_defaults(run=_run, show=text)


def _run(options: argparse.Namespace) -> dict:
    mechanism = mechanism_of(options, warn_if_refuted=True)
    total = _total(mechanism, options.steps, options.rate)
    answer = {
        "mechanism": mechanism.key,
        "steps": options.steps,
        "rate": options.rate,
        "adjacency": mechanism.query.adjacency,
    }
    if options.at_epsilon is None:
        found = total.epsilon(options.at_delta)
        return answer | {
            "delta": options.at_delta,
            "epsilon": found.upper,
            "epsilon_lower": found.lower,
        }
    found = total.delta(options.at_epsilon)
    return answer | {
        "epsilon": options.at_epsilon,
        "delta": found.upper,
        "delta_lower": found.lower,
    }


def _total(mechanism: Mechanism, steps: int, rate: float | None) -> PrivacyProfile:
    one = mechanism.profile_of_release()
    if one is None:
        raise Unsupported("has no known privacy profile, from which a total is computed")
    if rate is None or rate == 1:
        return one.compose(steps)
    if mechanism.query.adjacency != "add-remove":
        raise Unsupported(
            "has no known bound on Poisson samples under adjacency "
            f"{mechanism.query.adjacency!r}; only records that are added or removed have one"
        )
    if not one.symmetric:
        raise Unsupported(
            "has no known bound on Poisson samples: adding a record and removing one reveal "
            "different amounts, and its profile does not say which is which"
        )
    # Imported here, because it loads slowly.
    from mechanisms.privacy.sampling.sampled_profile import sampled

    return sampled(one, rate, steps)


def text(found: dict) -> str:
    """Describe the answer: the upper bound is rounded up, the lower one down."""
    name, given = ("epsilon", "delta") if "epsilon_lower" in found else ("delta", "epsilon")
    steps = f"{found['steps']:,} release{'s' * (found['steps'] > 1)} of {found['mechanism']}"
    where = "all records" if found["rate"] is None else f"Poisson samples of rate {found['rate']:g}"
    upper, lower = found[name], rounded_down(found[f"{name}_lower"], 6)
    bound = f"at most {rounded_up(upper, 6)}" if math.isfinite(upper) else "without a bound"
    return (
        f"{steps} on {where}, {found['adjacency']}\n"
        f"{name} at {given} {found[given]:g}: {bound}, at least {lower}"
    )
