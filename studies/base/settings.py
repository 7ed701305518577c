"""Typed settings: pydantic models that refuse unknown keys, with one-line errors.

A study declares `class Settings(StudySettings)` with one field per setting. The types below read
values from YAML: a number may be text such as `1e-5`, which YAML does not read as a number; true
and false are not numbers. Errors derive the allowed values from the type and its limits.

Mechanisms check their options themselves (mechanisms/query/option.py), because they must be
importable with only numpy, scipy and mpmath installed.
"""

import math
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Self, TypeVar, Union, get_args, get_origin

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
from mechanisms.query.written_numbers import number_in, reads_as_float, whole_number_in
from studies.base.allowed_words import Words, unwrapped, words_of
from studies.base.yaml_file import ConfigError


class Fault(ValueError):
    """A fault that a check finds in a key below the section that it checks.

    Args:
        key: The path of the key from the section, such as "bounding_box.north".
        message: A function from the path of the key in the config to the message.
        name: The unknown name below the key, if that is the fault.
    """

    def __init__(self, key: str, message: Callable[[str], str], name: str = "") -> None:
        super().__init__(key)
        self.key, self.message, self.name = key, message, name

    def below(self, key: str) -> Self:
        """Prepend `key` to the path of the fault, and return the fault."""
        self.key = joined(key, self.key)
        return self

    def error(self, path: str) -> ConfigError:
        """The error to raise if the section is at `path`."""
        where = joined(path, self.key)
        return ConfigError(self.message(where), joined(where, self.name))


class Disallowed(Fault):
    """A value is not allowed; `allowed` completes the sentence "KEY must be ...".

    Args:
        key: The path of the key from the section.
        allowed: The allowed values, in words.
        value: The value that was given.
    """

    def __init__(self, key: str, allowed: str, value: object) -> None:
        super().__init__(
            key, lambda where: f"config key {where} must be {allowed}, got {shown(value)}"
        )


class MissingEntry(Fault):
    """The mapping at `key` lacks an entry that the run needs."""

    def __init__(self, key: str, entry: str) -> None:
        super().__init__(key, lambda where: f"config key {where} has no entry for {entry}; add one")


class UnknownName(Fault):
    """A key or an item below `key` names something that does not exist."""

    def __init__(self, key: str, name: object, known: Iterable[str]) -> None:
        known = list(known)
        super().__init__(key, lambda where: unknown_key(where, name, known), str(name))


class Section(BaseModel):
    """A mapping of the config with known keys. A subclass may override `check`."""

    model_config = ConfigDict(extra="forbid", strict=True, validate_default=True)

    def check(self) -> None:
        """Raise a Fault if settings do not fit together."""

    @model_validator(mode="after")
    def _fit(self):
        self.check()
        return self


def _read_number(value: Any) -> float:
    # Only numbers and texts that spell one: no boolean, list or null does.
    if not reads_as_float(str(value)):
        raise ValueError
    return number_in(str(value))


def _read_whole(value: Any) -> int:
    if not reads_as_float(str(value)):
        raise ValueError
    try:
        # No detour over float, which is exact only up to 2^53.
        return whole_number_in(str(value))
    except ValueError:
        raise ValueError from None


def _read_shape(value: Any) -> tuple[int, ...]:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9]+(x[0-9]+)*", value):
        raise ValueError
    axes = tuple(int(axis) for axis in value.split("x"))
    if min(axes) < 1 or math.prod(axes) > LARGEST_SHAPE:
        raise ValueError
    return axes


