"""Checks of the draws of `trial` against what a library states of its noise."""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import scipy

from library_trials.trial import CHANGES, LARGE, STEPS
from mechanisms.black_box.learned_scores import Score, lowest_bits
from mechanisms.black_box.release_audit import audit_files
from mechanisms.black_box.sequential_audit import SequentialAudit
from mechanisms.verification.audit_statistics import clopper_pearson
from mechanisms.verification.moment_test import StatedMean, deviation

# Of one statistical check; a noise has fourteen at most.
ERROR = 1e-6
AGREES, DIFFERS, FRESH, REPEATS = "agrees", "differs", "fresh", "repeats"
OBSERVED, NOT_RUN = "observed", "not run"
# Relative width of what a grid and rounding to single precision change in a square.
GRID = 1e-5
# So many equal numbers in a row are no chance: no number of the noise is likelier than 0.2.
RUN = 10
# Sums of squares of discrete noise go so many scales far.
REACH = 60
NAMES = {"l1": "l1", "l2": "l2", "linf": "l-infinity"}


@dataclass(frozen=True)
class Row:
    """What a check found. error: its probability of a false alarm; 0 where it uses no statistics.

    known: The public report that describes a fault of this version.
    """

    library: str
    version: str
    noise: str
    check: str
    outcome: str
    found: str
    error: float
    known: str
    command: str


COLUMNS = [field.name for field in fields(Row)]
Finding = tuple[str, str, str, float]  # check, outcome, found, error


class Law:
    """The distribution of one element as a library states it."""

    def __init__(self, family: str, scale: float) -> None:
        name = family.removeprefix("discrete-")
        self.discrete = name != family
        if not self.discrete:
            laplace = name == "laplace"
            self.below = getattr(scipy.stats, "laplace" if laplace else "norm")(scale=scale).cdf
            # Of an even order.
            count = (
                scipy.special.factorial if laplace else lambda k: scipy.special.factorial2(k - 1)
            )
            self.moment = lambda order: scale**order * float(count(order))
            return
        whole = np.arange(-math.ceil(REACH * scale), math.ceil(REACH * scale) + 1.0)
        power = {"laplace": 1, "gaussian": 2}[name]
        weights = np.exp(-((np.abs(whole) / scale) ** power) / power)
        weights /= weights.sum()
        below = np.cumsum(weights)
        self.below = lambda x: below[np.searchsorted(whole, x).clip(max=len(whole) - 1)]
        self.moment = lambda order: float(weights @ whole**order)


def findings(folder: Path) -> Iterator[Finding]:
    """What the draws in a folder show."""
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    stated = told["stated"]
    values = {"zero": [0], **CHANGES}
    draws = np.concatenate([np.load(folder / f"{each}.npy") - values[each] for each in values])
    yield from of_law(draws.ravel(), Law(stated["family"], stated["scale"]), stated)
    yield of_bits(folder, stated)
    yield from of_changes(folder, stated)
    for check in ("instances", "processes", "seeds", "forks"):
        yield of_repetition(folder, check, told)
    yield of_large_numbers(folder, stated, told)
    for check in ("float32", "nan", "inf"):
        yield check, OBSERVED, f"given {check}, a release {told[check]}", 0.0


def of_law(noise: np.ndarray, law: Law, stated: dict) -> Iterator[Finding]:
    """The shape, the scale and the centre of the noise."""
    # By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant.
    points, counts = np.unique(noise, return_counts=True)
    share = np.cumsum(counts) / len(noise)
    below = law.below(points)
    before = below if not law.discrete else law.below(points - 1)
    gaps = np.abs(share - below), np.abs(share - counts / len(noise) - before)
    distance, reach = max(map(np.max, gaps)), math.sqrt(math.log(2 / ERROR) / (2 * len(noise)))
    yield (
        "law",
        DIFFERS if distance > reach else AGREES,
        f"the distribution of {len(noise)} draws is {distance:.2g} from {stated['family']} noise "
        f"of scale {stated['scale']:.6g}; chance allows {reach:.2g}",
        ERROR,
    )
    square = law.moment(2)
    squares = noise**2 / square
    fourth, sixth, eighth = (law.moment(2 * k) / square**k for k in (2, 3, 4))
    moments = StatedMean(1.0, fourth - 1, eighth - 4 * sixth + 6 * fourth - 3)
    found = deviation(squares, moments, ERROR / 3, GRID)
    yield (
        "scale",
        DIFFERS if found else AGREES,
        f"the root mean square is {math.sqrt(squares.mean()):.4f} times the stated one",
        ERROR,
    )
    positive, signed = np.count_nonzero(noise > 0), np.count_nonzero(noise)
    lower, upper = clopper_pearson(positive, signed, ERROR / 2)
    yield (
        "bias",
        AGREES if lower <= 0.5 <= upper else DIFFERS,
        f"{positive / signed:.4f} of the noise that is not 0 is above 0",
        ERROR,
    )


