"""Settings, variants and numbers of trials: accepted values, and refusals of all others."""

import ast
import math
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import pytest
from one_case import case_of, setup_of
from pydantic import Field

from mechanisms import AdditiveMechanism, Budget, Inconsistent, Query
from mechanisms.noise.gaussian_noise import IndependentGaussian
from studies.base import Variant, case
from studies.base import settings as types
from studies.base.settings import (
    ConfigError,
    Disallowed,
    MissingEntry,
    Section,
    read_settings,
    refuse_unknown,
)
from studies.base.training import TrainingSettings

TwoOrMore = Annotated[types.Count, Field(ge=2)]


def section(kind):
    class Made(Section):
        key: kind = Field(description="for this test")

    return Made


def read(kind, value):
    return read_settings(section(kind), {"key": value}, "some.path").model_dump()["key"]


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        (types.Number, "1e-5", 1e-5),  # PyYAML reads 1e-5 as a text
        (types.Number, 3, 3.0),
        (types.Delta, 0, 0.0),
        (types.Positive, "1e-300", 1e-300),
        (types.Whole, "1e5", 100_000),
        (types.Whole, 2.0, 2),
        (types.Whole, 2**63 + 1, 2**63 + 1),
        (types.Whole, "9007199254740993", 2**53 + 1),
        (TwoOrMore, 2, 2),
        (bool, False, False),
        (types.Text, "a b", "a b"),
        (types.Name, "mvg-sqrt_2", "mvg-sqrt_2"),
        (types.Text | None, None, None),
        (types.Distinct[types.Positive], [1, "2e0"], [1.0, 2.0]),
        (types.Shape, "89x89", (89, 89)),
        (types.Shape, "7", (7,)),
        (Literal["cpu", "auto"], "auto", "auto"),
        (types.ByDataset[types.Positive], {"a": "1e-5"}, {"a": 1e-5}),
        (types.ByDataset[types.Positive], {}, {}),
    ],
)
def test_accepted(kind, value, result):
    found = read(kind, value)
    assert found == result
    assert type(found) is type(result)


SHAPE = "must be a shape such as 10x10 with at most 10^8 elements"
NAME = "String should match pattern '^[a-z0-9][a-z0-9_-]{0,79}$'"


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (types.Number, "ten", "'ten' is no number"),
        (types.Number, True, "'True' is no number"),
        (types.Number, None, "'None' is no number"),
        (types.Number, [1], "'[1]' is no number"),
        (types.Number, "nan", "Input should be a finite number"),
        (types.Number, math.inf, "Input should be a finite number"),
        (types.Delta, 1, "Input should be less than 1"),
        (types.Delta, "1e-400", "1e-400 would be read as 0.0; write a number that a float64 holds"),
        (types.Share, 0, "Input should be greater than 0"),
        (types.Positive, -1e-300, "Input should be greater than 0"),
        (types.Count, 0, "Input should be greater than or equal to 1"),
        (types.Count, 10**12, "Input should be less than or equal to 1000000000"),
        (types.Count, 1.5, "1.5 is not a whole number"),
        (types.Count, "1e-1", "1e-1 is not a whole number"),
        (TwoOrMore, 1, "Input should be greater than or equal to 2"),
        (bool, "yes", "Input should be a valid boolean"),
        (bool, 1, "Input should be a valid boolean"),
        (types.Text, "", "String should have at least 1 character"),
        (types.Text | None, 5, "Input should be a valid string"),
        (types.Name, "Upper", NAME),
        (types.Name, "../up", NAME),
        (types.Name, "-a", NAME),
        (types.Name, "a\n", NAME),
        (types.Distinct[types.Positive], 1.0, "Input should be a valid list"),
        (types.Distinct[types.Positive], [1, "1e0"], "1.0 appears twice; remove one"),
        (types.Shape, "0x3", SHAPE),
        (types.Shape, "-1", SHAPE),
        (types.Shape, "3x", SHAPE),
        (types.Shape, "100000x10000", SHAPE),
        (types.Shape, 9, SHAPE),
        (Literal["a", "b", "c"], "d", "Input should be 'a', 'b' or 'c'"),
        (types.ByDataset[types.Positive], [1], "Input should be a valid dictionary"),
    ],
)
def test_refused_with_the_key_the_value_and_what_is_allowed(kind, value, problem):
    with pytest.raises(ConfigError) as caught:
        read(kind, value)
    assert str(caught.value) == f"key some.path.key: {problem}, got {types.shown(value)}"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (types.Distinct[types.Positive], [1, 0], "key some.path.key.1: Input should be greater"),
        (types.ByDataset[types.Positive], {"a": 0}, "key some.path.key.a: Input should be greater"),
        (dict[types.Name, int], {"A B": 1}, "key some.path.key.A B: String should match pattern"),
    ],
)
def test_the_error_points_into_lists_and_mappings(kind, value, words):
    with pytest.raises(ConfigError) as caught:
        read(kind, value)
    assert words in str(caught.value)


class Limits(Section):
    seconds: types.Positive = Field(10.0, description="limit")
    folder: types.Text = Field(description="where")
    low: types.Number = 0.0
    high: types.Number = 1.0

    def check(self):
        if self.low > self.high:
            raise Disallowed("high", f"at least {self.low:g}", self.high)
        if self.folder == "typo":
            refuse_unknown("folder", ["typo"], ["type"])
        if self.folder == "empty":
            raise MissingEntry("folder", "a file")


