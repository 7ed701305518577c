"""The command `audit`, which tests a claim of privacy on samples of any mechanism."""

import argparse

from mechanisms.audit.audit import (
    DEFAULT_SAMPLES,
    OutputAudit,
    audit_files,
    audit_mechanism,
    audit_release,
)
from mechanisms.audit.outputs import PAIR_NAMES, load_function, load_pair
from mechanisms.audit.scores import SCORES, USUAL
from mechanisms.cli.arguments import number, share, whole_number
from mechanisms.cli.query_arguments import (
    QUERY_FIELDS,
    add_query_arguments,
    mechanism_key,
    mechanism_of,
    query_of,
)
from mechanisms.query.words import query_in_words, rounded_down
from mechanisms.verification.verification import REFUTED

_DESCRIPTION = (
    "Samples a mechanism on two neighbouring values and tests a claim of (epsilon, delta)-"
    "differential privacy. The claim is refuted or stays undecided: samples cannot prove it. One "
    "third of the outputs trains the scores, one chooses the event, and one is counted."
)
_EPILOG = (
    "A program in another language can be audited by files of its outputs. --score bits looks at "
    "the last bits of the outputs, and detects what floating-point noise reveals through them. "
    "Exit status: 0, there is an answer; 2, the input is bad or the function raised an exception."
)


def add_audit_command(commands) -> None:
    """Add the command to the subparsers `commands`."""
    parser = commands.add_parser(
        "audit",
        help="test a claim of privacy by sampling any mechanism",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "key",
        nargs="?",
        metavar="MODULE:FUNCTION",
        help="a function (value, rng) that returns one output drawn with rng, "
        "a numpy.random.Generator; or, with --shape and the sensitivities, a mechanism's key, "
        "title or module:Class, for which the audit chooses the pairs",
    )
    add_query_arguments(parser, required=False)
    parser.add_argument(
        "--batch",
        action="store_true",
        default=None,
        help="the function is called as (value, rng, count) and returns COUNT independent outputs, "
        "at most 65,536, one per row; that 128 of the rows do not repeat noise is checked",
    )
    parser.add_argument(
        "--outputs",
        nargs=2,
        metavar=("FIRST.npy", "SECOND.npy"),
        help="files used in place of a function: the outputs for each value, one independent "
        "output per row",
    )
    parser.add_argument(
        "--pair",
        metavar="FILE.npz",
        help=f"the two values: arrays {' and '.join(PAIR_NAMES)}, written with numpy.savez",
    )
    parser.add_argument("--epsilon", type=number, required=True, help="claimed epsilon")
    parser.add_argument("--delta", type=number, default=0.0, help="claimed delta (default: 0)")
    parser.add_argument(
        "--score",
        metavar="NAME",
        help=f"what distinguishes outputs: {', '.join(SCORES)}, or a MODULE:FUNCTION of outputs "
        f"(default: the best of {', '.join(USUAL)} and, if the values are known, distance)",
    )
    parser.add_argument(
        "--samples",
        type=whole_number(1, 10**9),
        help="number of outputs for each of the two values "
        f"(default: {DEFAULT_SAMPLES}, or all in the files)",
    )
    parser.add_argument("--seed", type=whole_number(0, 2**63 - 1), help="seed (default: 0)")
    parser.add_argument(
        "--confidence",
        type=share,
        default=0.999,
        help="confidence of the verdict and of both bounds (default: 0.999)",
    )
    parser.set_defaults(run=_run, show=_show)


def _run(options: argparse.Namespace) -> dict:
    name, found = _audit(options)
    query = None if options.shape is None else query_in_words(vars(query_of(options)))
    return {"release": name, "query": query} | found.to_dict()


def _audit(options: argparse.Namespace) -> tuple[str, OutputAudit]:
    """Return the name of what is audited, and the audit."""
    if (options.key is None) == (options.outputs is None):
        raise ValueError(
            "audit needs either MODULE:FUNCTION (or a mechanism) or --outputs, got "
            f"{'none' if options.key is None else 'both'}"
        )
    settings = {"score": options.score, "confidence": options.confidence}
    if ":" in (options.score or ""):
        settings["score"] = load_function(options.score, "outputs")
    claim = options.epsilon, options.delta
    if options.outputs:
        _refuse(options, "is not for --outputs", "batch", "pair", "seed", "shape", *QUERY_FIELDS)
        found = audit_files(*options.outputs, *claim, samples=options.samples, **settings)
        return " and ".join(options.outputs), found
    settings |= {"samples": options.samples or DEFAULT_SAMPLES, "seed": options.seed or 0}
    if options.shape is not None:
        _refuse(options, "is not for a mechanism with --shape", "batch", "pair")
        # The audit is of the published noise, with the mechanism's options at their defaults.
        options.key = mechanism_key(options.key)
        options.calibration, options.option = "published", []
        mechanism = mechanism_of(options)
        return mechanism.key, audit_mechanism(mechanism, options.epsilon, **settings)
    if ":" not in options.key:
        raise ValueError(
            f"the mechanism {options.key!r} needs --shape and its sensitivities; a function is "
            "named MODULE:FUNCTION"
        )
    _refuse(options, "is for a mechanism, with --shape", *QUERY_FIELDS)
    parameters = ("value", "rng", "count") if options.batch else ("value", "rng")
    release = load_function(options.key, *parameters)
    if options.pair is None:
        raise ValueError("audit needs --pair, the two values that the function is sampled on")
    pair = load_pair(options.pair)
    return options.key, audit_release(release, *pair, *claim, batch=options.batch, **settings)


def _refuse(options: argparse.Namespace, why: str, *names: str) -> None:
    """Raise ValueError if one of these options is given."""
    for name in names:
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} {why}: leave it out")


def _show(found: dict) -> str:
    epsilon, delta = found["epsilon"], found["claimed_delta"]
    claim = f"({epsilon:g}, {delta:g})-differential privacy"
    verdict = f"undecided: these samples do not contradict {claim}"
    if found["verdict"] == REFUTED:
        verdict = f"refuted: {claim} is false"
    facts = {
        "verdict": verdict,
        "query": found["query"],
        "pair": found["pair"],
        "true delta": f"{_bound(found['delta_lower'], delta)} at epsilon {epsilon:g}",
        "true epsilon": f"{_bound(found['epsilon_lower'], epsilon)} at delta {delta:g}",
        "event": found["counted"]["event"],
        "counted": f"{found['counted']['trials']:,} outputs for each value; the others chose "
        "the event",
    }
    lines = [f"  {name:<12} {fact}" for name, fact in facts.items() if fact is not None]
    head = (
        f"{found['release']}, {found['samples']:,} outputs for each value, "
        f"{found['confidence']:.1%} confidence"
    )
    return "\n".join([head, *lines])


def _bound(bound: float, claimed: float) -> str:
    """Describe a lower bound; "above" the claim if rounding to five digits would hide that."""
    shown = rounded_down(bound, 5)
    return f"above {claimed:g}" if float(shown) <= claimed < bound else f"at least {shown}"
