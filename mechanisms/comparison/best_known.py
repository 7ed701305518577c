"""The errors of the package's mechanisms at a budget, exactly calibrated."""

import math
import warnings

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.registry import all_mechanisms
from mechanisms.query.query import Budget, Query, Unsupported


def exact_errors(query: Query, budget: Budget) -> dict[str, float]:
    """Root mean square errors of an element, by the keys of the mechanisms that serve the query.

    Those that only add noise and claim privacy, at the exact calibration, with their options at
    their defaults. It calibrates every mechanism of the package, about 2 seconds in all.
    """
    found = {key: _exact_error(cls, query, budget) for key, cls in all_mechanisms().items()}
    return {key: error for key, error in found.items() if error is not None}


def _exact_error(cls, query: Query, budget: Budget) -> float | None:
    if cls.guarantee == "none" or not issubclass(cls, AdditiveMechanism):
        return None
    with warnings.catch_warnings():
        # The range of a theorem does not matter at the exact calibration.
        warnings.simplefilter("ignore")
        try:
            mechanism = cls.calibrate(query, budget, "exact")
        except (Unsupported, ImportError):
            return None
    if not mechanism.only_adds_noise:
        return None
    return math.sqrt(mechanism.expected_loss() / query.size)
