"""Computes the errors of the package's mechanisms at their exact calibrations."""

import math
import warnings

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.registry import all_mechanisms
from mechanisms.query.query import Budget, Query, Unsupported


def exact_errors(query: Query, budget: Budget) -> dict[str, float]:
    """Return root mean square errors of an element, by the keys of the mechanisms.

    These are the mechanisms of the package that claim privacy, only add noise and support the
    query, at the exact calibration and with default options. All together take about 2 seconds.
    """
    found = {key: _exact_error(cls, query, budget) for key, cls in all_mechanisms().items()}
    return {key: error for key, error in found.items() if error is not None}


def _exact_error(cls, query: Query, budget: Budget) -> float | None:
    additive = issubclass(cls, AdditiveMechanism) and cls.only_adds_noise
    if cls.guarantee == "none" or not additive:
        return None
    with warnings.catch_warnings():
        # At the exact calibration the range of the theorem does not matter.
        warnings.simplefilter("ignore")
        try:
            mechanism = cls.calibrate(query, budget, "exact")
        except (Unsupported, ImportError):
            return None
    return math.sqrt(mechanism.expected_loss() / query.size)
