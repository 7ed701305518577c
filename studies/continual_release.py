"""Continual release: the error of factorisations on a stream at equal true privacy.

A stream has one number x_t per step, |x_t| <= 1, and every prefix sum is released when its step is
over. One person contributes the numbers of at most k steps, any two at least b apart. Neighbours
differ in one person, without whom these numbers are zero. k = 1: a person who takes part once.
k > 1: k epochs over the same records, always in the same order, with b = n / k.

The error of a step is the variance of what is released after it; nothing in it depends on the data.
It is computed in closed form, and measured on draws. A stream of vectors of norm at most 1 has the
same error on every element.

prefix-sums
    The sums x_1 + ... + x_t.
momentum
    What SGD with momentum subtracts from its start, in units of the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field

from mechanisms import Budget, Query, Unsupported
from mechanisms.base.public_information import (
    MOMENTUM,
    PARTICIPATIONS,
    SEPARATION,
    public_options,
    takes,
)
from mechanisms.strategies.streams.participation import Participation
from studies.base.coordinates import Coordinate
from studies.base.grid import EpsilonGrid, points_over
from studies.base.settings import MOST_TRIALS, Count, Disallowed, Distinct
from studies.base.study import Names, Point, Value, Variant
from studies.base.tolerances import Tolerance

NAME = "continual_release"
PAPER = "suite"
DATASETS = {"prefix-sums": "none", "momentum": "none"}
NEEDS = "additive"
COORDINATES = (
    Coordinate("participations", int, "k, largest number of steps that one person changes"),
    Coordinate("separation", int, "b, least number of steps between two of them"),
)
SLOW_IMPORTS = ("scipy.signal",)
METRICS = {
    "mean_error": "variance of a released answer, mean over the steps, in closed form",
    "max_error": "its largest value over the steps, in closed form",
    "measured_error": "mean squared error of the answers of one release",
    "sensitivity_slack": "relative distance between the bounds of the sensitivity; 0 where known",
    "optimality_gap": "certified relative distance of mean_error from that of the best "
    "factorisation",
    "calibrate_seconds": "wall-clock seconds to find the factorisation and its sensitivity",
}
# What a search ends at, and a gap that an iteration leaves, next to 1.
TOLERANCES = {
    "mean_error": Tolerance(relative=5e-6),
    "max_error": Tolerance(relative=1e-3),
    "measured_error": Tolerance(relative=1e-3),
    "sensitivity_slack": Tolerance(absolute=1e-6),
    "optimality_gap": Tolerance(absolute=1e-4),
}


class Settings(EpsilonGrid):
    """Settings of this study."""

    steps: Distinct[Count] = Field(description="numbers of steps n of prefix-sums")
    momentum_steps: Distinct[Count] = Field(description="numbers of steps n of momentum")
    momentum: float = Field(0.9, ge=0, lt=1, description="momentum of SGD in momentum")
    participations: Distinct[Count] = Field(
        description="participations k of one person, n / k steps apart"
    )
    participation_steps: Distinct[Count] = Field(
        description="numbers of steps n that are run at every k"
    )
    trials: Count = Field(10, le=MOST_TRIALS, description="releases per grid point")

    def check(self) -> None:
        multiple = np.lcm.reduce(self.participations)
        for steps in self.participation_steps:
            if steps % multiple:
                raise Disallowed("participation_steps", "multiples of all participations", steps)


@dataclass(frozen=True)
class Stream:
    """The momentum of what is asked for, and the settings; there are no data."""

    momentum: float
    settings: dict


def points(settings: dict, variant: str, dataset: str) -> list[Point]:
    """The grid over n."""
    steps = settings["steps" if dataset == "prefix-sums" else "momentum_steps"]
    return points_over([(1, count) for count in steps], settings, variant)


def load(settings: dict, dataset: str, folder: Path, names: Names) -> Stream:
    """What is asked for."""
    return Stream(settings["momentum"] if dataset == "momentum" else 0.0, settings)


def stream_query(shape: tuple[int, int]) -> Query:
    """A stream of numbers in [-1, 1], one column per step, one of which may become zero."""
    return Query(
        shape=shape,
        l2_sensitivity=1.0,
        l1_sensitivity=1.0,
        linf_sensitivity=1.0,
        adjacency="add-remove",
        structure="records",
        record_bound=1.0,
    )


def participations(settings: dict, steps: int) -> list[Participation]:
    """Those that are tried at one n."""
    tried = settings["participations"] if steps in settings["participation_steps"] else [1]
    return [Participation(times=times, separation=steps // times) for times in tried]


def measure(
    problem: Stream, variant: Variant, calibration: str, point: Point, names: Names
) -> Iterator[Value]:
    """Errors in closed form and on draws, for every participation.

    Raises:
        Unsupported: The mechanism takes no participation.
    """
    if not takes(variant.mechanism, PARTICIPATIONS):
        raise Unsupported("states no privacy for a person who takes part in several steps")
    query = stream_query(point.shape)
    budget = Budget(epsilon=point.epsilon, delta=point.delta)
    stream = np.zeros(point.shape)
    for participation in participations(problem.settings, point.shape[1]):
        where = {
            "participations": participation.times,
            "separation": participation.separation,
        }
        offered = {
            PARTICIPATIONS: lambda times=participation.times: times,
            SEPARATION: lambda apart=participation.separation: apart,
            MOMENTUM: lambda: problem.momentum,
        }
        mechanism, seconds = variant.timed_calibration(
            query, budget, calibration, **public_options(variant.mechanism, offered)
        )
        yield Value("calibrate_seconds", seconds, at=where, timing=True)
        error = mechanism.expected_error()
        yield Value("mean_error", error.mean, at=where)
        yield Value("max_error", error.maximal, at=where)
        bounds = mechanism.noise.sensitivity
        yield Value("sensitivity_slack", bounds.upper / bounds.lower - 1, at=where)
        gap = mechanism.optimality_gap()
        if gap is not None:
            yield Value("optimality_gap", gap, at=where)
        for trial in range(problem.settings["trials"]):
            seed = names.seed(point, trial)
            released = mechanism.release(stream, np.random.default_rng(seed))
            square = float(np.mean(mechanism.answers(released) ** 2))
            yield Value("measured_error", square, trial, where, seed)
