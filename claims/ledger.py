"""The claims ledger: what the papers state, next to what this suite measured.

paper_figures/<paper>/claims.yaml lists the claims of a paper. Each names its judge, a function in
the module of the study that it is about. The judge reads the results of a run, privacy profiles or
closed forms and returns a Finding; the verdict follows from the rules in claims/rules.py.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import FunctionType
from typing import Any

import pandas as pd
import yaml

from claims.discovery import HOMES, paper_modules
from claims.intervals import TooFewTrials
from claims.verdicts import CONFIRMED, INCONCLUSIVE, VERDICTS, Finding, Part, Sizes, not_run
from runs.results import Results, read_results
from runs.sources import source_files
from runs.stored import REFERENCE

KINDS = ("guarantee", "value", "order", "formula", "trend", "cost")
# The columns of the ledger that hold numbers; all others hold text.
WHOLE = tuple(
    f"{whose}{size}" for whose in ("", "paper ") for size in ("records", "rounds", "trials")
)
NUMBERS = (*WHOLE, "epochs", "paper epochs", "tolerance", "margin")


class LedgerError(ValueError):
    """A claim is not well formed; the message names it and what is wrong."""


class CannotJudge(Exception):
    """The results at hand do not let a claim be judged; the message is the reason.

    Raised by judges; the claim's verdict is then `not run`.
    """


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper.

    Args:
        id: Unique, "<short paper>-<what>".
        paper: Key of the paper.
        where: Place in the paper.
        kind: One of KINDS.
        statement: What is claimed, in this project's words.
        expected: The paper's number or order, as text.
        reservation: What the paper itself restricts the claim to, or concedes.
        scope: What of the claim is judged, and what of the paper was read; nothing if all.
        judge: Name of the judge.
        arguments: What the judge is given, such as the paper's numbers. `!paper NAME` in
            claims.yaml stands for one that other code reads too, in the paper's numbers.py.
        tolerance: Relative, for exact numbers; None where the judge needs none.
        margin: The smallest difference that matters, for numbers over trials, in their units.
        reason: Why that tolerance or margin.
        sizes: The paper's sizes, as in `Sizes`.
        meaning: One sentence for readers per verdict that can be expected; true of every run.
        in_reference: The same about the numbers of the committed run, for that run alone.
    """

    id: str
    paper: str
    where: str
    kind: str
    statement: str
    expected: str
    judge: str
    reservation: str = ""
    scope: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    tolerance: float | None = None
    margin: float | None = None
    reason: str = ""
    sizes: Sizes = field(default_factory=Sizes)
    meaning: dict[str, str] = field(default_factory=dict)
    in_reference: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Judge:
    """A function that decides claims, and the studies whose results it reads."""

    name: str
    studies: tuple[str, ...]
    timings: tuple[str, ...]
    function: Callable[[Claim, Results], Finding]


def judge(*, studies: tuple[str, ...] = (), timings: tuple[str, ...] = ()):
    """Declare a function of (claim, results) as the judge of its own name."""

    def declare(function):
        function.judge = Judge(function.__name__, tuple(studies), tuple(timings), function)
        return function

    return declare


def all_judges() -> dict[str, Judge]:
    """Every judge by name."""
    found: dict[str, Judge] = {}
    for module in paper_modules():
        for value in vars(module).values():
            declared = getattr(value, "judge", None) if isinstance(value, FunctionType) else None
            if isinstance(declared, Judge) and value.__module__ == module.__name__:
                if declared.name in found:
                    raise LedgerError(
                        f"two judges are called {declared.name}; rename that in {module.__name__}"
                    )
                found[declared.name] = declared
    return dict(sorted(found.items()))


def judging_sources() -> frozenset[str]:
    """Code that verdicts depend on: judges, what they import, all mechanisms and papers."""
    names = [module.__name__ for module in paper_modules()]
    imported = set().union(*(source_files(name) for name in (__name__, *names)))
    # Looked up by name, so that no import statement leads to them.
    named = {str(path) for path in Path("mechanisms").rglob("*.py")}
    return frozenset(imported | named)


def all_claims() -> list[Claim]:
    """Every claim, paper by paper in the order of their years.

    Raises:
        LedgerError: An unknown field, kind, size or verdict, an id that is used twice, or a name
            that paper_figures/<paper>/numbers.py does not have.
    """
    claims = [
        _claim(path, entry)
        for path in sorted(HOMES.glob("*/claims.yaml"), key=_by_year)
        for entry in _entries(path)
    ]
    ids = [claim.id for claim in claims]
    if len(set(ids)) != len(ids):
        twice = sorted({i for i in ids if ids.count(i) > 1})
        raise LedgerError(
            f"ids must be unique over all papers, got two claims of {twice}; rename one"
        )
    return claims


class _ClaimsLoader(yaml.CSafeLoader):
    """Reads `!paper NAME` as that name, such as `A` or `A.b.c`, in the numbers of the paper."""

    paper: str

    def construct_number_of_the_paper(self, node: yaml.Node) -> Any:
        try:
            value: Any = importlib.import_module(f"paper_figures.{self.paper}.numbers")
            for name in self.construct_scalar(node).split("."):
                value = value[name] if isinstance(value, Mapping) else getattr(value, name)
        except (AttributeError, KeyError, ModuleNotFoundError):
            where = f"claims of {self.paper}, line {node.start_mark.line + 1}"
            file = f"paper_figures/{self.paper}/numbers.py"
            raise LedgerError(f"{where}: {file} has no {node.value}") from None
        return value


