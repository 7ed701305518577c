"""The claims ledger: what the papers state, next to what was finding.

paper_figures/<paper>/claims.yaml lists the claims of a paper. Each names its judge, a function in
the module of the study that it is about, which decides it from the results of a run, from privacy
profiles or from closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from paper_figures.discovery import paper_modules
from paper_figures.results import Results, read_results
from runs.sources import source_files

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, CONTRADICTED, NOT_RUN)
KINDS = ("guarantee", "value", "order", "formula", "trend", "cost")
# What a verdict means where the claim has no words of its own for it.
MEANING = {
    REPRODUCED: "Our numbers agree.",
    NOT_REPRODUCED: "Our numbers do not show it.",
    CONTRADICTED: "Our numbers show the opposite.",
    NOT_RUN: "",
}
CLAIMS = Path(__file__).parent


class LedgerError(ValueError):
    """A claim is not well formed; the message names it and what is wrong."""


class CannotJudge(Exception):
    """The results at hand do not let a claim be judged; the message is the reason.

    Raised by judges; the claim's verdict is then "not run".
    """


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of a paper.

    Args:
        id: Unique, "<short paper>-<what>".
        paper: Key of the paper.
        where: Place in the paper.
        kind: guarantee, value, order, formula, trend or cost.
        statement: What is claimed, in this project's words.
        expected: The paper's number or order, as text.
        judge: Name of the judge, or None where the experiment does not exist yet.
        waits_for: What has to exist first, only where `judge` is None.
        arguments: What the judge is told, such as the paper's numbers.
        tolerance: Relative, for numbers; None where it needs none.
        reason: Why that tolerance, and what the paper leaves open.
        meaning: One sentence per verdict that can be expected, for people.
    """

    id: str
    paper: str
    where: str
    kind: str
    statement: str
    expected: str
    judge: str | None = None
    waits_for: str = ""
    arguments: dict[str, Any]
    tolerance: float | None = None
    reason: str = ""
    meaning: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a judge found.

    Args:
        ours: Our number or order, as text.
        verdict: reproduced, not reproduced (our numbers do not show it), contradicted (our
            numbers, exact or with an interval, show the opposite), or not run.
        detail: What was computed, from which stated parameters, and what differs.
        calibration: "published", "exact", "both" or "" where it does not matter.
        trials: Trials behind the number; None for exact values.
    """

    ours: str
    verdict: str
    detail: str = ""
    calibration: str = ""
    trials: int | None = None


@dataclass(frozen=True)
class Judge:
    """A function that decides claims, and the experiments whose results it reads."""

    name: str
    experiments: tuple[str, ...]
    timings: tuple[str, ...]
    function: Callable[[Claim, Results], Finding]


def judge(*, experiments: tuple[str, ...] = (), timings: tuple[str, ...] = ()):
    """Declare a function of (claim, results) as the judge of its own name."""

    def declare(function):
        function.judge = Judge(function.__name__, tuple(experiments), tuple(timings), function)
        return function

    return declare


def all_judges() -> dict[str, Judge]:
    """Every judge by name."""
    found: dict[str, Judge] = {}
    for module in paper_modules():
        for value in vars(module).values():
            declared = getattr(value, "judge", None)
            if isinstance(declared, Judge) and value.__module__ == module.__name__:
                if declared.name in found:
                    raise LedgerError(f"two judges are called {declared.name}")
                found[declared.name] = declared
    return dict(sorted(found.items()))


def judging_sources() -> list[str]:
    """Code that verdicts depend on: judges, what they import, and all mechanisms."""
    names = [module.__name__ for module in paper_modules()]
    imported = set().union(*(source_files(name) for name in (__name__, *names)))
    # Looked up by name, so that no import tells of them.
    return sorted(imported | {str(path) for path in Path("mechanisms").rglob("*.py")})


def all_claims() -> list[Claim]:
    """Every claim, paper by paper in the order of their years.

    Raises:
        LedgerError: An unknown field, kind or verdict, or an id that is used twice.
    """
    claims: list[Claim] = []
    for path in sorted(CLAIMS.glob("*/claims.yaml"), key=_by_year):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
            name = entry.get("id", entry)
            try:
                claim = Claim(**({"paper": path.parent.name, "arguments": {}} | entry))
            except TypeError as error:
                raise LedgerError(f"{path}, claim {name}: {error}") from None
            if claim.kind not in KINDS:
                raise LedgerError(f"claim {claim.id}: kind {claim.kind!r} is none of {KINDS}")
            if unknown := set(claim.meaning) - set(VERDICTS):
                raise LedgerError(f"claim {claim.id}: meaning of unknown verdicts {unknown}")
            if bool(claim.judge) == bool(claim.waits_for):
                raise LedgerError(f"claim {claim.id}: give either judge or waits_for")
            claims.append(claim)
    ids = [claim.id for claim in claims]
    if len(set(ids)) != len(ids):
        raise LedgerError(f"claim ids used twice: {sorted({i for i in ids if ids.count(i) > 1})}")
    return claims


def _by_year(path: Path) -> tuple[str, str]:
    paper = path.parent.name
    return paper[-4:], paper


def evaluate(folder: Path) -> pd.DataFrame:
    """The ledger of a run: one row per claim, from the tables in `folder`/experiments.

    Raises:
        LedgerError: A claim is not well formed or names a judge that does not exist.
    """
    judges = all_judges()
    rows = []
    for claim in all_claims():
        if claim.judge and claim.judge not in judges:
            raise LedgerError(f"claim {claim.id}: there is no judge {claim.judge!r}")
        finding = _found(claim, judges.get(claim.judge), folder / "experiments")
        rows.append(
            {
                "paper": claim.paper,
                "claim": claim.id,
                "where": claim.where,
                "kind": claim.kind,
                "statement": claim.statement,
                "paper says": claim.expected,
                "we find": finding.ours,
                "verdict": finding.verdict,
                "calibration": finding.calibration,
                "trials": finding.trials,
                "meaning": claim.meaning.get(finding.verdict, MEANING[finding.verdict]),
                "detail": finding.detail,
                "tolerance": claim.tolerance,
                "reason": claim.reason,
            }
        )
    return pd.DataFrame(rows).astype({"trials": "Int64"})


def _found(claim: Claim, chosen: Judge | None, folder: Path) -> Finding:
    if chosen is None:
        return _not_run(f"Waits for {claim.waits_for}.")
    files = [folder / f"{name}.parquet" for name in chosen.experiments]
    files += [folder / f"{name}.timings.parquet" for name in chosen.timings]
    missing = [path.name for path in files if not path.exists()]
    if missing:
        return _not_run(f"This run has no {', '.join(missing)}.")
    try:
        finding = chosen.function(claim, read_results(files))
    except CannotJudge as reason:
        return _not_run(f"{reason}.")
    if finding.verdict not in VERDICTS:
        raise LedgerError(f"claim {claim.id}: unknown verdict {finding.verdict!r}")
    return finding


def _not_run(reason: str) -> Finding:
    return Finding(ours="", verdict=NOT_RUN, detail=reason)


def write_ledger(folder: Path) -> None:
    """Write `folder`/claims.csv and claims.md; the same results give the same bytes."""
    ledger = evaluate(folder)
    ledger.to_csv(folder / "claims.csv", index=False, lineterminator="\n")
    (folder / "claims.md").write_text(to_markdown(ledger), encoding="utf-8")


def to_markdown(ledger: pd.DataFrame) -> str:
    """The ledger for people: a count of verdicts, then one table per paper."""
    lines = [
        "# Claims ledger",
        "",
        _counted(ledger) + ".",
        "",
        "A verdict speaks of what was run: where records, epochs or networks are not the paper's, "
        "as in most studies of learning, the detail says so. Orders are judged by 95% intervals of "
        "paired differences; the calibration that the paper publishes decides, and where the "
        "exact calibration (noise rescaled until the true delta is the claimed one) tells another "
        "story, the detail says so.",
    ]
    for paper, claims in ledger.groupby("paper", sort=False):
        parts = claims[["meaning", "detail", "reason"]].fillna("")
        detail = parts.apply(lambda row: " ".join(text for text in row if text), axis=1)
        shown = ["claim", "where", "statement", "paper says", "we find", "verdict"]
        lines += ["", f"## {paper}", "", *_table(claims[shown].assign(detail=detail))]
    return "\n".join(lines) + "\n"


def findings(ledger: pd.DataFrame) -> str:
    """'What we found' for the README: counts, then what is contradicted and not reproduced."""
    lines = [
        "## What we found",
        "",
        f"Of {len(ledger)} claims of the papers: {_counted(ledger)}. Most studies of learning have "
        "fewer records and epochs or smaller networks than the papers'; the ledger has the sizes.",
    ]
    titles = {
        CONTRADICTED: "Contradicted by exact numbers or by intervals",
        NOT_REPRODUCED: "Not reproduced",
    }
    for verdict, title in titles.items():
        claims = ledger[ledger["verdict"] == verdict]
        if claims.empty:
            continue
        shown = pd.DataFrame(
            {
                "paper": claims["paper"] + ", " + claims["where"],
                "claim": claims["statement"],
                "paper says": claims["paper says"],
                "we find": claims["we find"],
                "which means": claims["meaning"],
            }
        )
        lines += ["", f"### {title}", "", *_table(shown)]
    return "\n".join(lines) + "\n"


def _counted(ledger: pd.DataFrame) -> str:
    counts = ledger["verdict"].value_counts()
    return ", ".join(f"{counts.get(verdict, 0)} {verdict}" for verdict in VERDICTS)


def _table(table: pd.DataFrame) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(table.columns) + " |", "|" + " --- |" * len(table.columns)]
    for row in table.itertuples(index=False):
        cells = (" ".join(str(value).split()).replace("|", "\\|") for value in row)
        lines.append("| " + " | ".join(cells) + " |")
    return lines
