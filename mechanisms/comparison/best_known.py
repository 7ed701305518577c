"""The least error that a mechanism of the package has at a budget, exactly calibrated."""

import math
import warnings
from dataclasses import dataclass

from mechanisms.base.mechanism import AdditiveMechanism
from mechanisms.base.registry import all_mechanisms
from mechanisms.comparison.advisor import SIMPLEST, TIE
from mechanisms.query.query import Budget, Query, Unsupported


@dataclass(frozen=True, kw_only=True)
class BestKnown:
    """A mechanism and its root mean square error of an element at the exact calibration."""

    mechanism: str
    rmse: float


def best_known(query: Query, budget: Budget) -> tuple[BestKnown, BestKnown] | None:
    """The additive mechanism of least error, and the simplest within 0.1% of it; None without one.

    The latter is the choice of `compare`. Options are at their defaults. It calibrates every
    mechanism of the package, about 2 seconds in all.
    """
    found = [known for cls in all_mechanisms().values() if (known := _known(cls, query, budget))]
    if not found:
        return None
    found.sort(key=lambda known: known.rmse)
    tied = {known.mechanism: known for known in found if known.rmse <= found[0].rmse * (1 + TIE)}
    return found[0], next((tied[key] for key in SIMPLEST if key in tied), found[0])


def _known(cls, query: Query, budget: Budget) -> BestKnown | None:
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
    rmse = math.sqrt(mechanism.expected_loss() / query.size)
    return BestKnown(mechanism=cls.key, rmse=rmse)
