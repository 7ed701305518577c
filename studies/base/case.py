"""What a study is given: a grid point, settings and seeds, and a mechanism at a calibration."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from mechanisms import Budget, Inconsistent, Mechanism, Query
from mechanisms.verification.self_check import QUICK, require_consistent, require_stated_norms
from studies.base.seeds import seed_of


@dataclass(frozen=True, kw_only=True)
class Point:
    """One grid point of a cell."""

    shape: tuple[int, ...]
    epsilon: float
    delta: float

    @classmethod
    def at(cls, shape: tuple[int, ...], budget: Budget) -> Self:
        """The point of a query's shape and a budget."""
        return cls(shape=shape, epsilon=budget.epsilon, delta=budget.delta)

    @property
    def budget(self) -> Budget:
        """(epsilon, delta)."""
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
    # For each calibration, shape and budget that was checked the contradiction found, or None.
    _checked: dict[tuple, str | None] = field(default_factory=dict, repr=False, compare=False)

    def calibrate(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> Mechanism:
        """The mechanism of `timed_calibration` alone."""
        return self.timed_calibration(query, budget, calibration, **options)[0]

    def timed_calibration(
        self, query: Query, budget: Budget, calibration: str = "published", **options
    ) -> tuple[Mechanism, float]:
        """The mechanism for a query and a budget, and the seconds that its calibration took.

        Every study calibrates here, because the first mechanism of each calibration and shape is
        compared with itself (`self_check`), and at every further budget the norms of its releases
        are. The check takes few releases and has its own seed, so that no other draw changes. Its
        time is not part of the seconds.

        Args:
            options: Of the mechanism, such as public side information; they take precedence over
                those of the variant.

        Raises:
            Inconsistent: The releases contradict the moments or the privacy that are stated.
            Unsupported, TypeError, ValueError: As `Mechanism.calibrate` does.
        """
        clock = time.perf_counter()
        mechanism = self.mechanism.calibrate(query, budget, calibration, **(self.options | options))
        seconds = time.perf_counter() - clock
        self._require_consistent(mechanism, calibration)
        return mechanism, seconds

    def _require_consistent(self, mechanism: Mechanism, calibration: str) -> None:
        """Compare a mechanism with itself, unless that was done at its shape and budget.

        What is inconsistent at the first budget of a shape is so at all of them.
        """
        query = calibration, mechanism.query.shape
        here = *query, mechanism.budget
        seed = seed_of("self-check", self.name, calibration, list(mechanism.query.shape))
        if query not in self._checked:
            found = _contradiction(require_consistent, mechanism, seed=seed, effort=QUICK)
            self._checked[query] = self._checked[here] = found
        if here not in self._checked:
            found = _contradiction(require_stated_norms, mechanism, seed=seed)
            self._checked[here] = self._checked[query] or found
        if self._checked[here]:
            raise Inconsistent(self._checked[here])


def _contradiction(check: Callable, mechanism: Mechanism, **arguments) -> str | None:
    """The sentence of a check that a mechanism fails, or None."""
    try:
        check(mechanism, **arguments)
    except Inconsistent as contradiction:
        return str(contradiction)
    return None


@dataclass(frozen=True)
class Value:
    """One measured number; `timing` marks wall-clock seconds and memory, kept apart from results.

    Args:
        metric: Name of the number.
        value: Finite.
        trial: Trial number from 0, or None for an exact value or a statistic over trials.
        at: Where it was measured: values of the study's coordinates, such as {"epoch": 3}.
        seed: The seed that was drawn from, or None.
    """

    metric: str
    value: float
    trial: int | None = None
    at: Mapping[str, object] = field(default_factory=dict)
    seed: int | None = None
    timing: bool = False


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all mechanisms of a study on one data set share: its settings and its seeds.

    Args:
        study, dataset: Their names.
        settings: An instance of the study's `Settings`.
        base_seed: Of the run.
    """

    study: str
    dataset: str
    settings: Any
    base_seed: int = 0

    def shared_seed(self, *more: object) -> int:
        """A seed that all mechanisms share: splits of the data, random workloads."""
        return seed_of(self.base_seed, self.study, self.dataset, *more)


@dataclass(frozen=True, kw_only=True)
class Case(Setup):
    """What one cell measures: a mechanism at a calibration.

    Args:
        variant: The mechanism with its options.
        calibration: "published" or "exact". No seed depends on it: both see the same draws.
        folder: Where the cell may keep unfinished work, such as checkpoints, until it is done;
            None outside a cell's process.
        trial: The only trial to run, where every trial has its own cell; None: all.
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
        """The seed of one trial, or another named draw, at a point.

        delta is not part of it: points that differ only in delta share their draws, as calibrations
        do. Epsilons of 1 and 1.0 are the same.
        """
        names = (self.base_seed, self.study, self.dataset, self.variant.name)
        return seed_of(*names, point.shape_name, float(point.epsilon), *more)

    def calibrate(self, query: Query, budget: Budget, **options) -> Mechanism:
        """The mechanism for a query and a budget; see `Variant.timed_calibration`."""
        return self.timed_calibration(query, budget, **options)[0]

    def timed_calibration(self, query: Query, budget: Budget, **options) -> tuple[Mechanism, float]:
        """The same, with the seconds that it took."""
        return self.variant.timed_calibration(query, budget, self.calibration, **options)

    def published(self, query: Query, budget: Budget, **options) -> Mechanism:
        """The mechanism as its source calibrates it, whatever the calibration of the cell."""
        return self.variant.calibrate(query, budget, **options)
