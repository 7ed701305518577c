"""The JSON schema of a config, with which an editor completes keys and marks mistyped ones.

It allows everything that `runs.config.check_config` allows, and more: it has no rules that depend
on names in the config itself, such as its sets of mechanisms.
"""

from collections import Counter
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from runs.config import Included, RunSettings
from studies.base.study import all_studies

# Pydantic keeps its own names for the limits of a field whose type has a "before" validator.
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class _Generator(GenerateJsonSchema):
    """Omits the titles of fields, which only repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 7) of a config and of a file that configs include."""
    models = {name: study.Settings for name, study in all_studies().items()}
    references, found = models_json_schema(
        [(model, "validation") for model in dict.fromkeys([RunSettings, *models.values()])],
        schema_generator=_Generator,
    )
    definitions = _rename_limits(found["$defs"])
    run = definitions.pop("RunSettings")
    studies = {name: references[model, "validation"] for name, model in models.items()}
    run["properties"]["studies"] |= {"properties": studies, "additionalProperties": False}
    whole = {"required": run.pop("required")}
    included = {"propertyNames": {"enum": list(Included.model_fields)}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **run,
        "anyOf": [whole, included],
        "$defs": definitions
        | _extract_shared([each["properties"] for each in definitions.values()]),
    }


def _rename_limits(value: Any) -> Any:
    """Rename limits in a part of a schema to the names of JSON Schema."""
    if isinstance(value, list):
        return [_rename_limits(each) for each in value]
    if isinstance(value, dict):
        return {_LIMITS.get(key, key): _rename_limits(each) for key, each in value.items()}
    return value


def _extract_shared(sections: list[dict[str, Any]]) -> dict[str, Any]:
    """Turn keys that several sections share into definitions to which the sections then refer."""
    counts = Counter((key, repr(value)) for keys in sections for key, value in keys.items())
    found: dict[str, Any] = {}
    for keys in sections:
        for key, value in keys.items():
            if counts[key, repr(value)] > 1 and found.setdefault(key, value) == value:
                keys[key] = {"$ref": f"#/$defs/{key}"}
    return found
