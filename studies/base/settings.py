"""Typed settings: pydantic models that refuse unknown keys, with one-line errors.

A study declares `class Settings(StudySettings)` with one field per setting. The types below read
values from YAML: a number may be text such as `1e-5`, which YAML does not read as a number; true
and false are not numbers. Pydantic's messages say what is allowed.

Mechanisms check their options themselves (mechanisms/query/option.py), because they must be
importable with only numpy, scipy and mpmath installed.
"""

import math
import re
from collections.abc import Iterable
from typing import Annotated, Any, NewType, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from mechanisms.query.query import EPSILONS
from mechanisms.query.words import nearest
from mechanisms.query.written_numbers import number_in, whole_number_in
from studies.base.yaml_file import ConfigError, joined


class Disallowed(ConfigError):
    """A value is not allowed; `allowed` completes the sentence "KEY must be ...".

    Args:
        key: The path of the key from the section that is checked, such as "bounding_box.north".
        allowed: The allowed values, in words.
        value: The value that was given.
    """

    def __init__(self, key: str, allowed: str, value: object) -> None:
        super().__init__(f"must be {allowed}, got {shown(value)}", key)


class MissingEntry(ConfigError):
    """The mapping at `key` lacks an entry that the run needs."""

    def __init__(self, key: str, entry: str) -> None:
        super().__init__(f"no entry for {entry}; add one", key)


class KnownKeys(BaseModel):
    """A mapping with known keys. A subclass may override `check`."""

    # The validator below already refuses other keys and names the nearest one. This line makes the
    # JSON schema refuse them too.
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, value: Any) -> Any:
        if isinstance(value, dict):
            refuse_unknown("", value, cls.model_fields)
        return value

    def check(self) -> None:
        """Raise a ConfigError, with the path of the key below this one, if values do not fit."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        self.check()
        return self


class Section(KnownKeys):
    """A mapping of the config with known keys. A subclass may override `check`."""

    model_config = ConfigDict(strict=True, validate_default=True)


def refuse_unknown(key: str, names: Iterable[Any], known: Iterable[str]) -> None:
    """Raise ConfigError for an unknown name below `key`, and suggest the nearest known one."""
    known = list(known)
    for name in names:
        if name not in known:
            problem = f"unknown name; {nearest(name, known)}allowed here are {', '.join(known)}"
            raise ConfigError(problem, joined(key, name))


def _read_number(value: Any) -> float:
    # Takes only numbers and texts that spell one, because no boolean, list or null spells one.
    return number_in(str(value))


def _read_whole(value: Any) -> int:
    # Does not go through float, which is exact only up to 2^53.
    return whole_number_in(str(value))


def _read_shape(value: Any) -> tuple[int, ...]:
    if isinstance(value, str) and re.fullmatch(r"[0-9]+(x[0-9]+)*", value):
        axes = tuple(int(axis) for axis in value.split("x"))
        if min(axes) >= 1 and math.prod(axes) <= LARGEST_SHAPE:
            return axes
    raise ValueError("must be a shape such as 10x10 with at most 10^8 elements")


def _unique(values: list) -> list:
    for index, value in enumerate(values):
        if value in values[:index]:
            name = "x".join(map(str, value)) if isinstance(value, tuple) else shown(value)
            raise ValueError(f"{name} appears twice; remove one")
    return values


LARGEST_SHAPE = 10**8
LARGEST_COUNT = 10**9
MOST_TRIALS = 10**6

_WRITTEN = {"type": ["number", "string"], "pattern": r"^[-+]?[0-9._]+([eE][-+]?[0-9]+)?$"}
Number = Annotated[
    float,
    BeforeValidator(_read_number),
    Field(allow_inf_nan=False, json_schema_extra=_WRITTEN),
]
Positive = Annotated[Number, Field(gt=0)]
Epsilon = Annotated[Number, Field(ge=EPSILONS[0], le=EPSILONS[1])]
Share = Annotated[Number, Field(gt=0, lt=1)]
Delta = Annotated[Number, Field(ge=0, lt=1)]
Whole = Annotated[
    int,
    BeforeValidator(_read_whole),
    Field(json_schema_extra=_WRITTEN | {"type": ["integer", "string"]}),
]
Count = Annotated[Whole, Field(ge=1, le=LARGEST_COUNT)]
Trials = Annotated[Whole, Field(ge=1, le=MOST_TRIALS)]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,79}$")]
Shape = Annotated[
    tuple[int, ...],
    BeforeValidator(_read_shape),
    # JSON data has the shape as the config writes it.
    PlainSerializer(lambda axes: "x".join(map(str, axes)), when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+(x[0-9]+)*$"}),
]
DatasetName = NewType("DatasetName", str)
MechanismName = NewType("MechanismName", str)

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_unique)]
# A mapping that needs an entry for every data set of the run, unless the field has a default.
ByDataset = dict[DatasetName, T]
ByMechanism = dict[MechanismName, T]


def read_settings(model: type[Model], value: Any, path: str = "", context: Any = None) -> Model:
    """Validate `value`, which is at `path` in its file, as an instance of `model`.

    Raises:
        ConfigError: The value is not allowed. The message, one line, has the key, the value and
            what is allowed.
    """
    try:
        return model.model_validate(value, context=context)
    except ValidationError as failure:
        error = failure.errors()[0]
    where = joined(path, *(key for key in error["loc"] if key != "[key]"))
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, ConfigError):
        raise cause.below(where)
    problem = error["msg"].removeprefix("Value error, ")
    given = "" if error["type"] == "missing" else f", got {shown(error['input'])}"
    raise ConfigError(f"{problem}{given}", where)


def shown(value: Any) -> str:
    """Format a value for an error message; long values are cut."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:100]}... ({len(text)} characters)"
