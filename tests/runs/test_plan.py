"""Jobs take their cells from the plan of a run, and notice when it is out of date."""

from dataclasses import replace

import pytest

from runs.aggregation import points_of
from runs.batches import batches_of
from runs.plan import PlanError, plan_file, read_plan, write_plan
from runs.sources import current_digest_of


@pytest.fixture
def planned(make_config, tmp_path):
    config = make_config(mechanisms=["mvg", "udn"], epsilons=[1, 2], split_epsilons=True)
    batches = batches_of(config)
    write_plan(tmp_path, config, batches)
    return config, batches


def test_a_job_gets_the_cells_of_its_batch(planned, tmp_path):
    config, batches = planned
    cells = []
    for batch in batches:
        found = read_plan(tmp_path, batch.stem, batch.digest(config))
        found.require_code()
        assert found.cells == batch.specs(config)
        cells += found.cells
    points = points_of(cells)
    assert len(points) < len(cells), "cells of one epsilon each share a mechanism"
    assert sum(points.values()) == sum(len(cell.points) for cell in cells)


def test_another_plan_is_refused(planned, tmp_path):
    _, (batch, *_) = planned
    with pytest.raises(PlanError, match="belongs to another run: start the run again"):
        read_plan(tmp_path, batch.stem, "digest of another plan")
    path = plan_file(tmp_path, batch.stem)
    for text in ("{", "[]", "{}", '{"cells": 1}'):
        path.write_text(text)
        with pytest.raises(PlanError, match="missing or damaged: start the run again"):
            read_plan(tmp_path, batch.stem)
    path.unlink()
    with pytest.raises(PlanError, match="missing or damaged"):
        read_plan(tmp_path, batch.stem)


def test_code_that_changes_while_a_run_waits_ends_it(planned, tmp_path):
    source = tmp_path / "source.py"
    source.write_text("x = 1\n")
    found = read_plan(tmp_path, planned[1][0].stem)
    found = replace(found, sources=[str(source)], bytes=current_digest_of([str(source)]))
    found.require_code()
    source.write_text("x = 2\n")
    with pytest.raises(PlanError, match="the code has changed since this run began"):
        found.require_code()
    source.unlink()
    with pytest.raises(PlanError, match="the code has changed"):
        found.require_code()
