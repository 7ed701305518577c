"""The claims ledger: what the papers state, next to what was measured.

paper_figures/claims/<paper>.yaml lists the claims; each names the measurement, a function of
paper_figures/measurements/, that decides it from the results of a run, from privacy profiles or
from closed forms.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

import paper_figures.measurements
from experiments.frames import read_frame
from paper_figures.registry import Results

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted"
NOT_RUN = "not run"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, CONTRADICTED, NOT_RUN)
KINDS = ("guarantee", "value", "order", "formula", "trend", "cost")
CLAIMS = Path(__file__).parent / "claims"


class LedgerError(ValueError):
    """A claim is not well formed; the message names it and what is wrong."""


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
        measure: Name of the measurement, or None where the experiment does not exist yet.
        waits_for: What has to exist first, only where `measure` is None.
        arguments: What the measurement is told, such as the paper's numbers.
        tolerance: Relative, for numbers; None where the measurement needs none.
        reason: Why that tolerance, and what the paper leaves open.
    """

    id: str
    paper: str
    where: str
    kind: str
    statement: str
    expected: str
    measure: str | None = None
    waits_for: str = ""
    arguments: dict[str, Any]
    tolerance: float | None = None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What a measurement found.

    Args:
        ours: Our number or order, as text.
        verdict: reproduced, not reproduced (our numbers do not show it), contradicted (our
            numbers, exact or with an interval, show the opposite), or not run.
        footing: "published", "exact", "both" or "" where it does not matter.
        trials: Trials behind the number; None for exact values.
        detail: What was computed, from which stated parameters, and what differs.
    """

    ours: str
    verdict: str
    footing: str = ""
    trials: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class Measurement:
    """A function that decides claims, and the experiments whose results it reads."""

    name: str
    experiments: tuple[str, ...]
    timings: tuple[str, ...]
    function: Callable[[Claim, Results], Measured]


def measurement(*, experiments: tuple[str, ...] = (), timings: tuple[str, ...] = ()):
    """Declare a function of (claim, results) as the measurement of its own name."""

    def declare(function):
        function.measurement = Measurement(
            function.__name__, tuple(experiments), tuple(timings), function
        )
        return function

    return declare


def all_measurements() -> dict[str, Measurement]:
    """Every measurement by name."""
    found: dict[str, Measurement] = {}
    package = paper_figures.measurements
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(info.name)
        for value in vars(module).values():
            declared = getattr(value, "measurement", None)
            if isinstance(declared, Measurement) and value.__module__ == info.name:
                if declared.name in found:
                    raise LedgerError(f"two measurements are called {declared.name}")
                found[declared.name] = declared
    return dict(sorted(found.items()))


def all_claims() -> list[Claim]:
    """Every claim, paper by paper in the order of the files.

    Raises:
        LedgerError: An unknown field, kind or measurement, or an id that is used twice.
    """
    claims: list[Claim] = []
    for path in sorted(CLAIMS.glob("*.yaml")):
        for entry in yaml.safe_load(path.read_text()):
            name = entry.get("id", entry)
            try:
                claim = Claim(**({"paper": path.stem, "arguments": {}} | entry))
            except TypeError as error:
                raise LedgerError(f"{path.name}, claim {name}: {error}") from None
            if claim.kind not in KINDS:
                raise LedgerError(f"claim {claim.id}: kind {claim.kind!r} is none of {KINDS}")
            if bool(claim.measure) == bool(claim.waits_for):
                raise LedgerError(f"claim {claim.id}: give either measure or waits_for")
            claims.append(claim)
    ids = [claim.id for claim in claims]
    if len(set(ids)) != len(ids):
        raise LedgerError(f"claim ids used twice: {sorted({i for i in ids if ids.count(i) > 1})}")
    return claims


def evaluate(folder: Path) -> pd.DataFrame:
    """The ledger of a run: one row per claim, from the tables in `folder`/experiments."""
    measurements = all_measurements()
    rows = []
    for claim in all_claims():
        if claim.measure and claim.measure not in measurements:
            raise LedgerError(f"claim {claim.id}: there is no measurement {claim.measure!r}")
        measured = _measured(claim, measurements.get(claim.measure), folder / "experiments")
        rows.append(
            {
                "paper": claim.paper,
                "claim": claim.id,
                "where": claim.where,
                "kind": claim.kind,
                "statement": claim.statement,
                "paper says": claim.expected,
                "we find": measured.ours,
                "footing": measured.footing,
                "trials": measured.trials,
                "verdict": measured.verdict,
                "detail": measured.detail,
            }
        )
    return pd.DataFrame(rows).astype({"trials": "Int64"})


def _measured(claim: Claim, chosen: Measurement | None, folder: Path) -> Measured:
    if chosen is None:
        return Measured(ours="", verdict=NOT_RUN, detail=f"waits for {claim.waits_for}")
    rows = [folder / f"{name}.parquet" for name in chosen.experiments]
    timings = [folder / f"{name}.timings.parquet" for name in chosen.timings]
    missing = [path.name for path in (*rows, *timings) if not path.exists()]
    if missing:
        return Measured(ours="", verdict=NOT_RUN, detail=f"this run has no {', '.join(missing)}")
    measured = chosen.function(claim, Results(read_frame(*rows), read_frame(*timings)))
    if measured.verdict not in VERDICTS:
        raise LedgerError(f"claim {claim.id}: unknown verdict {measured.verdict!r}")
    return measured


def to_markdown(ledger: pd.DataFrame) -> str:
    """The ledger for people: a count of verdicts, then one table per paper."""
    lines = ["# Claims ledger", ""]
    counts = ledger["verdict"].value_counts()
    lines.append(", ".join(f"{counts.get(v, 0)} {v}" for v in VERDICTS) + ".")
    lines += [
        "",
        "A verdict speaks of the stated parameters only; the detail says what was computed.",
    ]
    columns = ["claim", "where", "statement", "paper says", "we find", "verdict", "detail"]
    for paper, claims in ledger.groupby("paper", sort=False):
        lines += ["", f"## {paper}", "", "| " + " | ".join(columns) + " |"]
        lines.append("|" + " --- |" * len(columns))
        for claim in claims[columns].itertuples(index=False):
            lines.append("| " + " | ".join(str(v).replace("|", "\\|") for v in claim) + " |")
    return "\n".join(lines) + "\n"
