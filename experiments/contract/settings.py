"""Checks of configuration values: each names the key, the value and what is allowed."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any


class ConfigError(ValueError):
    """A configuration key or value is not allowed; the message says which, and what is."""


@dataclass(frozen=True)
class Setting:
    """One configuration key.

    Args:
        allowed: The allowed values in words.
        convert: Returns the value as the code uses it, or raises ValueError.
        description: What it does, with its unit.
        default: The value where the key is absent; `REQUIRED` where it must be there.
    """

    allowed: str
    convert: Callable[[Any], Any]
    description: str
    default: Any = ...


REQUIRED = ...


def checked_mapping(path: str, value: Any, settings: dict[str, Setting]) -> dict[str, Any]:
    """`value` with every setting converted and defaults filled in; unknown keys are errors."""
    if not isinstance(value, dict):
        raise ConfigError(f"{path or 'the config'} must be a mapping, got {value!r}")
    for key in value:
        if key not in settings:
            raise ConfigError(unknown_key(path, key, settings))
    return {name: _checked(path, name, value, setting) for name, setting in settings.items()}


def require_entries(experiment: str, settings: dict, *keys: str) -> None:
    """Raise ConfigError unless these mappings have an entry for every data set of the config."""
    for key in keys:
        for dataset in settings["datasets"]:
            if dataset not in settings[key]:
                raise ConfigError(
                    f"config key experiments.{experiment}.{key} has no entry for {dataset}"
                )


def unknown_key(path: str, key: Any, known: Iterable[str]) -> str:
    """The message for a key that does not exist, with the nearest one that does."""
    known = list(known)
    near = difflib.get_close_matches(str(key), known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    where = f"{path}.{key}" if path else str(key)
    return f"unknown config key {where}; {hint}allowed here are {', '.join(known)}"


def _checked(path: str, name: str, value: dict, setting: Setting) -> Any:
    where = f"{path}.{name}" if path else name
    if name not in value:
        if setting.default is REQUIRED:
            raise ConfigError(f"config key {where} is missing; it must be {setting.allowed}")
        return setting.default
    try:
        return setting.convert(value[name])
    except ConfigError:
        raise
    except (TypeError, ValueError, OverflowError):
        raise ConfigError(
            f"config key {where} must be {setting.allowed}, got {value[name]!r}"
        ) from None


def number(low: float = -math.inf, high: float = math.inf) -> Callable[[Any], float]:
    """A finite number in [low, high]; YAML reads 1e-5 as text, which is accepted here."""

    def convert(value: Any) -> float:
        if isinstance(value, bool) or value is None:
            raise ValueError
        result = float(value)
        if not math.isfinite(result) or not low <= result <= high:
            raise ValueError
        return result

    return convert


def positive(value: Any) -> float:
    """A finite number above zero."""
    result = number()(value)
    if result <= 0:
        raise ValueError
    return result


def integer(low: int = 0) -> Callable[[Any], int]:
    """A whole number of at least `low`; 1e5 is accepted as 100000."""

    def convert(value: Any) -> int:
        result = number(low)(value)
        if result != int(result):
            raise ValueError
        # Not by way of a float where it is one already: those end at 2^53.
        return value if isinstance(value, int) else int(result)

    return convert


def boolean(value: Any) -> bool:
    """true or false."""
    if not isinstance(value, bool):
        raise ValueError
    return value


def text(value: Any) -> str:
    """A non-empty text."""
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def name(value: Any) -> str:
    """A word that is safe in a file name: lower-case letters, digits, - and _."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", text(value)):
        raise ValueError
    return value


def one_of(*names: str) -> Callable[[Any], str]:
    """One of a few names."""

    def convert(value: Any) -> str:
        if value not in names:
            raise ValueError
        return value

    return convert


def optional(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """null, or what `convert` accepts."""
    return lambda value: None if value is None else convert(value)


def list_of(convert: Callable[[Any], Any]) -> Callable[[Any], list]:
    """A non-empty list without repetitions."""

    def convert_list(value: Any) -> list:
        if not isinstance(value, list) or not value:
            raise ValueError
        result = [convert(item) for item in value]
        if any(item in result[:i] for i, item in enumerate(result)):
            raise ValueError
        return result

    return convert_list


def shape(value: Any) -> tuple[int, ...]:
    """A shape written as 89x89."""
    axes = tuple(int(axis) for axis in text(value).split("x"))
    if min(axes) < 1:
        raise ValueError
    return axes


def mapping_of(convert: Callable[[Any], Any]) -> Callable[[Any], dict]:
    """A mapping from names to what `convert` accepts."""

    def convert_mapping(value: Any) -> dict:
        if not isinstance(value, dict):
            raise ValueError
        return {name(key): convert(item) for key, item in value.items()}

    return convert_mapping
