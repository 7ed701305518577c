"""Settings that several studies share: a grid over epsilon, and trials."""

from pydantic import Field

from studies.base.case import Point
from studies.base.settings import ByMechanism, Delta, Distinct, Epsilon, Trials
from studies.base.study_settings import StudySettings


class EpsilonGrid(StudySettings):
    """Settings of a study with a grid over epsilon at one delta."""

    epsilons: Distinct[Epsilon] = Field(description="grid over epsilon")
    epsilons_for: ByMechanism[Distinct[Epsilon]] = Field(
        {}, description="grids of single mechanisms, in place of `epsilons`"
    )
    delta: Delta = Field(description="delta")

    def points_over(self, shapes: list[tuple[int, ...]], mechanism: str) -> list[Point]:
        """Every shape with every epsilon of the mechanism."""
        return [
            Point(shape=shape, epsilon=epsilon, delta=self.delta)
            for shape in shapes
            for epsilon in self.epsilons_for.get(mechanism, self.epsilons)
        ]


class ReleaseSettings(StudySettings):
    """Settings of a study that releases several times at every grid point."""

    trials: Trials = Field(100, description="releases per grid point")

    def trial_count(self, dataset: str, calibration: str) -> int:
        """`trials`."""
        return self.trials
