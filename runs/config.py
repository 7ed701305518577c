"""The configuration of a run: the definition of every key, and checks before anything runs."""

import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import Field
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from mechanisms import Mechanism, UnknownMechanism, all_mechanisms, get_mechanism
from studies.base.mechanism_sets import chosen
from studies.base.settings import (
    ConfigError,
    Distinct,
    Name,
    Positive,
    Section,
    Text,
    Whole,
    read_settings,
    refuse_unknown,
)
from studies.base.study import all_studies
from studies.base.study_settings import StudySettings, Surroundings
from studies.base.yaml_file import errors_in, read_yaml


class Data(Section):
    """The sources of the data."""

    folder: Text = Field("data", description="where downloaded files are kept")
    mirror: Text | None = Field(
        None,
        description="a folder or a URL, tried before the official addresses; the environment "
        "variable DATA_MIRROR takes precedence",
    )


# The paths of included files are relative to this folder.
PROJECT = Path(__file__).resolve().parents[1]


class Limits(Section):
    """Limits of one cell: too many seconds fail all its remaining points, too much memory one."""

    seconds: Positive = Field(
        3600.0, le=365 * 24 * 3600, description="wall-clock seconds of one cell, a year at most"
    )
    memory_gib: Positive = Field(2.0, le=10**5, description="resident memory of one cell, GiB")


class VariantSettings(Section):
    """A mechanism with options, under a name of its own."""

    use: Text = Field(description="the mechanism's key, or module:Class")
    options: dict[str, Any] = Field({}, description="its options")


Variants = Annotated[
    dict[Name, VariantSettings], Field(description="mechanisms with options, under names")
]
Sets = Annotated[
    dict[Name, Distinct[Text]],
    Field(
        description="names for lists of mechanisms, variants and earlier sets, for use in "
        "`mechanisms`"
    ),
]


class Included(Section):
    """The keys of a file that configs `include`."""

    variants: Variants = {}
    sets: Sets = {}


class RunSettings(Section):
    """The keys of a config."""

    run: Name = Field(
        description="name of the run, of at most 80 lower-case letters, digits, - and _; results "
        "go to results/<run>/"
    )
    seed: Whole = Field(0, ge=0, description="base seed of every draw")
    strict: bool = Field(
        True, description="end with status 1 when a row has status error, timeout or inconsistent"
    )
    cells_per_job: Whole = Field(
        8, ge=1, description="most cells of a study that one job runs, one after the other"
    )
    data: Data = Field(Data(), description="where data come from")
    limits: Limits = Field(Limits(), description="limits of one cell")
    include: Text | None = Field(
        None,
        description="a file, by its path from the project's folder, with `variants` and `sets` to "
        "which the config adds its own",
    )
    also: Distinct[Text] | None = Field(
        None,
        description="mechanisms of your own as module:Class, each under its key; every study that "
        "can use one runs it, whatever its `mechanisms`",
    )
    variants: Variants = {}
    sets: Sets = {}
    studies: dict[str, Any] = Field(
        min_length=1, description="the studies to run, with their settings"
    )


def read_config(path: Path | str) -> dict[str, Any]:
    """Read and check a YAML file; see `check_config`. Errors name the file and the line."""
    content = read_yaml(path)
    with errors_in(path):
        return check_config(content)


def check_config(config: Any) -> dict[str, Any]:
    """Check a config, convert its numbers and fill in its defaults.

    The settings of a study become an instance of its `Settings`.

    Raises:
        ConfigError: A key or a value is wrong. The message has the path of the key, the value, what
            is allowed and the nearest name.
    """
    run = read_settings(RunSettings, config)
    if run.include is not None:
        run = _merge_included(run, run.include)
    also = _own_mechanisms(run)
    run = run.model_copy(update={"variants": run.variants | also})
    available = all_mechanisms() | _variants(run.variants)
    sets = _sets(run.sets, available)
    checked = run.model_dump(exclude={"include"}) | {"sets": sets}
    checked["data"]["mirror"] = os.environ.get("DATA_MIRROR") or run.data.mirror
    known = all_studies()
    refuse_unknown("studies", run.studies, known)
    for name, settings in run.studies.items():
        near = Surroundings(study=known[name], available=available, sets=sets, also=also)
        path = f"studies.{name}"
        checked["studies"][name] = read_settings(known[name].Settings, settings, path, near)
    return checked


def _own_mechanisms(run: RunSettings) -> dict[str, VariantSettings]:
    """Return the mechanisms of `also` by their keys, as variants without options."""
    found = {}
    for name in run.also or ():
        key = _load_class(name, "also").key
        if key in {*all_mechanisms(), *run.variants, *found}:
            raise ConfigError(f"{name} has the key {key!r} of another mechanism; change it", "also")
        found[key] = VariantSettings(use=name)
    return found


def _load_class(name: str, path: str) -> type[Mechanism]:
    """Return the class of a mechanism; a ConfigError says that `path` in the config is wrong."""
    try:
        return get_mechanism(name)
    except (UnknownMechanism, TypeError) as error:
        raise ConfigError(str(error), path) from None


