"""Trials that run as separate jobs give the same rows as one job."""

import pandas as pd
import pytest
from finished_run import finish

from runs.cells import cells_of
from runs.result_table import TIMEOUT
from runs.results import read_frame
from studies.base.settings import ConfigError


@pytest.fixture
def run(make_config, tmp_path):
    """The aggregated rows and timings of `private_data`, with its trials split or not."""

    def run(split, limits=None):
        config = make_config(
            "private_data",
            limits=limits,
            mechanisms=["tldp-l"],
            calibrations=["published"],
            split_trials=split,
        )
        folder = finish(config, tmp_path / str(split)) / "studies"
        names = ("private_data.parquet", "private_data.timings.parquet")
        return cells_of(config), *(read_frame(folder / name) for name in names)

    return run


def ordered(frame):
    keys = ["mechanism", "metric", "trial"]
    return frame.sort_values(keys, kind="stable").reset_index(drop=True)


@pytest.mark.slow
def test_split_trials_give_the_rows_of_one_job(run):
    whole_cells, whole, timings = run(False)
    split_cells, split, split_timings = run(True)
    assert [cell.trial for cell in whole_cells] == [None]
    assert [cell.stem for cell in split_cells] == [
        f"private_data/digits/tldp-l--published--{trial}" for trial in (0, 1)
    ]
    assert set(whole["status"]) == {"ok"}
    assert len(whole) > 5
    pd.testing.assert_frame_equal(ordered(whole), ordered(split))
    assert set(split_timings["trial"]) == {0, 1}
    assert set(timings["metric"]) == set(split_timings["metric"])


def test_every_job_says_that_its_trial_failed(run):
    _, rows, _ = run(True, limits={"seconds": 0.01})
    assert set(rows["status"]) == {TIMEOUT}
    assert sorted(rows["trial"]) == [0, 1]


def test_only_studies_that_train_split_their_trials(make_config):
    with pytest.raises(ConfigError, match="split_trials: must be false in this study"):
        make_config(split_trials=True)
