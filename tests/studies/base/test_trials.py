"""How many trials a cell has: `trials`, `trials_for` of its data set, or the one of its job."""

from studies.base.study import trial_count, trials_of

SETTINGS = {"trials": 3, "trials_for": {"adult": 20}}


def test_a_data_set_may_have_trials_of_its_own():
    assert trials_of(SETTINGS, "adult") == range(20)
    assert trials_of(SETTINGS, "mnist") == range(3)
    assert trials_of({"trials": 3}, "adult") == range(3)
    assert trial_count(SETTINGS, "adult") == 20


def test_a_job_of_one_trial_runs_that_one():
    assert trials_of(SETTINGS | {"trial": 7}, "adult") == range(7, 8)
