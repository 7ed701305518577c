"""Settings shared by several studies: a grid over epsilon, and trials."""

from pydantic import Field

from studies.base.case import Point
from studies.base.settings import (
    ByDataset,
    ByMechanism,
    Delta,
    Distinct,
    Epsilon,
    Trials,
    refuse_unknown,
)
from studies.base.study_settings import StudySettings


class MechanismGrids(StudySettings):
    """Settings of a study in which single mechanisms may have epsilons of their own."""

    epsilons_for: ByMechanism[Distinct[Epsilon]] = Field(
        {}, description="epsilons of single mechanisms, in place of those of all"
    )
    epsilons_on: ByDataset[ByMechanism[Distinct[Epsilon]]] = Field(
        {}, description="epsilons of single mechanisms on single data sets, in place of all others"
    )

    def check_run(self) -> None:
        """Raise ConfigError for a mechanism of `epsilons_on` that does not run."""
        for dataset, grids in self.epsilons_on.items():
            known = self.mechanisms_for.get(dataset, self.mechanisms)
            refuse_unknown(f"epsilons_on.{dataset}", grids, known)

    def own_grid(self, mechanism: str, dataset: str, others: list[float]) -> list[float]:
        """Return the mechanism's own epsilons on a data set, in order, or else `others`."""
        own = self.epsilons_for | self.epsilons_on.get(dataset, {})
        return own.get(mechanism, others)


class EpsilonGrid(MechanismGrids):
    """Settings of a study with a grid over epsilon at one delta."""

    epsilons: Distinct[Epsilon] = Field(description="grid over epsilon")
    delta: Delta = Field(description="delta")

    def grid(self, mechanism: str, dataset: str) -> list[float]:
        """Return the epsilons of a mechanism on a data set, in order."""
        return self.own_grid(mechanism, dataset, self.epsilons)

    def points_over(
        self, shapes: list[tuple[int, ...]], mechanism: str, dataset: str
    ) -> list[Point]:
        """Return a point for every shape and every epsilon of the mechanism on the data set."""
        return [
            Point(shape=shape, epsilon=epsilon, delta=self.delta)
            for shape in shapes
            for epsilon in self.grid(mechanism, dataset)
        ]


class ReleaseSettings(StudySettings):
    """Settings of a study that releases several times at every grid point."""

    trials: Trials = Field(100, description="releases per grid point")

    def trial_count(self, dataset: str, calibration: str) -> int:
        """Return `trials`."""
        return self.trials
