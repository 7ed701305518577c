"""True and false privacy guarantees with their labels, to test what checks guarantees.

A guarantee is a setting, noise in closed form, and a claim (epsilon, delta). Its exact delta lies
within bounds that decide the label, so that no label is a guess. The claim is that delta times one
of `MARGINS`: a checker that only sees the gross errors passes the easy ones. Whoever tests a
checker draws with a seed that its author has not seen.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mechanisms.privacy.gaussian_profile import GaussianProfile, mu_for
from mechanisms.privacy.integer_profile import DiscreteGaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.profile import Bounds, check_count
from mechanisms.privacy.sampling.poisson_sampling import SampledRun
from mechanisms.privacy.spherical.spherical_profile import SphericalProfile

# The claimed delta over the exact one: true from 1 on.
MARGINS = (0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2.0, 10.0)
_EPSILONS, _DELTAS = (0.1, 4.0), (1e-8, 1e-2)

# The noise of a family, and its exact delta at epsilon; delta has the order of the number given.
_Family = Callable[[np.random.Generator, float, float], tuple[dict[str, Any], Bounds]]


def labelled_guarantees(seed: int, count: int) -> Iterator[dict[str, Any]]:
    """`count` guarantees: the same seed gives the same ones.

    Each has `family`, `noise` (its density and numbers), `size` M, `sensitivity` (kind and value),
    `adjacency`, the claim `epsilon` and `delta`, `exact_delta` with `lower` and `upper`, and
    `holds`, the label. Neighbours are all pairs whose answers differ by at most the sensitivity.
    """
    check_count("count", count)
    rng = np.random.default_rng(seed)
    names = list(_FAMILIES)
    for number in range(count):
        family = names[rng.integers(len(names))]
        epsilon = _rounded(_log_uniform(rng, *_EPSILONS), 3)
        noise, exact = _FAMILIES[family](rng, epsilon, _log_uniform(rng, *_DELTAS))
        claimed = _rounded(exact.value * float(rng.choice(MARGINS)), 4)
        holds = exact.upper <= claimed
        if not holds and exact.lower <= claimed:
            raise ArithmeticError(f"the label of guarantee {number} of seed {seed} is not decided")
        yield {
            "id": f"{seed}-{number}",
            "family": family,
            **noise,
            "adjacency": "add-remove",
            "epsilon": epsilon,
            "delta": claimed,
            "exact_delta": dict(zip(("lower", "value", "upper"), exact, strict=True)),
            "holds": holds,
        }


def _gaussian(rng, epsilon, delta):
    sensitivity = _sensitivity(rng)
    sigma = _rounded(sensitivity / mu_for(epsilon, delta), 6)
    noise = _noise(
        "x_i ~ N(0, sigma^2)", "l2", sensitivity, int(rng.integers(1, 1001)), sigma=sigma
    )
    return noise, GaussianProfile(mu=sensitivity / sigma).delta(epsilon)


def _laplace(rng, epsilon, delta):
    sensitivity = _sensitivity(rng)
    # Near epsilon delta is as steep as the rounding of the scale is coarse.
    scale = _rounded(sensitivity / (epsilon - 2 * math.log1p(-max(delta, 1e-4))), 6)
    density = "x_i ~ exp(-|x_i| / b) / (2 b)"
    noise = _noise(density, "l1", sensitivity, int(rng.integers(1, 1001)), b=scale)
    return noise, LaplaceProfile(l1_sensitivity=sensitivity, scale=scale).delta(epsilon)


def _l2(rng, epsilon, delta):
    size, sensitivity = int(rng.integers(2, 65)), _sensitivity(rng)
    scale = _rounded(sensitivity / (epsilon * (1 + rng.uniform(0.05, 1.0))), 6)
    noise = _noise("x ~ constant exp(-||x||_2 / b)", "l2", sensitivity, size, b=scale)
    profile = SphericalProfile(
        dimension=size, radial_shape=float(size), power=1.0, scale=scale, sensitivity=sensitivity
    )
    return noise, profile.delta(epsilon)


def _discrete_gaussian(rng, epsilon, delta):
    sigma = _rounded(1 / mu_for(epsilon, delta), 6)
    density = "integer x ~ constant exp(-x^2 / (2 sigma^2))"
    noise = _noise(density, "l1", 1.0, 1, sigma=sigma)
    return noise, DiscreteGaussianProfile(std=sigma).delta(epsilon)


def _sampled_gaussian(rng, epsilon, delta):
    sensitivity, rate = _sensitivity(rng), _rounded(_log_uniform(rng, 0.02, 0.5), 2)
    base = math.log1p(math.expm1(epsilon) / rate)
    sigma = _rounded(sensitivity / mu_for(base, min(delta / rate, 0.5)), 6)
    density = "x_i ~ N(0, sigma^2), on a Poisson sample with the rate q"
    size = int(rng.integers(1, 1001))
    noise = _noise(density, "l2", sensitivity, size, sigma=sigma, q=rate)
    step = GaussianProfile(mu=sensitivity / sigma)
    return noise, SampledRun(step=step, rate=rate, steps=1).step_delta(epsilon)


_FAMILIES: dict[str, _Family] = {
    "gaussian": _gaussian,
    "laplace": _laplace,
    "l2": _l2,
    "discrete-gaussian": _discrete_gaussian,
    "sampled-gaussian": _sampled_gaussian,
}


def _noise(
    density: str, norm: str, sensitivity: float, size: int, **numbers: float
) -> dict[str, Any]:
    return {
        "noise": {"density": density, **numbers},
        "size": size,
        "sensitivity": {"norm": norm, "value": sensitivity},
    }


def _sensitivity(rng: np.random.Generator) -> float:
    return _rounded(_log_uniform(rng, 0.1, 10.0), 3)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _rounded(value: float, digits: int) -> float:
    """What a paper would print."""
    return float(f"{value:.{digits}g}")
