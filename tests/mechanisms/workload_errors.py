"""The error of the workload that a matrix mechanism is calibrated for."""

from mechanisms.strategies.workload_options import workload_factors


def workload_error(mechanism):
    """E||W n||^2, the total squared error over the workload W."""
    return mechanism.noise.workload_variance(
        workload_factors(mechanism.query, **mechanism.settings)
    )
