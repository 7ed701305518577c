"""Checks of single values: what is accepted, what it becomes, what is refused."""

import math

import pytest

from experiments.contract import settings as checks
from experiments.contract.settings import (
    REQUIRED,
    ConfigError,
    Setting,
    checked_mapping,
)


@pytest.mark.parametrize(
    ("convert", "value", "result"),
    [
        (checks.number(), "1e-5", 1e-5),  # PyYAML reads 1e-5 as text
        (checks.number(), 3, 3.0),
        (checks.number(0, 1), 1, 1.0),
        (checks.positive, "1e-300", 1e-300),
        (checks.integer(0), "1e5", 100_000),
        (checks.integer(0), 2.0, 2),
        (checks.integer(0), 2**63 + 1, 2**63 + 1),
        (checks.boolean, False, False),
        (checks.text, "a b", "a b"),
        (checks.name, "mvg-sqrt_2", "mvg-sqrt_2"),
        (checks.optional(checks.text), None, None),
        (checks.list_of(checks.positive), [1, "2e0"], [1.0, 2.0]),
        (checks.shape, "89x89", (89, 89)),
        (checks.shape, "7", (7,)),
        (checks.mapping_of(checks.positive), {"a": "1e-5"}, {"a": 1e-5}),
        (checks.mapping_of(checks.positive), {}, {}),
    ],
)
def test_accepted(convert, value, result):
    converted = convert(value)
    assert converted == result
    assert type(converted) is type(result)


@pytest.mark.parametrize(
    ("convert", "value"),
    [
        (checks.number(), "ten"),
        (checks.number(), True),
        (checks.number(), None),
        (checks.number(), [1]),
        (checks.number(), "nan"),
        (checks.number(), math.inf),
        pytest.param(checks.number(), 10**400, id="beyond floats"),
        (checks.number(0, 1), 1.0000001),
        (checks.positive, 0),
        (checks.positive, -1e-300),
        (checks.integer(1), 0),
        (checks.integer(1), 1.5),
        (checks.integer(1), "1e-1"),
        (checks.boolean, "yes"),
        (checks.boolean, 1),
        (checks.text, ""),
        (checks.text, 5),
        (checks.name, "Upper"),
        (checks.name, "../up"),
        (checks.name, "a b"),
        (checks.name, "-a"),
        (checks.optional(checks.text), 5),
        (checks.list_of(checks.positive), []),
        (checks.list_of(checks.positive), 1.0),
        (checks.list_of(checks.positive), [1, 1.0]),
        (checks.list_of(checks.positive), [1, "1e0"]),
        (checks.list_of(checks.positive), [1, 0]),
        (checks.shape, "0x3"),
        (checks.shape, "-1"),
        (checks.shape, "3x"),
        (checks.shape, "3 by 3"),
        (checks.shape, 9),
        (checks.mapping_of(checks.positive), {"a": 0}),
        (checks.mapping_of(checks.positive), {"A B": 1}),
        (checks.mapping_of(checks.positive), [1]),
    ],
)
def test_refused_with_the_key_the_value_and_what_is_allowed(convert, value):
    settings = {"key": Setting("of the right kind", convert, "for this test")}
    with pytest.raises(ConfigError) as caught:
        checked_mapping("some.path", {"key": value}, settings)
    assert str(caught.value) == (
        f"config key some.path.key must be of the right kind, got {value!r}"
    )


SETTINGS = {
    "seconds": Setting("a number > 0", checks.positive, "limit", 10.0),
    "folder": Setting("a path", checks.text, "where"),
}


def test_defaults_fill_what_is_absent():
    assert checked_mapping("", {"folder": "x"}, SETTINGS) == {"seconds": 10.0, "folder": "x"}


def test_a_required_key_is_asked_for():
    assert SETTINGS["folder"].default is REQUIRED
    with pytest.raises(ConfigError, match=r"config key limits\.folder is missing.*a path"):
        checked_mapping("limits", {"seconds": 1}, SETTINGS)


@pytest.mark.parametrize(("key", "near"), [("second", "seconds"), ("folders", "folder")])
def test_an_unknown_key_is_named_with_the_nearest(key, near):
    with pytest.raises(ConfigError) as caught:
        checked_mapping("limits", {"folder": "x", key: 1}, SETTINGS)
    assert str(caught.value) == (
        f"unknown config key limits.{key}; did you mean {near!r}? allowed here are seconds, folder"
    )


def test_an_unknown_key_far_from_all_gets_no_guess():
    with pytest.raises(ConfigError) as caught:
        checked_mapping("", {17: 1}, SETTINGS)
    assert str(caught.value) == "unknown config key 17; allowed here are seconds, folder"


@pytest.mark.parametrize("value", [None, [], "text", 3])
def test_a_section_must_be_a_mapping(value):
    with pytest.raises(ConfigError, match="limits must be a mapping"):
        checked_mapping("limits", value, SETTINGS)
