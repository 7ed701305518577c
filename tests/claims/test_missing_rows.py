"""Every claim is judged or gives a reason why not, whatever rows a run has."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from claims import ledger
from claims.claim import all_claims
from claims.judges import all_judges
from runs.results import read_results

STUDIES = Path("results/reference/studies")


def half(table, column, rng):
    """The rows with a random half of the values of a column, and all rows without a value."""
    if column not in table:
        return table
    values = table[column].dropna().unique()
    kept = values[rng.random(len(values)) < 0.5]
    return table[table[column].isin(kept) | table[column].isna()]


def with_few_draws(claim):
    """The claim, judged by at most 1000 draws: they take most of the time, and read no rows."""
    draws = claim.arguments.get("draws")
    if draws is None:
        return claim
    few = {name: 1000 for name in draws} if isinstance(draws, dict) else min(draws, 1000)
    return claim.model_copy(update={"arguments": claim.arguments | {"draws": few}})


@pytest.mark.slow
def test_no_judge_fails_where_rows_are_missing(monkeypatch):
    """Claims lose rows by one column each, in turn."""
    judges, rng = all_judges(), np.random.default_rng(0)
    columns = itertools.cycle(["mechanism", "dataset", "shape", "calibration", "epsilon"])
    for claim, column in zip(map(with_few_draws, all_claims()), columns, strict=False):
        judge = judges[claim.judge]
        if not judge.reads_results:
            continue
        # A study beside the claim's own may not have been run.
        files = (STUDIES / name for name in judge.tables(claim.arguments))
        whole = read_results(path for path in files if path.exists())
        cut = replace(
            whole, rows=half(whole.rows, column, rng), timings=half(whole.timings, column, rng)
        )
        monkeypatch.setattr(ledger, "read_results", lambda files, cut=cut: cut)
        ledger.finding_on(claim, judge, STUDIES)
