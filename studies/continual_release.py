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

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from mechanisms import Query, Unsupported
from mechanisms.base.public_information import (
    MOMENTUM,
    PARTICIPATIONS,
    SEPARATION,
    public_options,
    takes,
)
from mechanisms.strategies.streams.participation import Participation
from studies.base import (
    Case,
    Coordinate,
    Count,
    Disallowed,
    Distinct,
    EpsilonGrid,
    Metric,
    Point,
    ReleaseSettings,
    Study,
    Tolerance,
    Trials,
    Value,
)


class Settings(EpsilonGrid, ReleaseSettings):
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
    trials: Trials = Field(10, description="releases per grid point")

    def check_run(self) -> None:
        """Raise Disallowed for participations at steps that are not run."""
        run = {steps for dataset in self.datasets for steps in self.steps_of(dataset)}
        for steps in self.participation_steps:
            if steps not in run:
                allowed = "among the steps of the data sets"
                raise Disallowed("participation_steps", allowed, steps)

    def steps_of(self, dataset: str) -> list[int]:
        """The numbers of steps of a data set."""
        return self.steps if dataset == "prefix-sums" else self.momentum_steps

    def check(self) -> None:
        """Raise Disallowed for steps that the participations do not divide."""
        multiple = np.lcm.reduce(self.participations)
        for steps in self.participation_steps:
            if steps % multiple:
                raise Disallowed("participation_steps", "multiples of all participations", steps)


class ContinualRelease(Study):
    """The study of this module."""

    name = "continual_release"
    paper = "suite"
    datasets = {"prefix-sums": "none", "momentum": "none"}
    needs = "additive"
    coordinates = (
        Coordinate("participations", int, "k, largest number of steps that one person changes"),
        Coordinate("separation", int, "b, least number of steps between two of them"),
    )
    slow_imports = ("scipy.signal",)
    Settings = Settings
    metrics = (
        Metric(
            "mean_error",
            "variance of a released answer, mean over the steps, in closed form",
            tolerance=Tolerance(relative=5e-6),
        ),
        Metric(
            "max_error",
            "its largest value over the steps, in closed form",
            tolerance=Tolerance(relative=0.001),
        ),
        Metric(
            "measured_error",
            "mean squared error of the answers of one release",
            tolerance=Tolerance(relative=0.001),
        ),
        Metric(
            "sensitivity_slack",
            "relative distance between the bounds of the sensitivity; 0 where known",
            tolerance=Tolerance(absolute=1e-6),
        ),
        Metric(
            "optimality_gap",
            ("certified relative distance of mean_error from that of the best factorisation"),
            tolerance=Tolerance(absolute=0.0001),
        ),
        Metric(
            "calibrate_seconds", "wall-clock seconds to find the factorisation and its sensitivity"
        ),
    )

    def points(self, settings: Settings, variant: str, dataset: str) -> list[Point]:
        """The grid over n."""
        shapes = [(1, count) for count in settings.steps_of(dataset)]
        return settings.points_over(shapes, variant)

    def measure(self, problem: None, case: Case, point: Point) -> Iterator[Value]:
        """Errors in closed form and on draws, for every participation.

        Raises:
            Unsupported: The mechanism takes no participation.
        """
        if not takes(case.mechanism, PARTICIPATIONS):
            raise Unsupported("states no privacy for a person who takes part in several steps")
        query = stream_query(point.shape)
        momentum = case.settings.momentum if case.dataset == "momentum" else 0.0
        stream = np.zeros(point.shape)
        for participation in participations(case.settings, point.shape[1]):
            where = {
                "participations": participation.times,
                "separation": participation.separation,
            }
            offered = {
                PARTICIPATIONS: lambda times=participation.times: times,
                SEPARATION: lambda apart=participation.separation: apart,
                MOMENTUM: lambda: momentum,
            }
            mechanism, seconds = case.timed_calibration(
                query, point.budget, **public_options(case.mechanism, offered)
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
            for trial in case.trials:
                seed = case.seed(point, trial)
                released = mechanism.release(stream, np.random.default_rng(seed))
                square = float(np.mean(mechanism.answers(released) ** 2))
                yield Value("measured_error", square, trial, where, seed)


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


def participations(settings: Settings, steps: int) -> list[Participation]:
    """Those that are tried at one n."""
    tried = settings.participations if steps in settings.participation_steps else [1]
    return [Participation(times=times, separation=steps // times) for times in tried]
