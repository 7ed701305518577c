"""Release records one by one, and calibrate and account for many releases together."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mechanisms import AdditiveMechanism, Budget, Mechanism, Unsupported
from mechanisms.privacy.profile import PrivacyProfile
from mechanisms.privacy.sampling.poisson_sampling import SampledRun

# Number of records released at once, so that the noise takes far less memory than the data.
_AT_ONCE = 1024


def rescaled(
    published: Sequence[Mechanism], spending: PrivacyProfile | SampledRun | None, total: Budget
) -> tuple[Mechanism, ...]:
    """Multiply all noise by the one factor at which all uses together spend `total`.

    Args:
        published: Mechanisms at the published calibration, each used any number of times.
        spending: The joint privacy profile of those uses, or a `SampledRun` that bounds it; None
            if neither is known.
        total: The budget of all uses together.

    Raises:
        Unsupported: A mechanism adds no noise, its profile or the total privacy loss is not known
            exactly, or no factor reaches the budget.
    """
    if not all(isinstance(each, AdditiveMechanism) for each in published):
        raise Unsupported("adds no noise, so it has no exact calibration")
    for each in published:
        profile = each.profile_of_release()
        if profile is not None and profile.slack:
            raise Unsupported(f"has no exact calibration here: {profile.slack}")
    if spending is None:
        raise Unsupported("has no exact calibration: the exact total privacy loss is not known")
    try:
        factor = spending.scale_factor(total.epsilon, total.delta)
    except ValueError as reason:
        raise Unsupported(f"has no exact calibration here: {reason}") from None
    return tuple(
        replace(each, calibration="exact", noise=each.noise.scaled(factor)) for each in published
    )


def rescaled_for_all(published: Mechanism, budget: Budget, releases: int) -> Mechanism:
    """Rescale the noise so that the true delta of all releases together is the budget's.

    Args:
        published: The mechanism of one release, calibrated to the whole budget, as in tldp2025.
        releases: Number of releases of one person's data, at least 1.

    Raises:
        Unsupported: There is no exact calibration, because the mechanism adds no noise, its profile
            is not exactly known, or no scale reaches the budget.
    """
    profile = published.profile()
    together = None if profile is None else profile.compose(releases)
    return rescaled([published], together, budget)[0]


def spent_by_releases(mechanism: Mechanism, releases: int, budget: Budget) -> dict[str, float]:
    """Return the size of one release's noise, and bounds on what all releases together spend.

    The keys are `noise_deviation`, the root mean square of the noise on one element;
    `true_delta_lower` and `true_delta_upper`, at the budget's epsilon; and `true_epsilon_upper`,
    at its delta. A number that is unknown or not finite is absent.
    """
    found = {}
    if isinstance(mechanism, AdditiveMechanism):
        size = mechanism.query.size
        found["noise_deviation"] = math.sqrt(mechanism.expected_loss() / size)
    profile = mechanism.profile()
    if profile is None:
        return found
    total = profile.compose(releases)
    delta, epsilon = total.delta(budget.epsilon), total.epsilon(budget.delta)
    if profile.slack is None:
        found["true_delta_lower"] = float(delta.lower)
    found["true_delta_upper"] = float(delta.upper)
    if math.isfinite(epsilon.upper):
        found["true_epsilon_upper"] = float(epsilon.upper)
    return found


def protected(mechanism: Mechanism, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Release each of the records (n, ...), float32, on its own; the result has the same shape."""
    tensors = records.reshape(len(records), *mechanism.query.shape)
    released = np.empty_like(tensors)
    for start in range(0, len(tensors), _AT_ONCE):
        part = tensors[start : start + _AT_ONCE]
        released[start : start + _AT_ONCE] = mechanism.release_all(part, rng)
    return released.reshape(records.shape)


def squared_error(released: np.ndarray, records: np.ndarray) -> float:
    """Return the mean over the records of ||released - record||^2."""
    total = sum(
        float(np.sum(np.square(r - x), dtype=np.float64))
        for r, x in zip(
            *(np.array_split(a, 1 + len(a) // _AT_ONCE) for a in (released, records)), strict=True
        )
    )
    return total / len(records)
