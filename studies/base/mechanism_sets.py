"""The sets of mechanisms that a study runs: all that support its query, all but some, or a list.

Every set that starts from "all" includes new mechanisms, so that no config has to list them.
"""

from collections.abc import Mapping
from typing import Any

from mechanisms import AdditiveMechanism, Mechanism
from studies.base.settings import Disallowed, UnknownName

# The requirements that a study may have of a mechanism's class; its `needs` is one of these keys.
# Only the calibration shows whether a mechanism supports the query; if not, its rows are
# `unsupported`.
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
    """Expand a set of mechanisms to a list of names without repetitions.

    Args:
        value: A list of names; "all"; "all-additive"; or a mapping with `all` (a capability),
            `except` and `also` (lists of names). Names from `also` come first, in their order;
            the others follow in the order of `available`.
        available: Mechanisms by name.
        sets: The named sets of the config, as lists of names.
        needs: The capability that the study requires of the mechanisms in "all".

    Raises:
        Disallowed, UnknownName: The set is not allowed; the key is relative to that of the set.
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
    """Read a list of names, and replace the name of a set by its members."""
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
