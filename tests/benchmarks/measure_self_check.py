"""What the comparison of a mechanism with itself finds: rows of docs/audit_self_tests.md.

Each mistake is planted in noise for an answer of n x n elements with l1 and l2 sensitivity 1, at
epsilon 1 and delta 1e-5, without a structure. Run number i has the seed i.
"""

import dataclasses
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mechanisms/verification"))

from test_false_alarms import QUERIES, SLOW

from mechanisms import (
    Budget,
    Inconsistent,
    Query,
    Unsupported,
    all_mechanisms,
    get_mechanism,
)
from mechanisms.noise.gaussian_noise import IndependentGaussian
from mechanisms.noise.laplace_noise import IndependentLaplace
from mechanisms.noise.spherical_noise import Spherical
from mechanisms.verification.self_check import QUICK, THOROUGH, require_consistent

BUDGET = Budget(epsilon=1.0, delta=1e-5)
SIDES = (8, 32, 64)
STUDIES, VERIFICATIONS = 6, 3
# Of correct mechanisms; those that cannot be had for a drawn query are not counted.
DRAWN = 9_180


def planted(key: str, kind: type, change: Callable | None = None, share: float = 1.0) -> type:
    """A mechanism of the suite whose draws are changed, or whose profile states less of a change.

    change: (noise, draws (n, rows, columns), rng) -> draws.
    share: Of the change that the profile covers.
    """

    class Noise(kind):
        def sample(self, rng, trials, dtype=np.float64):
            draws = super().sample(rng, trials, dtype)
            return draws if change is None else change(self, draws, rng).astype(dtype)

        def profile(self, query):
            found = super().profile(query)
            return found if share == 1.0 else found.scaled(1 / share)

    class Planted(get_mechanism(key)):
        @classmethod
        def noise_for(cls, query, budget):
            right = super().noise_for(query, budget)
            fields = {each.name: getattr(right, each.name) for each in dataclasses.fields(right)}
            return Noise(**fields)

    return Planted


def gaussian(change: Callable | None = None, share: float = 1.0) -> type:
    return planted("gaussian-analytic", IndependentGaussian, change, share)


def row_of_another(sign: float, part: float = 1.0) -> Callable:
    """The second row has the noise of the first times `sign`, but for a part of its own."""

    def change(noise, draws, rng):
        draws = draws.copy()
        own = draws[:, 1]
        draws[:, 1] = sign * part * draws[:, 0] + np.sqrt(1 - part**2) * own
        return draws

    return change


def few_with_half(noise, draws, rng):
    draws = draws.copy()
    draws[rng.random(draws.shape) < 0.01] *= 0.5
    return draws


def short_seeds(noise, draws, rng):
    seeds = rng.integers(1 << 24, size=len(draws))
    return np.array(
        [np.random.default_rng(s).normal(0, noise.sigma, draws.shape[1:]) for s in seeds]
    )


class StepToTheSign(get_mechanism("gaussian-analytic")):
    """The noise has a standard deviation of 3.7."""

    only_adds_noise = False

    def _release(self, value, rng):
        return super()._release(value, rng) + 0.1 * np.sign(value)


# Every mistake by its name.
MISTAKES = {
    "two rows share their noise": gaussian(row_of_another(1.0)),
    "two rows share it up to sign": gaussian(row_of_another(-1.0)),
    "two rows share 99% of it (correlation)": gaussian(row_of_another(1.0, 0.99)),
    "Gaussian, profile 20% too good": gaussian(share=0.8),
    "Gaussian, profile 2% too good": gaussian(share=0.98),
    "Gaussian, profile 1% too good": gaussian(share=0.99),
    "Gaussian, profile 0.5% too good": gaussian(share=0.995),
    "Laplace, profile 5% too good": planted("laplace", IndependentLaplace, share=0.95),
    "Laplace, profile 1% too good": planted("laplace", IndependentLaplace, share=0.99),
    "R1SMG, profile 20% too good": planted("r1smg", Spherical, share=0.8),
    "Gaussian, noise 2% too small": gaussian(lambda noise, draws, rng: 0.98 * draws),
    "Laplace, noise 5% too small": planted(
        "laplace", IndependentLaplace, lambda noise, draws, rng: 0.95 * draws
    ),
    "R1SMG, noise 20% too small": planted(
        "r1smg", Spherical, lambda noise, draws, rng: 0.8 * draws
    ),
    "Gaussian, a step of 0.1 to the sign of each element": StepToTheSign,
    "half the noise in 1% of elements": gaussian(few_with_half),
    "seeds of 24 bits": gaussian(short_seeds),
}


def caught(mistake: type, side: int, effort, runs: int) -> str:
    """In how many of the runs the mistake was found."""
    query = Query(shape=(side, side), l2_sensitivity=1.0, l1_sensitivity=1.0)
    hits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = mistake.calibrate(query, BUDGET)
    for seed in range(runs):
        try:
            require_consistent(mechanism, seed=seed, effort=effort)
        except Inconsistent:
            hits += 1
    return f"{hits} of {runs}"


def power_rows(studies: int = STUDIES, verifications: int = VERIFICATIONS) -> list[tuple[str, ...]]:
    """One row for every mistake: found in studies and by `verify`, at each size."""
    return [
        (
            name,
            *(caught(mistake, side, QUICK, studies) for side in SIDES),
            *(caught(mistake, side, THOROUGH, verifications) for side in SIDES),
        )
        for name, mistake in MISTAKES.items()
    ]


def drawn_check(seed: int) -> bool | None:
    """Whether a correct mechanism of the suite is accused; None where it has no such noise.

    Mechanism, query, epsilon (0.01 to 10), delta (1e-10 to 1e-3), calibration and effort are
    drawn with the seed.
    """
    rng = np.random.default_rng(seed)
    key = rng.choice(sorted(all_mechanisms().keys() - SLOW))
    query = QUERIES[rng.choice(sorted(QUERIES))]
    budget = Budget(epsilon=10 ** rng.uniform(-2, 1), delta=10 ** rng.uniform(-10, -3))
    calibration, effort = rng.choice(["published", "exact"]), (QUICK, THOROUGH)[rng.integers(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mechanism = get_mechanism(key).calibrate(query, budget, str(calibration))
        except Unsupported:
            return None
    try:
        require_consistent(mechanism, seed=seed, effort=effort)
    except Inconsistent:
        return True
    return False


def alarms(seeds: Iterable[int]) -> tuple[int, int]:
    """How many checks of correct mechanisms there were, and how many of them accused one."""
    found = [accused for seed in seeds if (accused := drawn_check(seed)) is not None]
    return len(found), sum(found)


if __name__ == "__main__":
    for row in power_rows():
        print("| " + " | ".join(row) + " |", flush=True)
    print("{:,} checks of correct mechanisms, {} accused".format(*alarms(range(DRAWN))))
