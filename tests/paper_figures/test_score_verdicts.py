"""Judges of scores do not break on any part of the committed rows."""

from pathlib import Path

import pytest

from claims.claim import all_claims
from claims.intervals import TooFewTrials
from claims.judges import CannotJudge, all_judges
from claims.scores import SCORED
from claims.verdicts import VERDICTS
from runs.results import Results, read_results

STORED = Path(__file__).resolve().parents[2] / "results" / "reference" / "studies"
JUDGES = all_judges()
STUDIES = [f"{study}.parquet" for study in (*SCORED, "dpsgd")]
CLAIMS = [
    (claim.arguments, JUDGES[claim.judge])
    for claim in all_claims()
    if {*JUDGES[claim.judge].tables(claim.arguments)} & {*STUDIES}
]
PARTS = {
    "as published alone": "calibration == 'published'",
    "without a data set": "dataset != 'mnist'",
    "without a mechanism": "mechanism not in ['gaussian', 'tldp-l']",
    "without the controls": "mechanism not in ['random-answer', 'non-private']",
    "at the smallest budgets": "epsilon <= 10",
    "of two trials": "trial.isna() or trial < 2",
    "no official data": "data_source == 'simulated'",
}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_what_a_run_lacks_is_not_run_or_open_and_never_an_error(part):
    results = read_results(STORED / name for name in STUDIES)
    kept = Results(results.rows.query(PARTS[part]), results.timings, results.maps)
    for arguments, judge in CLAIMS:
        try:
            assert judge.decide(kept, arguments).verdict in VERDICTS
        except (CannotJudge, TooFewTrials) as reason:
            assert not str(reason).endswith(".")
