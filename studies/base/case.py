"""The arguments of a study: a grid point, settings, seeds, and a mechanism at a calibration."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mechanisms import Budget, Mechanism, Query
from mechanisms.check.checks import require_consistent_in_study
from studies.base.seeds import seed_of


@dataclass(frozen=True, kw_only=True)
class Point:
    """One grid point of a cell."""

    shape: tuple[int, ...]
    epsilon: float
    delta: float

    @classmethod
    def at(cls, shape: tuple[int, ...], budget: Budget) -> Self:
        """Return the point with this shape and this budget."""
        return cls(shape=shape, epsilon=budget.epsilon, delta=budget.delta)

    @property
    def budget(self) -> Budget:
        """The budget (epsilon, delta)."""
        return Budget(epsilon=self.epsilon, delta=self.delta)

    @property
    def shape_name(self) -> str:
        """The shape as tables write it, "89x89"."""
        return "x".join(map(str, self.shape))


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A mechanism as a cell uses it: its name in the tables, its class and its options."""

    name: str
    mechanism: type[Mechanism]
    options: dict[str, Any] = field(default_factory=dict)
    # The calibrations at which a mechanism has already been checked at length.
    _checked: set[str] = field(default_factory=set, repr=False, compare=False)

    def calibrate(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Mechanism:
        """Calibrate and check the mechanism as `timed_calibration` does, without the seconds."""
        return self.timed_calibration(query, budget, calibration, **options)[0]

    def timed_calibration(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> tuple[Mechanism, float]:
        """Calibrate the mechanism to a query and a budget; return it and the seconds it took.

        A mechanism that is calibrated here is checked against its own statements
        (`mechanisms.check`): the first one of each calibration at length, the others by few
        releases. The checks have their own seed, so that they change no other draw. The seconds
        exclude the checks.

        Args:
            options: Options of the mechanism, such as public side information; they override the
                variant's options.

        Raises:
            Inconsistent: The releases contradict what the mechanism states.
            Unsupported, TypeError, ValueError: `Mechanism.calibrate` says when.
        """
        clock = time.perf_counter()
        mechanism = self.mechanism.calibrate_only(
            query, budget, calibration, **(self.options | options)
        )
        seconds = time.perf_counter() - clock
        self._check(mechanism, calibration)
        return mechanism, seconds

    def _check(self, mechanism: Mechanism, calibration: str) -> None:
        """Raise Inconsistent if the releases contradict what the mechanism states."""
        seed = seed_of("self-check", self.name, calibration, list(mechanism.query.shape))
        first = calibration not in self._checked
        require_consistent_in_study(mechanism, seed=seed, first=first)
        self._checked.add(calibration)


@dataclass(frozen=True)
class Value:
    """One measured number; `timing` marks wall-clock seconds and memory, kept apart from results.

    Args:
        metric: The name of the metric.
        value: The measured number; it must be finite.
        trial: Trial number from 0, or None for an exact value or a statistic over trials.
        at: Where it was measured: values of the study's coordinates, such as {"epoch": 3}.
        seed: The seed of the draws behind the value, or None.
    """

    metric: str
    value: float
    trial: int | None = None
    at: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    timing: bool = False


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The settings and seeds that all mechanisms of a study share on one data set.

    Args:
        study: The name of the study.
        dataset: The name of the data set.
        settings: An instance of the study's `Settings`.
        base_seed: The seed of the run.
    """

    study: str
    dataset: str
    settings: Any
    base_seed: int = 0

    def shared_seed(self, *more: object) -> int:
        """Return a seed that all mechanisms share, for splits of the data or random workloads."""
        return seed_of(self.base_seed, self.study, self.dataset, *more)


@dataclass(frozen=True, kw_only=True)
class Case(Setup):
    """The subject of one cell: a mechanism at a calibration.

    Args:
        variant: The mechanism with its options.
        calibration: "published" or "exact". No seed depends on it, so both see the same draws.
        folder: A folder in which the cell may keep unfinished work, such as checkpoints, until it
            is done; None outside the process of a cell.
        trial: The only trial to run if every trial has its own cell; None to run all.
    """

    variant: Variant
    calibration: str = "published"
    folder: Path | None = None
    trial: int | None = None

    @property
    def mechanism(self) -> type[Mechanism]:
        """The mechanism's class."""
        return self.variant.mechanism

    @property
    def trials(self) -> range:
        """The trials to run."""
        if self.trial is not None:
            return range(self.trial, self.trial + 1)
        return range(self.settings.trial_count(self.dataset, self.calibration))

    def seed(self, point: Point, *more: object) -> int:
        """Return the seed of one trial, or of another named draw, at a point.

        The seed does not depend on delta: points that differ only in delta share their draws, and
        so do calibrations. An epsilon of 1 gives the same seed as 1.0.
        """
        names = (self.base_seed, self.study, self.dataset, self.variant.name)
        return seed_of(*names, point.shape_name, float(point.epsilon), *more)

    def calibrate(self, query: Query, budget: Budget, **options) -> Mechanism:
        """Calibrate the mechanism as the cell says; see `Variant.timed_calibration`."""
        return self.timed_calibration(query, budget, **options)[0]

    def timed_calibration(self, query: Query, budget: Budget, **options) -> tuple[Mechanism, float]:
        """Calibrate the mechanism as the cell says; return it and the seconds it took."""
        return self.variant.timed_calibration(query, budget, self.calibration, **options)

    def published(self, query: Query, budget: Budget, **options) -> Mechanism:
        """Calibrate the mechanism as published, whatever the calibration of the cell."""
        return self.variant.calibrate(query, budget, **options)