_ClaimsLoader.add_constructor("!paper", _ClaimsLoader.construct_number_of_the_paper)


def _entries(path: Path) -> list[dict]:
    loader = _ClaimsLoader(path.read_text(encoding="utf-8"))
    loader.paper = path.parent.name
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _by_year(path: Path) -> tuple[str, str]:
    paper = path.parent.name
    return paper[-4:], paper


def _claim(path: Path, entry: dict) -> Claim:
    name = entry.get("id", entry)
    try:
        sizes = Sizes(**entry.get("sizes", {}))
        claim = Claim(**({"paper": path.parent.name} | entry | {"sizes": sizes}))
    except TypeError as error:
        raise LedgerError(f"{path.parent.name}, claim {name}: {error}") from None
    if claim.kind not in KINDS:
        raise LedgerError(
            f"claim {claim.id}: kind must be one of {', '.join(KINDS)}, got {claim.kind!r}"
        )
    for name in ("meaning", "in_reference"):
        if unknown := set(getattr(claim, name)) - set(VERDICTS):
            raise LedgerError(
                f"claim {claim.id}: {name} must have verdicts as keys, {', '.join(VERDICTS)}, got "
                f"{sorted(unknown)}"
            )
    return claim


def evaluate(folder: Path) -> pd.DataFrame:
    """The ledger of a run: one row per claim, from the tables in `folder`/studies.

    Raises:
        LedgerError: A claim is not well formed, or names a judge that does not exist.
    """
    judges = all_judges()
    rows = []
    for claim in all_claims():
        if claim.judge not in judges:
            raise LedgerError(
                f"claim {claim.id}: there is no judge {claim.judge!r}; write it in "
                f"paper_figures/{claim.paper}/, from extend/claim.py"
            )
        finding = _found(claim, judges[claim.judge], folder / "studies")
        rows.append(_row(claim, finding, folder.name))
    return pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64"))


def _found(claim: Claim, chosen: Judge, folder: Path) -> Finding:
    files = [folder / f"{name}.parquet" for name in chosen.studies]
    files += [folder / f"{name}.timings.parquet" for name in chosen.timings]
    missing = [path.name for path in files if not path.exists()]
    decided_by = claim.arguments.get("decided_by", "")
    if missing:
        return not_run(f"This run has no {', '.join(missing)}.", decided_by)
    try:
        return chosen.function(claim, read_results(files))
    except CannotJudge as reason:
        return not_run(f"{reason}.", decided_by)
    except TooFewTrials as reason:
        return Finding(parts=(Part("", INCONCLUSIVE),), because=f"{reason}.")


def sentence_of(claim: Claim, finding: Finding, run: str) -> str:
    """What the claim, or else its judge, says about the verdict; nothing where neither does."""
    said = claim.meaning | (claim.in_reference if run == REFERENCE else {})
    return said.get(finding.verdict) or finding.reason


_PAPER_SIZES = [size.name for size in fields(Sizes) if size.name != "dataset"]


def _row(claim: Claim, finding: Finding, run: str) -> dict[str, Any]:
    verdict, ours = finding.verdict, finding.sizes
    theirs = claim.sizes.on(ours.dataset)
    sentence = sentence_of(claim, finding, run)
    if not sentence and verdict != CONFIRMED:
        sentence = finding.by_verdict
    return {
        "paper": claim.paper,
        "claim": claim.id,
        "where": claim.where,
        "kind": claim.kind,
        "statement": claim.statement,
        "paper says": claim.expected,
        "reservation": claim.reservation,
        "scope": claim.scope,
        "we find": finding.numbers,
        "verdict": verdict,
        "sentence": sentence,
        "parts": "\n".join(finding.listed_parts),
        "choice": finding.choice,
        "decided by": finding.still_to_run,
        "calibration": finding.calibration,
        **{size.name: getattr(ours, size.name) for size in fields(Sizes)},
        **{f"paper {name}": getattr(theirs, name) for name in _PAPER_SIZES},
        "detail": finding.detail,
        "tolerance": claim.tolerance,
        "margin": claim.margin,
        "reason": claim.reason,
    }


def read_ledger(folder: Path) -> pd.DataFrame:
    """The ledger in `folder`/claims.csv: NaN where a number is missing, "" where a text is."""
    # A column without any value does not show what it would hold.
    ledger = pd.read_csv(folder / "claims.csv", dtype=str, keep_default_na=False)
    return ledger.assign(**{name: pd.to_numeric(ledger[name]) for name in NUMBERS})


def write_ledger(folder: Path) -> None:
    """Write `folder`/claims.csv, claims.md and findings.md; same results, same bytes."""
    # Here, as the pages need nothing of judging.
    from claims.ledger_pages import claims_page, findings_page

    ledger = evaluate(folder)
    ledger.to_csv(folder / "claims.csv", index=False, lineterminator="\n")
    (folder / "claims.md").write_text(claims_page(ledger), encoding="utf-8")
    (folder / "findings.md").write_text(findings_page(ledger), encoding="utf-8")
