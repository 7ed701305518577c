"""Types of settings: accepted values, their conversion, and one-line refusals of all others."""

import math
from typing import Annotated, Literal

import pytest
from pydantic import Field

from studies.base import settings as types
from studies.base.settings import (
    ConfigError,
    Disallowed,
    MissingEntry,
    Section,
    UnknownName,
    read_settings,
)

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


NUMBER = "a number"
POSITIVES = "a list of numbers > 0"
SHAPE = "a shape such as 10x10 with at most 10^8 elements"
NAME = "a name of at most 80 lower-case letters, digits, - and _"


@pytest.mark.parametrize(
    ("kind", "value", "allowed"),
    [
        (types.Number, "ten", NUMBER),
        (types.Number, True, NUMBER),
        (types.Number, None, NUMBER),
        (types.Number, [1], NUMBER),
        (types.Number, "nan", NUMBER),
        (types.Number, math.inf, NUMBER),
        (types.Delta, 1, "a number in [0, 1)"),
        (types.Share, 0, "a number in (0, 1)"),
        (types.Positive, 0, "a number > 0"),
        (types.Positive, -1e-300, "a number > 0"),
        (types.Count, 0, "a whole number in [1, 10^9]"),
        (types.Count, 10**12, "a whole number in [1, 10^9]"),
        (types.Count, 1.5, "a whole number in [1, 10^9]"),
        (types.Count, "1e-1", "a whole number in [1, 10^9]"),
        (types.Count, "_5", "a whole number in [1, 10^9]"),
        (TwoOrMore, 1, "a whole number in [2, 10^9]"),
        (bool, "yes", "true or false"),
        (bool, 1, "true or false"),
        (types.Text, "", "a text"),
        (types.Text, 5, "a text"),
        (types.Name, "Upper", NAME),
        (types.Name, "../up", NAME),
        (types.Name, "-a", NAME),
        (types.Text | None, 5, "null or a text"),
        (types.Distinct[types.Positive], [], POSITIVES),
        (types.Distinct[types.Positive], 1.0, POSITIVES),
        (types.Shape, "0x3", SHAPE),
        (types.Shape, "-1", SHAPE),
        (types.Shape, "3x", SHAPE),
        (types.Shape, "100000x10000", SHAPE),
        (types.Shape, 9, SHAPE),
        (Literal["cpu", "auto"], "xyz", "cpu or auto"),
        (Literal["a", "b", "c"], "d", "a, b or c"),
        (types.ByDataset[types.Positive], [1], "a mapping from data sets to numbers > 0"),
    ],
)
def test_refused_with_the_key_the_value_and_what_is_allowed(kind, value, allowed):
    with pytest.raises(ConfigError) as caught:
        read(kind, value)
    assert str(caught.value) == (
        f"config key some.path.key must be {allowed}, got {types.shown(value)}"
    )


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (types.Distinct[types.Positive], [1, 0], "some.path.key[1] must be a number > 0, got 0"),
        (types.ByDataset[types.Positive], {"a": 0}, "some.path.key.a must be a number > 0, got 0"),
        (
            types.ByDataset[types.Positive],
            {"A B": 1},
            "some.path.key.A B: 'A B' must be a data set",
        ),
        (types.Distinct[types.Positive], [1, "1e0"], "got [1, '1e0']: 1.0 appears twice"),
        (Literal["l2", "linf"], "lnf", "must be l2 or linf, got 'lnf'; did you mean 'linf'?"),
        (types.Delta, "1e-400", "got '1e-400': 1e-400 would be read as 0.0; write a number that"),
        pytest.param(types.Number, 10**400, "would be read as inf; write", id="beyond floats"),
        (types.Distinct[types.Shape], ["2x2", "0x3"], f"some.path.key[1] must be {SHAPE}"),
    ],
)
def test_the_error_points_into_lists_and_mappings_and_gives_the_reason(kind, value, words):
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
            raise UnknownName("folder", "typo", ["type"])
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
        ({"seconds": 1}, "config key limits.folder is missing; it must be a text"),
        # The misspelt key is reported first, because it explains the missing one.
        (
            {"folders": "x"},
            "unknown config key limits.folders; did you mean 'folder'? allowed here are "
            "seconds, folder, low, high",
        ),
        (
            {"folder": "x", 17: 1},
            "unknown config key limits.17; allowed here are seconds, folder, low, high",
        ),
        ({"folder": "x", "low": 2}, "config key limits.high must be at least 2, got 1.0"),
        (
            {"folder": "typo"},
            "unknown config key limits.folder.typo; did you mean 'type'? allowed here are type",
        ),
        ({"folder": "empty"}, "config key limits.folder has no entry for a file; add one"),
        (None, "config key limits must be a mapping with seconds, folder, low, high, got None"),
    ],
)
def test_errors_in_a_nested_section_have_its_path(value, message):
    with pytest.raises(ConfigError) as caught:
        read_settings(Outer, {"limits": value}, "")
    assert str(caught.value) == message
