"""Print the closing lines of a run: the findings in its rows, and where to look next."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pandas as pd

from claims.ledger import read_ledger
from claims.verdicts import CONTRADICTED, NOT_RUN, count_of
from datasets.titles import dataset_title
from mechanisms.verification.verification import REFUTED
from paper_figures.style import CALIBRATION_TITLES, mechanism_title
from runs.results import read_frame
from site_builder.leaderboards import views_of
from studies.base.study import all_studies

# The most rankings to print, and the most names in a line.
RANKINGS, NAMES = 4, 5


def insight(run: Path) -> list[str]:
    """Return at most nine lines on the results of a run, given its folder results/<run>."""
    tables = {
        name: read_frame(path)
        for name in all_studies()
        if (path := run / "studies" / f"{name}.parquet").exists()
    }
    lines = [] if "guarantee" not in tables else [_false_claims(tables["guarantee"])]
    rankings = (line for name, rows in tables.items() for line in _ranking(name, rows))
    figures = f", {run}/figures/" if (run / "figures").is_dir() else ""
    rows = f" and, for every row, {run}/results.csv" if (run / "results.csv").exists() else ""
    return [
        *lines,
        *islice(rankings, RANKINGS),
        *_claims(run),
        f"look next: {run}/claims.md{figures}{rows}",
        f"all results as web pages: python -m site_builder build {run.name}",
    ]


def _ranking(name: str, rows: pd.DataFrame) -> Iterator[str]:
    """Yield a line on the best mechanisms of a study, on its first data set.

    Yield nothing if there is no ranking at equal true privacy.
    """
    view = next(views_of(all_studies()[name], rows), None)
    # Published noise may owe its place to a false claim.
    if view is None or view.calibration != "exact" or not view.ranking:
        return
    own = view.at_main[~view.at_main["control"]]
    words = own["title"] + own["value"].map(" {:.3g}".format)
    best, others = list(words[own["best"]]), list(words[~own["best"]])
    yield (
        f"{name} on {dataset_title(view.dataset)}, epsilon {view.main:g}, "
        f"{CALIBRATION_TITLES['exact']}, {view.measure.heading}: "
        f"{'tied: ' if len(best) > 1 else ''}{_first(best)}"
        f"{f', then {others[0]}' if others else ''}"
    )


def _false_claims(rows: pd.DataFrame) -> str:
    """Return a line on the mechanisms whose published claim is false at a setting of this run."""
    # A message says that the setting is outside the range of the theorem.
    published = rows[rows["calibration"].eq("published") & rows["message"].eq("")]
    published = published[published["verdict"].notna()]
    false = published.loc[published["verdict"].eq(REFUTED), "mechanism"].unique()
    titles = list(map(mechanism_title, false))
    return (
        f"guarantee: {len(false)} of {published['mechanism'].nunique()} published claims are false "
        f"at a setting of this run{f': {_first(titles)}' if titles else ''}"
    )


def _first(names: list[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def _claims(run: Path) -> Iterator[str]:
    ledger = read_ledger(run)
    counts = count_of(ledger["verdict"])
    judged = ", ".join(f"{n} {verdict}" for verdict, n in counts.items() if verdict != NOT_RUN)
    yield f"claims that this run decides: {judged or 'none'}; {counts.get(NOT_RUN, 0)} it does not"
    against = list(ledger.loc[ledger["verdict"].eq(CONTRADICTED), "claim"])
    if against:
        yield f"contradicted: {_first(against)}"
