"""The sets of mechanisms that a study runs: all that support its query, all but some, or a list.

Every set that starts from "all" includes new mechanisms, so that no config has to list them.
"""

from collections.abc import Mapping
from itertools import chain
from typing import Any

from mechanisms import Mechanism
from studies.base.settings import Disallowed, refuse_unknown
from studies.base.yaml_file import joined

ALLOWED = "all, a list of names, or a mapping with except, also"
_KEYS = ("also", "except")
_NAMES = {"type": "array", "items": {"type": "string"}}
# The same as ALLOWED, as JSON Schema.
ALLOWED_JSON = {
    "anyOf": [
        {"const": "all"},
        _NAMES,
        {
            "type": "object",
            "properties": dict.fromkeys(_KEYS, _NAMES),
            "additionalProperties": False,
        },
    ]
}


def chosen(
    value: Any,
    available: Mapping[str, type[Mechanism]],
    sets: Mapping[str, list[str]],
    needs: type[Mechanism] = Mechanism,
    key: str = "",
) -> list[str]:
    """Expand a set of mechanisms to a list of names without repetitions.

    Args:
        value: A list of names; "all"; or a mapping with `except` and `also` (lists of names). Names
            from `also` come first, in their order; the others follow in the order of `available`.
        available: Mechanisms by name.
        sets: The named sets of the config, as lists of names.
        needs: The class that the study requires of the mechanisms in "all".
        key: The path of the set in the config.

    Raises:
        ConfigError: The value is of another form, or a name is unknown.
    """
    if isinstance(value, list):
        return _names(value, key, available, sets)
    if value == "all":
        value = {}
    if not isinstance(value, dict):
        raise Disallowed(key, ALLOWED, value)
    refuse_unknown(key, value, _KEYS)
    also, excluded = (
        _names(value.get(part, []), joined(key, part), available, sets) for part in _KEYS
    )
    rest = [
        name
        for name, mechanism in available.items()
        if name not in excluded and issubclass(mechanism, needs)
    ]
    return list(dict.fromkeys([*also, *rest]))


def _names(
    value: Any, key: str, available: Mapping[str, Any], sets: Mapping[str, list[str]]
) -> list[str]:
    """Read a list of names, and replace the name of a set by its available members."""
    if not isinstance(value, list):
        raise Disallowed(key, "a list of names of mechanisms, variants and sets", value)
    refuse_unknown(key, value, [*available, *sets])
    found = chain.from_iterable(sets.get(name, [name]) for name in value)
    return list(dict.fromkeys(name for name in found if name in available))
