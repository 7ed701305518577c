"""Compare sampled means with the closed forms that are stored beside them."""

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from scipy import special

from mechanisms import Inconsistent
from studies.base.case import Value
from studies.base.study import Study

# With fewer draws, the estimate of their spread is too poor.
FEWEST = 10
# The level of one comparison of normal draws, and the factor that widens its bound for skewed
# draws. Correct chi-squared draws with one degree of freedom, the law of R1SMG's loss, pass with
# probability at least 1 - 5e-7.
LEVEL, SKEW = 1e-9, 4.0


def require_agreement(study: Study, values: Iterable[Value]) -> None:
    """Raise Inconsistent if trials of a metric contradict its closed form at the same place."""
    exact: dict[tuple, float] = {}
    trials: dict[tuple, list[float]] = defaultdict(list)
    for value in values:
        place = value.metric, tuple(sorted(value.at.items()))
        if value.trial is None:
            exact[place] = value.value
        else:
            trials[place].append(value.value)
    for (name, at), found in trials.items():
        closed_form = study.metric(name).closed_form
        stated = exact.get((closed_form, at), exact.get((closed_form, ())))
        if stated is not None and len(found) >= FEWEST:
            error = float(np.std(found, ddof=1)) / math.sqrt(len(found))
            require_mean(float(np.mean(found)), error, len(found), stated, closed_form)


def require_mean(mean: float, error: float, draws: int, stated: float, closed_form: str) -> None:
    """Raise Inconsistent if a mean of draws is too far from its closed form.

    Args:
        mean: The mean of the draws.
        error: The standard error of the mean.
        draws: The number of draws.
        stated: The value of the closed form.
        closed_form: The name of the metric with the closed form.
    """
    # scipy.stats would take half a second to import in every cell.
    reach = SKEW * float(-special.stdtrit(draws - 1, LEVEL / 2)) * error
    # Closed forms are rounded.
    reach += 1e-9 * abs(stated)
    if abs(mean - stated) > reach:
        raise Inconsistent(
            f"the mean of {draws} draws is {mean:.6g} +- {error:.2g}, and {closed_form} states "
            f"{stated:.6g}"
        )
