"""Calibrate noise for a query and a budget, compute its privacy, and audit claims by sampling."""

import argparse
import functools
import inspect
import json
import math
import sys

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.registry import all_mechanisms, get_mechanism
from mechanisms.cli.arguments import Parser, run, share, whole_number
from mechanisms.cli.audit_command import add_audit_command
from mechanisms.cli.compare_command import add_compare_command
from mechanisms.cli.compose_command import add_compose_command
from mechanisms.cli.limit_command import add_limit_command
from mechanisms.cli.query_arguments import (
    add_key,
    add_mechanism_arguments,
    mechanism_of,
    with_option_names,
)
from mechanisms.query.extras import needed
from mechanisms.query.named_code import error_line, went_through
from mechanisms.query.query import Unsupported
from mechanisms.query.words import aligned, in_one_line
from mechanisms.verification.explanation import explain
from mechanisms.verification.standing import standing
from mechanisms.verification.verification import INCONSISTENT, Verification, verify

UNSUPPORTED = 3
EXIT_STATUSES = (
    "Exit status: 0, there is an answer (for verify, a verdict on the claim, true or false); 1, "
    "the mechanism contradicts itself, so that verify gives no verdict on its claim; 2, the input "
    "is bad or the mechanism raised an exception; 3, the mechanism does not support this query or "
    "budget."
)


def main(arguments: list[str] | None = None, called: str = "python -m mechanisms") -> int:
    """Run one command and return its exit status, see `EXIT_STATUSES`."""
    options = _parser(called).parse_args(arguments)
    try:
        answer = options.run(options)
    except Unsupported as reason:
        print(
            f"{options.key} is unsupported here: it {with_option_names(str(reason))}",
            file=sys.stderr,
        )
        return UNSUPPORTED
    except Exception as error:
        # Every other exception too: Python would end with status 1, which has a meaning here.
        print(in_one_line(_in_words(error, options)), file=sys.stderr)
        return 2
    shown = json.dumps(_finite(answer), indent=2) if options.json else options.show(answer)
    # Flushed, so that the answer comes before the notes even if both go into one file.
    print(shown, flush=True)
    for note in options.notes:
        print(note, file=sys.stderr)
    return options.status


def _list(options) -> list[dict]:
    return [_metadata(cls) for cls in all_mechanisms().values()]


def _describe(options) -> dict:
    cls = get_mechanism(options.key)
    described = {
        name: {"default": option.default, "allowed": option.allowed, "about": option.description}
        for name, option in cls.options.items()
    }
    return _metadata(cls) | {"about": inspect.getdoc(cls), "options": described}


def _calibrate(options) -> dict:
    mechanism = mechanism_of(options, warn_if_refuted=True)
    sensitivities = {
        name: value
        for name, value in vars(mechanism.query).items()
        if name.endswith("_sensitivity") and value is not None
    }
    answer = {
        "mechanism": mechanism.key,
        "calibration": mechanism.calibration,
        "epsilon": mechanism.budget.epsilon,
        "delta": mechanism.budget.delta,
        "shape": list(mechanism.query.shape),
        **sensitivities,
        "adjacency": mechanism.query.adjacency,
        "noise": mechanism.parameters() or None,
    }
    if not isinstance(mechanism, AdditiveMechanism):
        return answer | {"note": "not additive: the error depends on the answer"}
    loss = mechanism.loss()
    return answer | {
        "expected_loss": loss.mean,
        "raw_kurtosis": loss.raw_kurtosis,
        "raw_skewness": loss.raw_skewness,
        "central_kurtosis": loss.central_kurtosis,
        "central_skewness": loss.central_skewness,
    }


def _verify(options) -> dict | Verification:
    result = verify(
        mechanism_of(options),
        samples=options.samples,
        seed=options.seed,
        confidence=options.confidence,
    )
    options.status = int(result.verdict == INCONSISTENT)
    return result.to_dict() if options.json else result


def _metadata(cls) -> dict:
    return {
        "key": cls.key,
        "title": cls.title,
        "paper": cls.paper,
        "theorem": cls.theorem,
        "guarantee": cls.guarantee,
        "verdict": str(standing(cls.key) or "none yet: `verify` gives it for a query"),
    }


