"""The command `audit`: a claim of privacy against samples of any mechanism."""

import argparse
import functools
import shlex
import sys

import numpy as np

from mechanisms.black_box.audited_pairs import audited_pairs
from mechanisms.black_box.forked_work import usable_cores
from mechanisms.black_box.learned_scores import CLASSIFIERS, SCORES, USUAL, density_score
from mechanisms.black_box.output_sources import PAIR_NAMES, load_function, load_pair
from mechanisms.black_box.program_source import LONGEST_LIMIT, TIME_LIMIT
from mechanisms.black_box.release_audit import OneProcessOnly, audit_files, audit_release
from mechanisms.black_box.sequential_audit import SequentialAudit
from mechanisms.check.audit_statistics import familywise_confidence
from mechanisms.cli.arguments import number, share, whole_number
from mechanisms.cli.query_arguments import add_shape_and_sensitivities, audited_mechanism_of
from mechanisms.verification.verification import REFUTED, claimed_delta

DEFAULT_SAMPLES = 10_000
# False positive rates at which the attack's rate of success is shown.
SHOWN_RATES = (0.01, 0.1)
_DESCRIPTION = (
    "Samples a mechanism on two neighbouring values and tests a claim of (epsilon, delta)-"
    "differential privacy. The claim is refuted or stays undecided: samples cannot prove it. The "
    "audit stops when the claim is refuted, and reports how many outputs that took."
)
_EPILOG = (
    "A program is called as COMMAND COUNT SEED. It reads one value from its standard input as a "
    ".npy file and writes COUNT independent outputs to its standard output as one .npy file, one "
    "output per row; with --text both are lines of numbers, best of 17 digits, since fewer hide "
    "what the last bits reveal. numpy.save may fail on a pipe: save into io.BytesIO and write its "
    "bytes. With --processes, choose 1 for a module that starts threads or uses an accelerator "
    "when it is imported. --score boosting trains trees, which see more and take longer; --score "
    "bits looks at the last bits of the outputs, and detects what floating-point noise reveals "
    "through them. Exit status: 0, there is an answer; 2, bad input or an exception of the "
    "function."
)


