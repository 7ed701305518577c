"""Grids over epsilon, which most studies have."""

from __future__ import annotations

from pydantic import Field

from studies.base.settings import ByMechanism, Delta, Distinct, Epsilon
from studies.base.study import Point
from studies.base.study_settings import StudySettings


class EpsilonGrid(StudySettings):
    """Settings of a study with a grid over epsilon at one delta."""

    epsilons: Distinct[Epsilon] = Field(description="grid over epsilon")
    epsilons_for: ByMechanism[Distinct[Epsilon]] = Field(
        {}, description="grids of single mechanisms, in place of `epsilons`"
    )
    delta: Delta = Field(description="delta")


def epsilon_grid(settings: dict, mechanism: str) -> list[float]:
    """The epsilons of one mechanism."""
    return settings["epsilons_for"].get(mechanism, settings["epsilons"])


def points_over(shapes: list[tuple[int, ...]], settings: dict, mechanism: str) -> list[Point]:
    """Every shape with every epsilon."""
    return [
        Point(shape=tuple(shape), epsilon=epsilon, delta=settings["delta"])
        for shape in shapes
        for epsilon in epsilon_grid(settings, mechanism)
    ]