def claim(stated: dict) -> str:
    """The guarantee in words."""
    delta = f", delta {stated['delta']:g}" if stated["delta"] else ""
    return f"epsilon {stated['epsilon']:.4g}{delta}"


def audit(first: Path, second: Path, stated: dict, score: Score | None = None) -> SequentialAudit:
    """The black-box audit of the claim."""
    return audit_files(
        first, second, stated["epsilon"], stated["delta"],
        score=score, confidence=1 - ERROR, whole_budget=True,
    )  # fmt: skip


def outcome(found: SequentialAudit) -> str:
    """Of an audit of a claim."""
    return DIFFERS if found.verdict == "refuted" else AGREES


def of_bits(folder: Path, stated: dict) -> Finding:
    """Whether the last bits of the elements that change tell two values apart."""
    norm = stated["norm"] or ("l2" if stated["delta"] else "l1")
    changed = np.flatnonzero(CHANGES[norm])

    def finest(outputs: np.ndarray) -> np.ndarray:
        return lowest_bits(outputs[:, changed]).min(axis=1)

    found = audit(folder / "zero.npy", folder / f"{norm}.npy", stated, finest)
    return (
        "bits",
        outcome(found),
        f"for a change of {NAMES[norm]} norm 4 epsilon at that delta is at least "
        f"{found.epsilon_lower:.3g} by the last bits; stated: {claim(stated)}",
        ERROR,
    )


def of_changes(folder: Path, stated: dict) -> Iterator[Finding]:
    """For changes of which norm the claim is refuted, by means and by squares of releases."""
    found = {norm: audit(folder / "zero.npy", folder / f"{norm}.npy", stated) for norm in CHANGES}
    norm = stated["norm"]
    bounds = ", ".join(
        f"{each.epsilon_lower:.3g} for a change of {NAMES[name]} norm 4"
        f"{' (refuted)' if outcome(each) == DIFFERS else ''}"
        for name, each in found.items()
    )
    yield (
        "sensitivity",
        outcome(found[norm]) if norm else OBSERVED,
        f"stated: {claim(stated)} for sensitivity 4 in "
        f"{NAMES[norm] if norm else 'a norm that is not named'}; epsilon at that delta is at "
        f"least {bounds}",
        3 * ERROR,
    )


def of_repetition(folder: Path, check: str, told: dict) -> Finding:
    """Whether two instances, processes, instances with one seed or forked workers share noise."""
    words = {
        "instances": "two instances in one process",
        "processes": "two new processes",
        "seeds": "two instances with one seed",
        "forks": "two forked workers",
    }[check]
    if check in told:
        return check, NOT_RUN, f"{words}: {told[check]}", 0.0
    first, second = np.load(folder / f"{check}.npy")
    alike = (first == second).ravel()
    same = int(np.argmin(np.append(alike, False)))
    return (
        check,
        REPEATS if same >= RUN else FRESH,
        f"{words} release {same} equal numbers, of {alike.size}, before the first different one",
        ERROR,
    )


def of_large_numbers(folder: Path, stated: dict, told: dict) -> Finding:
    """Whether releases of 2^60 + 128 and 2^60 + 129, which no doubles are, tell them apart."""
    if "large" in told:
        return "large", OBSERVED, f"given {LARGE + STEPS[1]}, a release {told['large']}", 0.0
    first, second = (folder / f"large{step}.npy" for step in STEPS)
    found = audit(first, second, stated)
    answers = np.load(first)[:, 0]
    return (
        "large",
        # A caller's whole numbers are rounded before they reach noise that is made for floats.
        outcome(found) if stated["family"].startswith("discrete") else OBSERVED,
        f"for whole numbers 2^60 + {STEPS[0]} and 2^60 + {STEPS[1]} epsilon at that delta is at "
        f"least {found.epsilon_lower:.3g}; stated for sensitivity 4: {claim(stated)}; "
        f"distinct answers in {len(answers)} releases: {len(np.unique(answers))}",
        ERROR,
    )


def table(rows: list[Row]) -> str:
    """The rows as Markdown, a table for each library."""
    head = ("noise", "check", "outcome", "found", "known")
    lines = [
        "# Trials of other libraries",
        "",
        "Written by `python -m library_trials`; the same rows with their commands and false-alarm "
        "rates are in `trials.csv`. What the words mean: `library_trials/README.md`.",
    ]
    for library, version in dict.fromkeys((row.library, row.version) for row in rows):
        lines += ["", f"## {library} {version}", ""]
        lines += [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
        for row in rows:
            if (row.library, row.version) == (library, version):
                cells = (str(getattr(row, name)).replace("|", "\\|") for name in head)
                lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