def add_audit_command(commands, common: argparse.ArgumentParser) -> None:
    """Add the command to the subparsers `commands`.

    Args:
        common: Parent parser with --json.
    """
    parser = commands.add_parser(
        "audit",
        parents=[common],
        help="test a claim of privacy by sampling any mechanism",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument(
        "key",
        nargs="?",
        metavar="MODULE:FUNCTION",
        help="a function (value, rng) that returns one output drawn with rng, "
        "a numpy.random.Generator; or a mechanism's key, title or module:Class with --shape and "
        "its sensitivities, for which the pairs are chosen",
    )
    add_shape_and_sensitivities(parser, required=False)
    parser.add_argument(
        "--batch",
        action="store_true",
        help="the function is called as (value, rng, count) and returns COUNT independent outputs, "
        "at most 65,536, one per row; 128 rows are compared, which shows repeated noise only",
    )
    parser.add_argument("--program", metavar="COMMAND", help="a program instead of a function")
    parser.add_argument(
        "--text",
        action="store_true",
        help="the program reads the value as one line of numbers and writes one line per output",
    )
    parser.add_argument(
        "--time-limit",
        metavar="SECONDS",
        type=whole_number(1, LONGEST_LIMIT),
        help="longest time that a call of the program may take, for as many as 65,536 outputs "
        f"(default: {TIME_LIMIT})",
    )
    parser.add_argument(
        "--outputs",
        nargs=2,
        metavar=("FIRST.npy", "SECOND.npy"),
        help="instead of a function: outputs for both values, one independent output per row",
    )
    parser.add_argument(
        "--pair",
        metavar="FILE.npz",
        help=f"the values, arrays {' and '.join(PAIR_NAMES)} of numpy.savez",
    )
    parser.add_argument("--epsilon", type=number, required=True, help="claimed epsilon")
    parser.add_argument("--delta", type=number, default=0.0, help="claimed delta (default: 0)")
    parser.add_argument(
        "--score",
        metavar="NAME",
        help=f"what distinguishes outputs: {', '.join(SCORES)}, or a MODULE:FUNCTION of outputs "
        f"(default: the best of {', '.join(USUAL)} and, for a function or a program, the distances "
        "to both values)",
    )
    parser.add_argument(
        "--log-density",
        metavar="MODULE:FUNCTION",
        help="a function (value, outputs) that returns the log density of each output; the score "
        "is then the likelihood ratio",
    )
    parser.add_argument(
        "--samples",
        type=whole_number(1, 10**9),
        help="largest number of outputs for each value, so twice as many in all "
        f"(default: {DEFAULT_SAMPLES}, or all in the files)",
    )
    parser.add_argument(
        "--whole-budget",
        action="store_true",
        help="draw all samples even if the claim is refuted earlier, for tighter bounds",
    )
    parser.add_argument(
        "--processes",
        type=whole_number(1, 1024),
        help="forked processes that draw and score the outputs of a function; the result is the "
        "same for any number (default: the cores that the command may use, on Linux, if the "
        "function repeats with an equal rng and starts no threads; else 1)",
    )
    parser.add_argument("--seed", type=whole_number(0, 2**63 - 1), default=0, help="default: 0")
    parser.add_argument(
        "--confidence",
        type=share,
        default=0.999,
        help="confidence of the verdict and of every bound (default: 0.999)",
    )
    parser.set_defaults(run=_run, show=_show)


def _run(options: argparse.Namespace) -> dict:
    if options.key is not None and (":" not in options.key or options.shape is not None):
        return _of_a_mechanism(options)
    return _audit(options)


def _of_a_mechanism(options: argparse.Namespace) -> dict:
    """The audit of a mechanism on the pair, of those that it chooses, that shows most."""
    if options.shape is None:
        raise ValueError(
            f"the mechanism {options.key!r} needs --shape and its sensitivities; a function is "
            "named MODULE:FUNCTION"
        )
    for name in ("program", "outputs", "pair", "processes", "batch", "log_density"):
        if getattr(options, name):
            raise ValueError(f"--{name.replace('_', '-')} is not for a mechanism: leave it out")
    mechanism = audited_mechanism_of(options)
    delta = claimed_delta(mechanism)
    pairs = audited_pairs(mechanism.release, mechanism.query)
    if not pairs:
        raise ValueError("no two values that the query allows are known to be neighbours")
    confidence = familywise_confidence(options.confidence, len(pairs))
    found = [
        audit_release(
            mechanism.releases, *pair, options.epsilon, delta, score=options.score,
            samples=options.samples or DEFAULT_SAMPLES, seed=options.seed, batch=True,
            confidence=confidence, whole_budget=options.whole_budget,
        )
        for _, pair in pairs
    ]  # fmt: skip
    best = max(
        range(len(found)),
        key=lambda place: (found[place].verdict == REFUTED, found[place].epsilon_lower),
    )
    answer = _answer(found[best], options) | {"confidence": options.confidence}
    return {"release": mechanism.key, "pair": pairs[best][0], **answer}


def _audit(options: argparse.Namespace) -> dict:
    sources = {
        name: value
        for name, value in (
            ("function", options.key), ("program", options.program), ("outputs", options.outputs)
        )
        if value is not None
    }  # fmt: skip
    if len(sources) != 1:
        raise ValueError(
            "audit needs one of MODULE:FUNCTION, --program and --outputs, got "
            f"{' and '.join(sources) or 'none'}"
        )
    for name, given in (("--text", options.text), ("--time-limit", options.time_limit)):
        if given and options.program is None:
            raise ValueError(f"{name} is for a --program: leave it out")
    if options.batch and options.key is None:
        raise ValueError("--batch is for a function: leave it out")
    limits = {"confidence": options.confidence, "whole_budget": options.whole_budget}
    if options.outputs:
        if options.processes not in (None, 1):
            raise ValueError("--outputs are read in one process: leave out --processes")
        if options.pair is not None:
            raise ValueError("--outputs already gives the outputs of both values: leave out --pair")
        first, second = options.outputs
        found = audit_files(
            first, second, options.epsilon, options.delta, score=_score(options, None),
            samples=options.samples, **limits,
        )  # fmt: skip
        return {"release": f"{first} and {second}", **_answer(found, options)}
    named, command = options.key, options.program
    parameters = ("value", "rng", "count") if options.batch else ("value", "rng")
    release = load_function(named, *parameters) if command is None else _words(command)
    if options.pair is None:
        raise ValueError("audit needs --pair, the two values that the mechanism is sampled on")
    pair = load_pair(options.pair)
    audit = functools.partial(
        audit_release,
        release, *pair, options.epsilon, options.delta, score=_score(options, pair),
        samples=options.samples or DEFAULT_SAMPLES, seed=options.seed, batch=options.batch,
        text=options.text, time_limit=options.time_limit or TIME_LIMIT, **limits,
    )  # fmt: skip
    alone = options.program is not None or options.score in CLASSIFIERS
    if options.processes is not None or alone:
        found = audit(processes=options.processes or 1)
    else:
        try:
            found = audit(processes=usable_cores())
        except OneProcessOnly as reason:
            print(f"warning: {reason}", file=sys.stderr)
            found = audit(processes=1)
    return {"release": options.program or options.key, **_answer(found, options)}


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise ValueError(
            f"--program must be a command of a shell, got {command!r}: {error}"
        ) from error


def _score(options: argparse.Namespace, pair: tuple[np.ndarray, np.ndarray] | None):
    if options.log_density is None:
        named = options.score is not None and ":" in options.score
        return load_function(options.score, "outputs") if named else options.score
    if options.score is not None:
        raise ValueError("give --score or --log-density, not both")
    if pair is None:
        raise ValueError("--log-density needs a function or a program, which have a --pair")
    return density_score(load_function(options.log_density, "value", "outputs"), *pair)


def _answer(found: SequentialAudit, options: argparse.Namespace) -> dict:
    rates = {}
    if found.curve is not None:
        upper, estimate = (
            found.curve.upper(np.array(SHOWN_RATES)), found.curve.estimate(np.array(SHOWN_RATES))
        )  # fmt: skip
        rates = {
            # The rate itself needs no test; 1 - (1 - rate) may round to less.
            f"{rate:g}": {"at_least": float(max(rate, 1 - bound)), "estimate": float(1 - likely)}
            for rate, bound, likely in zip(SHOWN_RATES, upper, estimate, strict=True)
        }
    return found.to_dict() | {
        "true_positive_rate_at": rates,
        "whole_budget": options.whole_budget,
    }


def _show(found: dict) -> str:
    claim = f"({found['epsilon']:g}, {found['claimed_delta']:g})"
    bounded = True
    if found["verdict"] == REFUTED:
        verdict = f"refuted: {claim}-differential privacy is false"
        # An audit that stops there has no bound but the claim.
        bounded = found["delta_lower"] > found["claimed_delta"]
        done = (
            f"stopped after {found['samples']:,} outputs, at the end of the round in which "
            f"{found['refuted_after']:,} refuted the claim; --whole-budget draws all, for tighter "
            "bounds"
        )
        if found["whole_budget"]:
            done = f"drew all of --samples; {found['refuted_after']:,} refuted the claim"
    else:
        done = "drew all of --samples; with more, the bounds may rise"
        verdict = f"undecided: these samples do not contradict {claim}-differential privacy"
    lines = [
        f"{found['release']}, {found['samples']:,} outputs for each value, "
        f"{found['confidence']:.1%} confidence",
        f"  verdict      {verdict}",
        f"  outputs      {done}",
    ]
    if "pair" in found:
        lines.append(f"  pair         {found['pair']}")
    if bounded:
        lines.append(
            f"  true delta   {_bound(found['delta_lower'], found['claimed_delta'])} at epsilon "
            f"{found['epsilon']:g}"
        )
    if found["epsilon_lower"] > found["epsilon"] or found["verdict"] != REFUTED:
        lines.append(
            f"  true epsilon {_bound(found['epsilon_lower'], found['epsilon'])} at delta "
            f"{found['claimed_delta']:g}"
        )
    for rate, found_at in found["true_positive_rate_at"].items():
        lines.append(
            f"  attack       at false positive rate {rate}: true positive rate at least "
            f"{_down(found_at['at_least'])}, estimated {found_at['estimate']:.4g}"
        )
    if found["score"] is not None:
        lines.append(f"  score        {found['score']}")
    return "\n".join(lines)


def _bound(bound: float, claimed: float) -> str:
    """A lower bound in words; "above" what is claimed where five digits do not tell them apart."""
    shown = _down(bound)
    return f"above {claimed:g}" if float(shown) <= claimed < bound else f"at least {shown}"


def _down(bound: float) -> str:
    """A lower bound with five digits, rounded down."""
    shown = f"{bound:.5g}"
    return shown if float(shown) <= bound else f"{np.nextafter(bound * (1 - 5e-5), 0):.5g}"
