"""The number of trials of a cell: `trials`, a setting that replaces it, or one per job."""

from dataclasses import replace

from one_case import case_of, setup_of

from studies.base.training import TrainingSettings

SETTINGS = TrainingSettings(
    datasets=["adult", "mnist"], mechanisms=["gaussian"], trials=3, trials_for={"adult": 20}
)


def test_a_data_set_may_have_trials_of_its_own():
    adult, mnist = (
        case_of(setup_of("dpsgd", dataset, SETTINGS), "gaussian") for dataset in ("adult", "mnist")
    )
    assert (adult.trials, mnist.trials) == (range(20), range(3))
    assert replace(adult, calibration="exact").trials == range(20)
    # A job for one trial runs that trial.
    assert replace(adult, trial=7).trials == range(7, 8)


def test_the_exact_calibration_may_have_trials_of_its_own():
    settings = SETTINGS.model_copy(update={"exact_trials": 2})
    case = case_of(setup_of("dpsgd", "adult", settings), "gaussian")
    assert (case.trials, replace(case, calibration="exact").trials) == (range(20), range(2))
