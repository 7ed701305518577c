"""Verdicts on mgm2021's theorems that a wrong number must change."""

import math

import pytest

from paper_figures.ledger import all_claims
from paper_figures.mgm2021 import theorems
from paper_figures.results import Results
from paper_figures.verdicts import CONFIRMED, CONTRADICTED, DEPENDS

CLAIMS = {claim.id: claim for claim in all_claims() if claim.paper == "mgm2021"}


def test_readings_of_the_gaussian_have_outcomes_of_their_own():
    found = theorems.beats_gaussian(CLAIMS["mgm-beats-gaussian"], Results(None))
    assert found.verdict == DEPENDS
    assert [o.verdict for o in found.outcomes] == [CONFIRMED, CONTRADICTED, CONTRADICTED]


@pytest.mark.parametrize(("factor", "expected"), [(1.0, CONFIRMED), (1.01, CONTRADICTED)])
def test_the_amplification_is_refuted_by_a_worse_mechanism(
    factor, expected, make_claim, monkeypatch
):
    # A sampled algorithm whose loss is `factor` times as large as in truth.
    log = math.log
    monkeypatch.setattr(theorems.math, "log", lambda x: factor * log(x))
    claim = make_claim(1e-9, budgets=[[1.0, 0.5], [5.0, 8.0]])
    assert theorems.amplification(claim, Results(None)).verdict == expected


def test_the_cost_depends_on_the_shape_and_the_column_workload():
    found = theorems.closed_form_cost(CLAIMS["mgm-s71-cost"], Results(None))
    assert found.verdict == DEPENDS
    wide, tall, below = ([o.parts[number].verdict for o in found.outcomes] for number in range(3))
    assert wide == [CONFIRMED, CONTRADICTED]
    assert tall == [CONTRADICTED] * 2
    assert below == [CONFIRMED] * 2