class Outer(Section):
    limits: Limits


def test_defaults_fill_what_is_absent():
    found = read_settings(Limits, {"folder": "x"}, "").model_dump()
    assert found == {"seconds": 10.0, "folder": "x", "low": 0.0, "high": 1.0}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"seconds": 1}, "key limits.folder: Field required"),
        # The misspelt key is reported first, because it explains the missing one.
        (
            {"folders": "x"},
            "key limits.folders: unknown name; did you mean 'folder'? allowed here are "
            "seconds, folder, low, high",
        ),
        (
            {"folder": "x", 17: 1},
            "key limits.17: unknown name; allowed here are seconds, folder, low, high",
        ),
        ({"folder": "x", "low": 2}, "key limits.high: must be at least 2, got 1.0"),
        (
            {"folder": "typo"},
            "key limits.folder.typo: unknown name; did you mean 'type'? allowed here are type",
        ),
        ({"folder": "empty"}, "key limits.folder: no entry for a file; add one"),
        (None, "key limits: Input should be a valid dictionary or instance of Limits, got None"),
    ],
)
def test_errors_in_a_nested_section_have_its_path(value, message):
    with pytest.raises(ConfigError) as caught:
        read_settings(Outer, {"limits": value}, "")
    assert str(caught.value) == message


ROOT = Path(__file__).resolve().parents[3]
QUERY = Query(shape=(4, 4), l2_sensitivity=1.0)


class Wrong(IndependentGaussian):
    """Noise that draws a hundredth of the stated size."""

    def sample(self, rng, trials, dtype=float):
        return super().sample(rng, trials, dtype) / 100


class Understated(AdditiveMechanism):
    """A mechanism with wrong noise; `asked` counts calibrations."""

    key, title, paper, theorem, guarantee = "wrong", "Wrong", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return Wrong(shape=query.shape, sigma=5 / budget.epsilon)


class WrongBelowOne(Understated):
    """A mechanism whose noise is wrong only at epsilons below 1."""

    @classmethod
    def noise_for(cls, query, budget):
        noise = Wrong if budget.epsilon < 1 else IndependentGaussian
        return noise(shape=query.shape, sigma=5 / budget.epsilon)


def test_a_mistake_at_a_further_budget_is_inconsistent_there():
    variant = Variant(name="wrong", mechanism=WrongBelowOne)
    assert variant.calibrate(QUERY, Budget(epsilon=1.0, delta=1e-5))
    for _ in range(2):
        with pytest.raises(Inconsistent, match="mean squared norm"):
            variant.calibrate(QUERY, Budget(epsilon=0.5, delta=1e-5))
    assert variant.calibrate(QUERY, Budget(epsilon=2.0, delta=1e-5))


def test_every_mechanism_is_checked_and_the_first_of_a_calibration_at_length(monkeypatch):
    calls = []
    monkeypatch.setattr(
        case,
        "require_consistent_in_study",
        lambda mechanism, seed, first: calls.append((mechanism, seed, first)),
    )
    variant, made = Variant(name="wrong", mechanism=Understated), []
    for query in (QUERY, Query(shape=(2, 3), l2_sensitivity=1.0)):
        for calibration in ("published", "exact"):
            for epsilon in (0.5, 1.0, 1.0):
                budget = Budget(epsilon=epsilon, delta=1e-5)
                mechanism, seconds = variant.timed_calibration(query, budget, calibration)
                assert (mechanism.budget, mechanism.calibration) == (budget, calibration)
                assert seconds > 0
                made.append(mechanism)
    assert [mechanism for mechanism, _, _ in calls] == made
    assert [first for _, _, first in calls] == [True, False, False] * 2 + [False] * 6
    assert len({seed for _, seed, _ in calls}) == 4


# This study times the calibration to the directions of an SVD many times.
TIMED = {"studies/noise_only.py"}


def test_every_study_calibrates_through_its_variant():
    """A direct call of `case.mechanism.calibrate` would skip the check."""
    direct = set()
    for top in ("studies", "learning", "extend"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(
                    "case.mechanism.calibrate"
                ):
                    direct.add(str(path.relative_to(ROOT)))
    assert direct == TIMED


SETTINGS = TrainingSettings(
    datasets=["adult", "mnist"], mechanisms=["gaussian"], trials=3, trials_for={"adult": 20}
)


def test_a_data_set_may_have_trials_of_its_own():
    adult, mnist = (
        case_of(setup_of("dpsgd", dataset, SETTINGS), "gaussian") for dataset in ("adult", "mnist")
    )
    assert (adult.trials, mnist.trials) == (range(20), range(3))
    assert replace(adult, calibration="exact").trials == range(20)
    # A job for one trial runs that trial.
    assert replace(adult, trial=7).trials == range(7, 8)


def test_the_exact_calibration_may_have_trials_of_its_own():
    settings = SETTINGS.model_copy(update={"exact_trials": 2})
    case = case_of(setup_of("dpsgd", "adult", settings), "gaussian")
    assert (case.trials, replace(case, calibration="exact").trials) == (range(20), range(2))
