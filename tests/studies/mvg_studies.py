"""The three studies of mvg2018 on bundled data, and mechanisms whose answers a test chooses."""

from pathlib import Path

import numpy as np
import yaml
from one_case import case_of, checked, measured, points_of, problem_of, setup_of, variant

from mechanisms import Mechanism, get_mechanism
from runs.config import read_config

ROOT = Path(__file__).resolve().parents[2]
# The bundled data set and the score of each study.
STUDIES = {
    "regression": ("diabetes", "rmse"),
    "first_component": ("wine", "error"),
    "covariance": ("breast_cancer", "rss"),
}


class Echo(Mechanism):
    """A mechanism that releases `answer(value)`; `calls` are its calibrations since `measure`."""

    key, title, paper, theorem, guarantee = "echo", "Echo", "test", "none", "approximate"
    answer = staticmethod(lambda value, rng: value)
    calls = []

    @classmethod
    def build(cls, query, budget, calibration, settings):
        cls.calls.append((query, budget, calibration, dict(settings)))
        return super().build(query, budget, calibration, settings)

    def _release(self, value, rng):
        return self.answer(value, rng)

    def _release_with_diagnostics(self, value, rng):
        return self._release(value, rng), {"sweeps": 7.0}


class DirectionalEcho(Echo):
    """An echo with MVG's options."""

    key = "directional-echo"
    options = get_mechanism("mvg").options


def settings_of(name, **changes):
    """The checked settings of a study in config/tiny.yaml, with some of them replaced."""
    settings = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())["studies"][name]
    return checked(name, settings | {"mechanisms": ["gaussian"]} | changes)


def reference(name, dataset, folder):
    """The problem and the point of the reference run."""
    settings = read_config(ROOT / "config/reference.yaml")["studies"][name]
    setup = setup_of(name, dataset, settings)
    (point,) = points_of(case_of(setup, "mvg"))
    return problem_of(setup, folder), point


def case(name, mechanism, calibration="published", options=None, **changes):
    """The case of a cell on bundled data; `mechanism` is a key or a class."""
    setup = setup_of(name, STUDIES[name][0], settings_of(name, **changes))
    return case_of(setup, variant(mechanism, **(options or {})), calibration)


def measure(name, mechanism, calibration="published", options=None, **changes):
    """Measure a cell on bundled data; return (problem, values). `mechanism` is a key or a class."""
    Echo.calls.clear()
    own = case(name, mechanism, calibration, options, **changes)
    problem = problem_of(own)
    return problem, measured(own, problem)


def series(values, metric, **at):
    """The values of one metric at exactly these coordinates, one per trial, in order."""
    found = [value for value in values if value.metric == metric and dict(value.at) == at]
    assert found, f"{metric} at {at} is not among {values}"
    assert [value.trial for value in found] == list(range(len(found)))
    return np.array([value.value for value in found])
