"""mvg2018's three studies on bundled data, and mechanisms whose answers a test chooses."""

import warnings
from pathlib import Path

import numpy as np

from mechanisms import Mechanism, OutOfRangeWarning, get_mechanism
from runs.config import check_config, read_config
from studies import covariance, first_component, regression
from studies.base.study import Names, Variant

ROOT = Path(__file__).resolve().parents[2]
# The study, its bundled data set and its score.
STUDIES = {
    "regression": (regression, "diabetes", "rmse"),
    "first_component": (first_component, "wine", "error"),
    "covariance": (covariance, "breast_cancer", "rss"),
}


class Echo(Mechanism):
    """Releases what `answer` makes of the value; `calls` has the arguments of calibrations."""

    key, title, paper, theorem, guarantee = "echo", "Echo", "test", "none", "approximate"
    answer = staticmethod(lambda value, rng: value)
    calls = []

    @classmethod
    def build(cls, query, budget, calibration, settings):
        cls.calls.append((query, budget, calibration, dict(settings)))
        return cls(query=query, budget=budget, calibration=calibration, settings=settings)

    def _release(self, value, rng):
        return self.answer(value, rng)

    def _release_with_diagnostics(self, value, rng):
        return self._release(value, rng), {"sweeps": 7.0}


class DirectionalEcho(Echo):
    """An echo with MVG's options."""

    key = "directional-echo"
    options = get_mechanism("mvg").options


def settings_of(name, **changes):
    """The checked settings of a study in config/tiny.yaml with some replaced."""
    settings = read_config(ROOT / "config/tiny.yaml")["studies"][name] | changes
    return check_config({"run": "test", "studies": {name: settings}})["studies"][name]


def names_of(study, dataset, mechanism):
    """Names for seeds."""
    return Names(base_seed=1, study=study, dataset=dataset, mechanism=mechanism)


def measure(name, mechanism, calibration="published", options=None, **changes):
    """(problem, values) of one cell on bundled data; `mechanism` is a key or a class."""
    module, dataset, _ = STUDIES[name]
    settings = settings_of(name, **changes)
    cls = get_mechanism(mechanism) if isinstance(mechanism, str) else mechanism
    variant = Variant(name=cls.key, mechanism=cls, options=options or {})
    problem = module.load(settings, dataset, Path("nowhere"), names_of(name, dataset, "shared"))
    (point,) = module.points(settings, variant.name, dataset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutOfRangeWarning)
        names = names_of(name, dataset, variant.name)
        return problem, list(module.measure(problem, variant, calibration, point, names))


def series(values, metric, **at):
    """Values of one metric at these coordinates and no others, one per trial, in order."""
    found = [value for value in values if value.metric == metric and dict(value.at) == at]
    assert found, f"{metric} at {at} is not among {values}"
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])
