"""Build one case of a study in the same way as the process of a cell, and select its numbers."""

from pathlib import Path

import numpy as np

from mechanisms import get_mechanism
from runs.config import check_config
from studies.base import Case, Setup, Variant
from studies.base.study import study_named

# Its error is that of its noise and of the zeros that it puts in place of the answer.
ZEROED = type(
    "Zeroed",
    (get_mechanism("laplace"),),
    {"prepared": lambda self, value: 0 * value, "only_adds_noise": False},
)


def checked(study, settings):
    """The checked settings of a study."""
    return check_config({"run": "test", "studies": {study: settings}})["studies"][study]


def setup_of(study, dataset, settings, base_seed=1):
    """The settings and seeds that all mechanisms share."""
    return Setup(study=study, dataset=dataset, settings=settings, base_seed=base_seed)


def variant(mechanism, **options):
    """A variant from the key or the class of a mechanism, with options."""
    cls = get_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    return Variant(name=cls.key, mechanism=cls, options=options)


def case_of(setup, mechanism, calibration="published", folder=None, **options):
    """A case from a key, a class or a variant, at a calibration."""
    own = mechanism if isinstance(mechanism, Variant) else variant(mechanism, **options)
    shared = dict(vars(setup))
    return Case(**shared, variant=own, calibration=calibration, folder=folder)


def problem_of(setup, folder=Path("nowhere")):
    """The problem that the study loads."""
    return study_named(setup.study).load(setup, folder)


def points_of(case):
    """The grid of a case."""
    study = study_named(case.study)
    return study.points(case.settings, case.variant.name, case.dataset)


def measured(case, problem=None, point=None):
    """The values that the study measures at a point, by default its only one."""
    if point is None:
        (point,) = points_of(case)
    study = study_named(case.study)
    problem = problem_of(case) if problem is None else problem
    values = list(study.measure(problem, case, point))
    for value in values:
        study.check_declared(value)
    return values


def numbers(values, metric):
    """All numbers of the metric, in order."""
    return [value.value for value in values if value.metric == metric]


def number(values, metric):
    """The only number of the metric."""
    (found,) = numbers(values, metric)
    return found


def series(values, metric):
    """The numbers of trials 0, 1, ... as an array."""
    found = [value for value in values if value.metric == metric]
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])