def _show_list(rows: list[dict]) -> str:
    # The paper and the theorem do not fit into 80 columns; `describe` has them.
    names = ("key", "title", "guarantee")
    lines = [[*(row[name] for name in names), row["verdict"].split()[0]] for row in rows]
    table = aligned([(*names, "verdict"), *lines])
    return (
        f"{table}\n(verdict: on the claim, at the papers' settings in the range of its theorem;\n"
        "refuted: at one of them or more)"
    )


def _show(answer: dict, indent: str = "") -> str:
    lines = []
    width = max(20 - len(indent), *(len(name) for name in answer))
    for name, value in answer.items():
        if isinstance(value, dict) and value:
            lines.append(f"{indent}{name}\n{_show(value, indent + '    ')}")
        else:
            shown = f"{value:.10g}" if isinstance(value, float) else value
            shown = "none" if value is None or value == {} else shown
            lines.append(f"{indent}{name:<{width}} {shown}")
    return "\n".join(lines)


def _in_words(error: Exception, options) -> str:
    """Describe an error, with its place if it came from the user's code or not from the input."""
    given = [getattr(options, name, None) or "" for name in ("key", "score")]
    raising = next((name for name in given if ":" in name and went_through(error, name)), "")
    if not raising and isinstance(error, TypeError | ValueError | OSError):
        return with_option_names(str(error))
    if not raising and isinstance(error, ModuleNotFoundError):
        return f"{options.command} {needed(error)}"
    return error_line(error, raising)


def _finite(value):
    """Replace what JSON lacks: NaN becomes None, infinity the text "inf" or "-inf"."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _parser(called: str) -> argparse.ArgumentParser:
    parser = Parser(prog=called, description=__doc__)
    parser.set_defaults(notes=(), status=0)
    commands = parser.add_subparsers(dest="command", required=True)

    listing = commands.add_parser(
        "list",
        help="list all mechanisms",
        description="Lists all mechanisms, with what they claim (pure, approximate or local "
        "privacy) and the verdict on the claim at the settings of the papers.",
    )
    listing.set_defaults(run=_list, show=_show_list)

    describe = commands.add_parser(
        "describe",
        help="describe one mechanism and its options",
        description="Describes one mechanism and its options; `compare` says what a query must "
        "state for it.",
    )
    add_key(describe)
    describe.set_defaults(run=_describe, show=_show)

    calibrate = commands.add_parser(
        "calibrate",
        help="choose the noise for a query and a budget",
        description="Prints the parameters of the noise and the moments of the loss, which is the "
        "squared l2 norm of the noise: raw moments are about zero, central ones about the mean.",
        epilog=EXIT_STATUSES,
    )
    add_mechanism_arguments(calibrate)
    calibrate.set_defaults(run=_calibrate, show=_show)

    verifying = commands.add_parser(
        "verify",
        help="compare claimed and true privacy",
        description="Compares a mechanism's releases with what it states about them, and its claim "
        "with its true privacy.",
        epilog=EXIT_STATUSES,
    )
    add_mechanism_arguments(verifying)
    verifying.add_argument(
        "--samples",
        type=whole_number(0, 10**9),
        default=0,
        help="number of draws of a sampled audit (default: no audit)",
    )
    verifying.add_argument(
        "--seed",
        type=whole_number(0, 2**64 - 1),
        default=0,
        help="seed of the audit (default: 0)",
    )
    verifying.add_argument(
        "--confidence",
        type=share,
        default=0.999,
        help="confidence of the audit's bounds (default: 0.999)",
    )
    verifying.set_defaults(run=_verify, show=lambda result: with_option_names(explain(result)))

    add_compare_command(commands)
    add_limit_command(commands)
    add_compose_command(commands)
    add_audit_command(commands)
    for each in commands.choices.values():
        each.add_argument("--json", action="store_true", help="print JSON")
    return parser


def command() -> int:
    """Run the installed command and return its exit status."""
    return run(functools.partial(main, called="matrix-noise"))


if __name__ == "__main__":
    sys.exit(run(main))
