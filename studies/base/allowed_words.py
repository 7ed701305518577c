"""Describe in words the values that the type of a setting allows."""

import math
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Words:
    """The values that a type allows, in words: as a singular and as a plural."""

    one: str
    many: str


def unwrapped(kind: Any, metadata: Sequence) -> tuple[Any, list]:
    """Strip Annotated from a type; return the type and all metadata, the outermost last."""
    found = list(metadata)
    while get_origin(kind) is Annotated:
        kind, *inner = get_args(kind)
        found = [*inner, *found]
    flat = []
    for item in found:
        flat += item.metadata if isinstance(item, FieldInfo) else [item]
    return kind, flat


def words_of(kind: Any, metadata: Sequence = ()) -> Words:
    """Describe the values that a type allows."""
    kind, metadata = unwrapped(kind, metadata)
    stated = [item for item in metadata if isinstance(item, Words)]
    if stated:
        return stated[-1]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Literal:
        *first, last = map(str, arguments)
        one = f"{', '.join(first)} or {last}" if first else last
        return Words(one, one)
    if origin is list:
        return _several("a list of", "lists of", words_of(arguments[0]).many)
    if origin is dict:
        keys, values = (words_of(each).many for each in arguments)
        return _several(f"a mapping from {keys} to", f"mappings from {keys} to", values)
    if origin in (Union, types.UnionType):
        some = [words_of(each) for each in arguments if each is not type(None)]
        return Words(f"null or {some[0].one}", f"null or {some[0].many}")
    if kind is bool:
        return Words("true or false", "true or false")
    if kind in (int, float):
        name = "whole number" if kind is int else "number"
        limits = _limits(metadata)
        return Words(f"a {name}{limits}", f"{name}s{limits}")
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return _several("a mapping with", "mappings with", ", ".join(kind.model_fields))
    return Words("any value", "any values")


def _several(one: str, many: str, rest: str) -> Words:
    return Words(f"{one} {rest}", f"{many} {rest}")


def _limits(metadata: Sequence) -> str:
    """Describe the limits of a number: " > 0" or " in [0, 1)"."""
    limits = {
        name: [getattr(item, name) for item in metadata if hasattr(item, name)]
        for name in ("ge", "gt", "le", "lt")
    }
    # A field may be narrower than its type: the tightest limits hold.
    lows = [*((low, 0) for low in limits["ge"]), *((low, 1) for low in limits["gt"])]
    highs = [*((high, 1) for high in limits["le"]), *((high, 0) for high in limits["lt"])]
    low, above = max(lows, default=(None, 0))
    high, reached = min(highs, default=(None, 1))
    if low is None and high is None:
        return ""
    if high is None:
        return f" {'>' if above else '>='} {_figure(low)}"
    if low is None:
        return f" {'<=' if reached else '<'} {_figure(high)}"
    left, right = "(" if above else "[", "]" if reached else ")"
    return f" in {left}{_figure(low)}, {_figure(high)}{right}"


def _figure(value: float) -> str:
    digits = math.log10(value) if value >= 1e5 or 0 < value <= 1e-5 else 0.5
    return f"10^{round(digits)}" if digits == int(digits) else f"{value:.12g}"
