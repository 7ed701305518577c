"""The JSON schema of a config: with it, an editor completes keys and marks mistyped ones.

It allows all that `runs.config.check_config` allows, and more: what depends on names in the config
itself, such as its sets of mechanisms, is not in it.
"""

from collections import Counter
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from runs.config import Included, RunSettings
from studies.base.study import all_studies

# Pydantic names the limits of a field in its own words where its type has a validator before it.
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class _Generator(GenerateJsonSchema):
    """Leaves out titles of fields, which only repeat the keys."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def config_schema() -> dict[str, Any]:
    """What a config may have, and a file that configs include, as JSON Schema, draft 7."""
    models = {name: study.Settings for name, study in all_studies().items()}
    references, found = models_json_schema(
        [(model, "validation") for model in dict.fromkeys([RunSettings, *models.values()])],
        schema_generator=_Generator,
    )
    definitions = _in_words_of_json(found["$defs"])
    run = definitions.pop("RunSettings")
    studies = {name: references[model, "validation"] for name, model in models.items()}
    run["properties"]["studies"] |= {"properties": studies, "additionalProperties": False}
    whole = {"required": run.pop("required")}
    included = {"propertyNames": {"enum": list(Included.model_fields)}}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **run,
        "anyOf": [whole, included],
        "$defs": definitions | _shared([each["properties"] for each in definitions.values()]),
    }


def _in_words_of_json(value: Any) -> Any:
    """A part of a schema with JSON Schema's words for limits."""
    if isinstance(value, list):
        return [_in_words_of_json(each) for each in value]
    if isinstance(value, dict):
        return {_LIMITS.get(key, key): _in_words_of_json(each) for key, each in value.items()}
    return value


def _shared(sections: list[dict[str, Any]]) -> dict[str, Any]:
    """Keys that several sections have alike, as definitions; the sections then refer to them."""
    counts = Counter((key, repr(value)) for keys in sections for key, value in keys.items())
    found: dict[str, Any] = {}
    for keys in sections:
        for key, value in keys.items():
            if counts[key, repr(value)] > 1 and found.setdefault(key, value) == value:
                keys[key] = {"$ref": f"#/$defs/{key}"}
    return found
