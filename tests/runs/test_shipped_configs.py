"""The configs in config/ are valid, documented, and have room for new mechanisms."""

import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from papers.settings import PAPER_SETTINGS
from runs.config import defaults_of, describe_keys, read_config
from studies import guarantee
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[2]


SUITE = ROOT / "config/suite.yaml"


CONFIGS = sorted(set((ROOT / "config").glob("*.yaml")) - {SUITE})


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_are_valid(path):
    checked = read_config(path)
    assert checked["run"] == path.stem
    assert set(checked["studies"]) <= set(all_studies())


def test_audits_leave_room_for_more_mechanisms():
    """More audits would widen every bound, so their number is fixed and large enough."""
    config = read_config(ROOT / "config/quick.yaml")["studies"]["guarantee"]
    cells = len(config.mechanisms) * len(config.calibrations)
    assert cells * len(PAPER_SETTINGS) * 1.5 < guarantee.AUDITS


def test_the_suite_has_every_mechanism_of_the_reference_run():
    """A mechanism missing from the list runs in every study, as is right only for new ones."""
    stored = set()
    for path in (ROOT / "results/reference/studies").glob("*.parquet"):
        if path.stem in all_studies():
            stored |= set(pd.read_parquet(path, columns=["mechanism"])["mechanism"])
    suite = read_config(ROOT / "config/reference.yaml")["sets"]["suite"]
    assert sorted(stored - set(suite)) == []


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_shipped_config_says_only_what_differs_from_the_defaults_of_a_study(path):
    checked = read_config(path)["studies"]
    repeated = []
    for name, settings in yaml.safe_load(path.read_text())["studies"].items():
        defaults, own = defaults_of(all_studies()[name].Settings), checked[name].model_dump()
        same = {key for key in defaults.keys() & settings if defaults[key] == own[key]}
        repeated += [f"{name}.{key}" for key in same]
    assert repeated == []


def test_descriptions_say_what_is_allowed_the_default_and_the_meaning():
    lines = describe_keys().splitlines()[2:]
    rows = {row[0]: row[1:] for row in (re.findall(r"\| (.*?) ?(?=\|)", line) for line in lines)}
    assert rows["`limits.seconds`"] == [
        "> 0, <= 31536000",
        "`3600.0`",
        "wall-clock seconds of one cell, a year at most",
    ]
    assert rows["`run`"][:2] == ["", "required"]
    assert rows["`studies.covariance.trials`"][0] == ">= 2, <= 1000000"
    assert rows["`studies.private_data.classifiers`"][0] == "logistic, network, mobilenet_v2"
    assert not [key for key, row in rows.items() if row[1] == "None"]
