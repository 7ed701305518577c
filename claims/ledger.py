"""The ledger: the claims of the papers with their verdicts and our numbers.

paper_figures/<paper>/claims.yaml lists the claims of a paper. Each names its judge, a function that
reads results of a run, privacy profiles or closed forms and returns a Finding. The verdict follows
from the parts of the finding.
"""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd

from claims.claim import Claim, all_claims
from claims.discovery import paper_modules
from claims.implied_epsilon import implying_studies, stated_numbers
from claims.intervals import TooFewTrials
from claims.judges import CannotJudge, Judge, all_judges, shared_modules
from claims.ledger_pages import claims_page, size_words
from claims.paper import differences
from claims.verdicts import INCONCLUSIVE, NOT_RUN, Finding, Part, Sizes, not_run
from datasets.titles import dataset_title
from runs.result_table import DamagedTable, to_table
from runs.results import REFERENCE, frame_of, read_results
from runs.sources import source_files
from studies.base.yaml_file import ConfigError

# The columns of whole numbers, and all columns of numbers; the others hold text.
WHOLE = tuple(
    f"{whose}{size}" for whose in ("", "paper ") for size in ("records", "rounds", "trials")
)
# The column with the implied epsilon of each number that the claim is about, one on each line.
IMPLIED = "implied epsilon"
NUMBERS = (*WHOLE, "epochs", "paper epochs", "tolerance", "margin")


def judging_sources() -> frozenset[str]:
    """Return the paths of the sources of the judges, of their imports and of all mechanisms."""
    names = [module.__name__ for module in (*shared_modules(), *paper_modules())]
    imported = set().union(*(source_files(name) for name in names))
    # Mechanisms are looked up by name, so no import statement leads to them.
    named = {str(path) for path in Path("mechanisms").rglob("*.py")}
    return frozenset(imported | named)


def evaluate(folder: Path, only: str | None = None) -> pd.DataFrame:
    """Judge the claims by the tables in `folder`/studies, and return the ledger, a row per claim.

    The claims that need no rows have the same verdict in every run; only the reference run judges
    them.

    Args:
        folder: The folder results/<run>.
        only: The id of a claim. Only this claim is then judged, even if it needs no rows, and the
            ledger has no implied epsilons. The default is to judge all claims.
    """
    judges = all_judges()
    chosen = [claim for claim in all_claims() if only in (None, claim.id)]
    rows = []
    for claim in chosen:
        judge = judges[claim.judge]
        if only or judge.reads_results or folder.name == REFERENCE:
            finding = finding_on(claim, judge, folder / "studies")
        else:
            reason = claim.arguments.get(
                "missing", "It needs no rows: the reference run judges it."
            )
            finding = not_run(reason, claim.decided_by)
        differs = differences(claim.paper, judge.read_studies(claim.arguments))
        rows.append(_row(claim, finding, folder.name) | {"differs": differs})
    ledger = pd.DataFrame(rows).astype(dict.fromkeys(WHOLE, "Int64"))
    return ledger if only else ledger.assign(**{IMPLIED: implied_epsilons(ledger, folder)})


def implied_epsilons(ledger: pd.DataFrame, folder: Path) -> pd.Series:
    """Return the implied epsilons of each claim of a ledger as text; "" if it was not run."""
    tables = [folder / "studies" / f"{study}.parquet" for study in implying_studies()]
    there = [path for path in tables if path.exists()]
    rows = read_results(there).rows if there else frame_of(to_table([]))
    found: dict[str, list[str]] = {}
    for _, stated in stated_numbers(rows):
        found.setdefault(stated.claim, []).append(str(stated))
    words = ledger["claim"].map(lambda claim: "\n".join(found.get(claim, ())))
    return words.where(ledger["verdict"] != NOT_RUN, "")


