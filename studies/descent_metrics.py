"""Metrics of the studies of learning, with units; kept apart from code that loads torch."""

from studies.base.tolerances import ACCOUNTED, ACCOUNTED_DELTA, SCORE, tolerances

_SPENT = {
    "noise_norm": "sqrt(E||noise||^2) of one release",
    "records": "training records",
    "true_delta_lower": "lower bound on the true delta of the whole run at epsilon",
    "true_delta_upper": "upper bound on the true delta of the whole run at epsilon",
    "true_epsilon_upper": "upper bound on the true epsilon of the whole run at delta",
    "test_accuracy": "accuracy on the test records, in [0, 1]",
    "final_test_accuracy": "test accuracy after the last epoch or round, in [0, 1]",
}
DESCENT_METRICS = _SPENT | {
    "train_accuracy": "accuracy on the training records, in [0, 1]",
    "final_train_accuracy": "training accuracy after the last epoch, in [0, 1]",
    "sampling_rate": "probability that a record is in a batch",
    "steps": "steps of the whole run",
    "step_epsilon": "epsilon of the budget of one step",
    "step_delta": "delta of the budget of one step",
    "epoch_seconds": "wall-clock seconds of one epoch",
}
FEDERATED_METRICS = _SPENT | {
    "parameters": "parameters of the network",
    "sampling_rate": "probability that a record is in a batch",
    "uses": "releases of one person's data in the whole run",
    "use_epsilon": "epsilon of the budget of one release",
    "use_delta": "delta of the budget of one release",
    "round_seconds": "wall-clock seconds of one round, divided by the trials that train together",
}
SPENT_TOLERANCES = (
    tolerances(ACCOUNTED, "noise_norm", "true_epsilon_upper")
    | tolerances(ACCOUNTED_DELTA, "true_delta_lower", "true_delta_upper")
) | tolerances(SCORE, "test_accuracy", "final_test_accuracy")
DESCENT_TOLERANCES = SPENT_TOLERANCES | tolerances(SCORE, "train_accuracy", "final_train_accuracy")