def _merge_included(run: RunSettings, include: str) -> RunSettings:
    """Put the variants and sets of the file `include` before those of the config."""
    try:
        included = _read_included(PROJECT / include)
    except ConfigError as error:
        raise ConfigError(str(error), "include") from None
    both = {}
    for key in Included.model_fields:
        theirs, own = getattr(included, key), getattr(run, key)
        for name in own:
            if name in theirs:
                problem = f"it is in {include} already; choose another name"
                raise ConfigError(problem, f"{key}.{name}")
        both[key] = theirs | own
    return run.model_copy(update=both)


def _read_included(path: Path) -> Included:
    """Read and check a file that configs include."""
    content = read_yaml(path)
    with errors_in(path):
        included = read_settings(Included, content)
        _sets(included.sets, all_mechanisms() | _variants(included.variants))
    return included


def _sets(sets: dict[str, list[str]], available: dict[str, type[Mechanism]]) -> dict[str, list]:
    """Return the mechanisms and variants in every set; a set may name an earlier one."""
    found = {}
    for name, members in sets.items():
        path = f"sets.{name}"
        if name in available:
            raise ConfigError("it is already the name of a mechanism; choose another", path)
        found[name] = chosen(members, available, found, key=path)
    return found


def _variants(variants: dict[str, VariantSettings]) -> dict[str, type[Mechanism]]:
    """Return the mechanism behind every variant, after a check of its options."""
    found = {}
    for name, variant in variants.items():
        path = f"variants.{name}"
        if name in all_mechanisms():
            raise ConfigError("it is already the key of a mechanism; choose another", path)
        found[name] = _load_class(variant.use, f"{path}.use")
        known = found[name].options
        refuse_unknown(f"{path}.options", variant.options, known)
        for option, value in variant.options.items():
            try:
                known[option].check(option, value)
            except ValueError as error:
                raise ConfigError(str(error), f"{path}.options.{option}") from None
    return found


# The limits of JSON Schema.
_SIGNS = {"minimum": ">=", "exclusiveMinimum": ">", "exclusiveMaximum": "<", "maximum": "<="}


def describe_keys() -> str:
    """Format every key as a row of the Markdown table in config/README.md."""
    lines = ["| key | allowed | default | meaning |", "| --- | --- | --- | --- |"]
    sections = {"": RunSettings, "data.": Data, "limits.": Limits}
    sections |= {"variants.<name>.": VariantSettings, "studies.<study>.": StudySettings}
    for prefix, model in sections.items():
        lines += _rows(prefix, model, skipped=("data", "limits", "variants", "studies"))
    for name, study in all_studies().items():
        lines += _rows(f"studies.{name}.", study.Settings, skipped=StudySettings.model_fields)
    return "\n".join(lines)


def _rows(prefix: str, model: type[Section], skipped) -> list[str]:
    defaults, rows = defaults_of(model), []
    schemas = _rename_limits(model.model_json_schema()["properties"])
    for key, field in model.model_fields.items():
        if key not in skipped:
            shown = f"`{yaml_text(defaults[key])}`" if key in defaults else "required"
            allowed = _allowed(schemas[key])
            rows.append(f"| `{prefix}{key}` | {allowed} | {shown} | {field.description} |")
    return rows


def _allowed(schema: dict[str, Any]) -> str:
    """List the values that a JSON schema allows for a key, or the limits on each value."""
    if "enum" in schema:
        return ", ".join(schema["enum"])
    for part in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(part, dict):
            return _allowed(part)
    limits = {sign: schema[name] for name, sign in _SIGNS.items() if name in schema}
    return ", ".join(f"{sign} {limit:.12g}" for sign, limit in limits.items())


def defaults_of(model: type[Section]) -> dict[str, Any]:
    """Return the defaults of the keys that a section may leave out."""
    # No warnings, because a default may be a word, such as `all`, that stands for a value.
    return model.model_construct().model_dump(warnings=False)


def yaml_text(value: Any) -> str:
    """Format a value as a config would write it, on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=1000)
    return text.removesuffix("...\n").strip()


# Pydantic keeps its own names for the limits of a type with a "before" validator. The limits of a
# field have the names of JSON Schema, and take precedence because they are narrower.
_LIMITS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


class _Generator(GenerateJsonSchema):
    """A generator that omits the titles of fields, which only repeat the keys."""

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
        return {
            _LIMITS.get(key, key): _rename_limits(each)
            for key, each in value.items()
            if _LIMITS.get(key) not in value
        }
    return value


def _extract_shared(sections: list[dict[str, Any]]) -> dict[str, Any]:
    """Replace keys that several sections share by references; return their definitions."""
    counts = Counter((key, repr(value)) for keys in sections for key, value in keys.items())
    found = {}
    for keys in sections:
        for key, value in keys.items():
            if counts[key, repr(value)] > 1 and found.setdefault(key, value) == value:
                keys[key] = {"$ref": f"#/$defs/{key}"}
    return found
