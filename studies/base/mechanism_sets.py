"""Which mechanisms a study runs: all that support its query, all but some, or a list.

A new mechanism is in every set that starts from "all", so that no config has to list it.
"""

from collections.abc import Mapping
from typing import Any

from mechanisms import AdditiveMechanism, Mechanism
from studies.base.settings import Disallowed, UnknownName

# What a study may need of a mechanism's class: its `needs` is one of these words. Whether one can
# answer the query at hand shows when it is calibrated: if not, its rows are `unsupported`.
CAPABILITIES = {
    "any": lambda mechanism: True,
    "additive": lambda mechanism: issubclass(mechanism, AdditiveMechanism),
}
ALLOWED = "all, all-additive, a list of names, or a mapping with all, except, also"
_SHORT = {"all": {}, "all-additive": {"all": "additive"}}
_KEYS = ("all", "except", "also")
_NAMES = {"type": "array", "items": {"type": "string"}, "minItems": 1}
# The same as ALLOWED, as JSON Schema.
ALLOWED_JSON = {
    "anyOf": [
        {"enum": list(_SHORT)},
        _NAMES,
        {
            "type": "object",
            "properties": {"all": {"enum": list(CAPABILITIES)}, "except": _NAMES, "also": _NAMES},
            "additionalProperties": False,
        },
    ]
}


def chosen(
    value: Any,
    available: Mapping[str, type[Mechanism]],
    sets: Mapping[str, list[str]],
    needs: str = "any",
) -> list[str]:
    """The names that a set of mechanisms stands for, without repetitions.

    Args:
        value: A list of names; "all"; "all-additive"; or a mapping with `all` (a capability),
            `except` and `also` (lists of names). Names from `also` come first, in their order;
            the rest follows in the order of `available`.
        available: Mechanisms by name.
        sets: Lists of names that a name may stand for.
        needs: The capability that the study needs of "all".

    Raises:
        Disallowed, UnknownName: With a key relative to that of the set.
    """
    if isinstance(value, list):
        return _names(value, "", available, sets)
    if isinstance(value, str):
        value = _SHORT.get(value, value)
    if not isinstance(value, dict):
        raise Disallowed("", ALLOWED, value)
    for key in value:
        if key not in _KEYS:
            raise UnknownName("", key, _KEYS)
    capability = value.get("all", "any")
    if not isinstance(capability, str) or capability not in CAPABILITIES:
        raise Disallowed("all", " or ".join(CAPABILITIES), capability)
    also = _names(value["also"], "also", available, sets) if "also" in value else []
    excluded = _names(value["except"], "except", available, sets) if "except" in value else []
    rest = [
        name
        for name, mechanism in available.items()
        if name not in excluded
        and CAPABILITIES[needs](mechanism)
        and CAPABILITIES[capability](mechanism)
    ]
    return list(dict.fromkeys([*also, *rest]))


def _names(
    value: Any, key: str, available: Mapping[str, Any], sets: Mapping[str, list[str]]
) -> list[str]:
    """The names of a list, with those of `sets` replaced by what they stand for."""
    if not isinstance(value, list) or not value:
        raise Disallowed(key, "a list of mechanisms and variants" if key else ALLOWED, value)
    found: list[str] = []
    seen: set[str] = set()
    for name in value:
        if not isinstance(name, str):
            raise Disallowed(key, "a list of names of mechanisms, variants and sets", value)
        if name in seen:
            raise Disallowed(key, f"a list that has {name!r} once", value)
        seen.add(name)
        if name in sets:
            found += [each for each in sets[name] if each in available]
        elif name in available:
            found.append(name)
        else:
            raise UnknownName(key, name, [*available, *sets])
    return list(dict.fromkeys(found))
