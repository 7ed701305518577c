"""The base of all studies: grid points, settings, sets of mechanisms, and metrics with units.

Studies import from this package; some also import `treatments` or `training`.
"""

from studies.base.case import Case, Point, Setup, Value, Variant
from studies.base.coordinates import COLUMN, EPOCH, ROUND, ROW, Coordinate
from studies.base.grid import EpsilonGrid, MechanismGrids, ReleaseSettings
from studies.base.metrics import (
    ACCOUNTED,
    ACCOUNTED_DELTA,
    EXACT,
    ROUNDED,
    SCORE,
    Metric,
    Tolerance,
)
from studies.base.settings import (
    LARGEST_COUNT,
    MOST_TRIALS,
    ByDataset,
    ByMechanism,
    ConfigError,
    Count,
    Delta,
    Disallowed,
    Distinct,
    Epsilon,
    MissingEntry,
    Name,
    Number,
    Positive,
    Section,
    Shape,
    Share,
    Text,
    Trials,
    Whole,
)
from studies.base.study import Study, all_studies
from studies.base.study_settings import StudySettings