def _read_name(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,79}", value):
        raise ValueError
    return value


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
Text = Annotated[str, Field(min_length=1), Words("a text", "texts")]
Name = Annotated[
    str,
    BeforeValidator(_read_name),
    Words("a name of at most 80 lower-case letters, digits, - and _", "names"),
]
Shape = Annotated[
    tuple[int, ...],
    BeforeValidator(_read_shape),
    # JSON data has the shape as the config writes it.
    PlainSerializer(lambda axes: "x".join(map(str, axes)), when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+(x[0-9]+)*$"}),
    Words(
        "a shape such as 10x10 with at most 10^8 elements",
        "shapes such as 10x10 with at most 10^8 elements",
    ),
]
DatasetName = Annotated[Name, Words("a data set", "data sets")]
MechanismName = Annotated[Name, Words("a mechanism or variant", "mechanisms and variants")]

T = TypeVar("T")
Distinct = Annotated[list[T], Field(min_length=1), AfterValidator(_unique)]
# A mapping that needs an entry for every data set of the run, unless the field has a default.
ByDataset = dict[DatasetName, T]
ByMechanism = dict[MechanismName, T]


def read_settings(model: type[Section], value: Any, path: str, context: Any = None) -> Section:
    """Validate `value` as an instance of `model`.

    Raises:
        ConfigError: The value is not allowed; one line has the key, the value and what is allowed.
    """
    if not isinstance(value, dict):
        raise ConfigError(f"{path or 'the config'} must be a mapping, got {shown(value)}")
    try:
        return model.model_validate(value, context=context)
    except ValidationError as error:
        errors = error.errors()
    # A mistyped key is often why another one is missing.
    errors.sort(key=lambda each: each["type"] != "extra_forbidden")
    raise _config_error(model, path, errors[0])


def unknown_key(path: str, key: Any, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest name that does."""
    known = list(known)
    hint = nearest(key, known)
    return f"unknown config key {joined(path, str(key))}; {hint}allowed here are {', '.join(known)}"


def joined(path: str, *keys: Any) -> str:
    """Join keys to the path of a key; a number is a position in a list."""
    for key in keys:
        if isinstance(key, int):
            path = f"{path}[{key}]"
        elif key:
            path = f"{path}.{key}" if path else str(key)
    return path


def shown(value: Any) -> str:
    """Format a value for an error message; long values are cut."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:100]}... ({len(text)} characters)"


def _config_error(model: type[Section], path: str, error: dict) -> ConfigError:
    is_key = error["loc"][-1:] == ("[key]",)
    keys = [key for key in error["loc"] if key != "[key]"]
    where = joined(path, *keys)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Fault):
        return cause.error(where)
    if error["type"] in ("extra_forbidden", "invalid_key"):
        parent, _ = type_at(model, keys[:-1])
        message = unknown_key(joined(path, *keys[:-1]), keys[-1], parent.model_fields)
        return ConfigError(message, where)
    if is_key:
        mapping, _ = type_at(model, keys[:-1])
        allowed = words_of(get_args(mapping)[0]).one
        return ConfigError(f"config key {where}: {keys[-1]!r} must be {allowed}", where)
    kind, metadata = type_at(model, keys)
    allowed = words_of(kind, metadata).one
    if error["type"] == "missing":
        return ConfigError(f"config key {where} is missing; it must be {allowed}", where)
    reason = f": {cause}" if cause is not None and str(cause) else ""
    if error["type"] == "literal_error":
        reason = nearest(error["input"], get_args(kind), "; did you mean {!r}?")
    given = shown(error["input"])
    return ConfigError(f"config key {where} must be {allowed}, got {given}{reason}", where)


def type_at(model: type[BaseModel], keys: Sequence) -> tuple[Any, Sequence]:
    """The type and the limits of the value at a path of keys and positions below a model."""
    kind, metadata = unwrapped(model, ())
    for key in keys:
        if get_origin(kind) in (Union, types.UnionType):
            kind = _item(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            if key not in kind.model_fields:
                break
            field = kind.model_fields[key]
            kind, metadata = unwrapped(field.annotation, field.metadata)
        else:
            kind, metadata = unwrapped(_item(kind), ())
    return kind, metadata


def _item(kind: Any) -> Any:
    """The type in a list, a tuple of any length, a mapping, or a union with null."""
    some = [each for each in get_args(kind) if each not in (type(None), ...)]
    return some[-1] if some else Any
