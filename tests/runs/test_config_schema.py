"""config/schema.json, the committed file: editors accept the configs and mark mistyped keys."""

import json
from pathlib import Path

import jsonschema
import pytest

from studies.base.yaml_file import read_yaml

FOLDER = Path(__file__).resolve().parents[2] / "config"
SCHEMA = json.loads((FOLDER / "schema.json").read_text())
CONFIGS = sorted(FOLDER.glob("*.yaml"))

jsonschema.Draft7Validator.check_schema(SCHEMA)


def faults(config):
    return [fault.json_path for fault in jsonschema.Draft7Validator(SCHEMA).iter_errors(config)]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_shipped_config_names_the_schema_and_fits_it(path):
    first, _, _ = path.read_text().partition("\n")
    assert first == "# yaml-language-server: $schema=schema.json"
    assert faults(read_yaml(path)) == []


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["sed"], 1),
        (["limits", "second"], 60),
        (["variants", "mine"], {"uses": "mvg"}),
        (["studies", "count_querry"], {}),
        (["studies", "count_query", "epsilon"], [1]),
        (["studies", "count_query", "bounding_box", "nord"], 1),
        (["studies", "count_query", "mechanisms", "excluding"], ["mvg"]),
        (["studies", "pca", "mechanisms_for", "adult"], {"excluding": ["mvg"]}),
        (["studies", "pca", "delta"], 1),
        (["studies", "pca", "delta"], "small"),
        (["studies", "pca", "trials"], 0),
        (["studies", "guarantee", "sizes"], [[3, 1]]),
    ],
)
def test_a_mistyped_key_and_a_wrong_value_do_not_fit(keys, value):
    config = read_yaml(FOLDER / "reference.yaml")
    section = config
    for key in keys[:-1]:
        section = section.setdefault(key, {})
    section[keys[-1]] = value
    assert faults(config)


@pytest.mark.parametrize("key", ["run", "studies"])
def test_a_config_needs_a_name_and_studies(key):
    config = read_yaml(FOLDER / "tiny.yaml")
    del config[key]
    assert faults(config) == ["$"]