def finding_on(claim: Claim, judge: Judge, folder: Path) -> Finding:
    """Return a judge's finding on a claim by the tables in the folder results/<run>/studies."""
    beside = {f"{study}.parquet" for study in claim.arguments.get("beside") or ()}
    files = [folder / name for name in judge.tables(claim.arguments)]
    files = [path for path in files if path.name not in beside or path.exists()]
    missing = [path.name for path in files if not path.exists()]
    if missing:
        return not_run(f"This run has no {', '.join(missing)}.", claim.decided_by)
    try:
        finding = judge.decide(read_results(files) if files else None, claim.arguments)
    except CannotJudge as reason:
        return not_run(f"{reason}.", claim.decided_by)
    except TooFewTrials as reason:
        finding = Finding(parts=(Part("", INCONCLUSIVE),), because=f"{reason}.")
    finding = _add_unjudged_parts(claim, _apply_open_choices(claim, finding))
    return replace(finding, decided_by=finding.decided_by or claim.decided_by)


def _apply_open_choices(claim: Claim, finding: Finding) -> Finding:
    """Return the finding without the outcomes that the paper rules out.

    Raises:
        ConfigError: The paper's open choices do not list the choice of the finding.
    """
    listed = [
        each
        for each in claim.about.open_choices
        if each.choice == finding.choice and each.where in claim.where
    ]
    if finding.choice and not listed:
        raise ConfigError(
            f"{claim.id}: paper_figures/{claim.paper}/claims.yaml does not list the open choice "
            f"{finding.choice!r}; add it to its open_choices"
        )
    return finding.without([outcome for each in listed for outcome in each.ruled_out])


def _add_unjudged_parts(claim: Claim, finding: Finding) -> Finding:
    """Return the finding with the parts in the claim's `not_run`.

    The name of a network or a data set is left out if this run has it.
    """
    had = " ".join(
        f"{sizes.network} {sizes.dataset and dataset_title(sizes.dataset)}"
        for sizes in (finding.sizes, *finding.other_sizes)
    )
    lacking = tuple(
        Part(name, NOT_RUN, reason=why) for name, why in claim.not_run.items() if name not in had
    )
    if not lacking:
        return finding
    parts = finding.parts
    if finding.ours:
        parts = [replace(parts[0], found=finding.ours)]
    return replace(finding, parts=(*parts, *lacking), ours="")


_PAPER_SIZES = [size.name for size in fields(Sizes) if size.name != "dataset"]


def _row(claim: Claim, finding: Finding, run: str) -> dict[str, Any]:
    verdict = finding.verdict
    said = claim.meaning | (claim.in_reference if run == REFERENCE else {})
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
        "sentence": said.get(verdict) or finding.reason,
        "parts": "\n".join(finding.listed_parts),
        "choice": finding.choice,
        "decided by": finding.still_to_run,
        "calibration": finding.calibration,
        **_size_columns(finding.sizes, claim),
        "other sizes": "\n".join(
            size_words(pd.Series(_size_columns(sizes, claim))) for sizes in finding.other_sizes
        ),
        "detail": finding.detail,
        "tolerance": claim.tolerance,
        "margin": claim.margin,
        "reason": claim.reason,
        "reply": claim.reply,
    }


def _size_columns(ours: Sizes, claim: Claim) -> dict[str, Any]:
    """Return the columns of our sizes, and of the paper's sizes on the same data set."""
    theirs = claim.sizes.on(ours.dataset)
    return {size.name: getattr(ours, size.name) for size in fields(Sizes)} | {
        f"paper {name}": getattr(theirs, name) for name in _PAPER_SIZES
    }


def read_ledger(folder: Path) -> pd.DataFrame:
    """Read the ledger in `folder`/claims.csv; missing numbers are NaN and missing texts "".

    Raises:
        DamagedTable: The file is not a ledger.
    """
    path = folder / "claims.csv"
    try:
        # Columns are read as text, because an empty column does not show its type.
        ledger = pd.read_csv(path, dtype=str, keep_default_na=False)
        numbers = {name: pd.to_numeric(ledger[name]) for name in NUMBERS}
    except (ValueError, KeyError) as error:
        advice = f"write it again with `python -m paper_figures judge {folder.name}`"
        raise DamagedTable(path, str(error), advice) from None
    return ledger.assign(**numbers)


def write_ledger(folder: Path) -> None:
    """Write `folder`/claims.csv and claims.md; the same results give the same bytes."""
    ledger = evaluate(folder)
    ledger.to_csv(folder / "claims.csv", index=False, lineterminator="\n")
    (folder / "claims.md").write_text(claims_page(ledger), encoding="utf-8")
