"""The configuration of a run: one definition of every key, checked before anything runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from experiments.contract.settings import (
    REQUIRED,
    ConfigError,
    Setting,
    boolean,
    checked_mapping,
    integer,
    list_of,
    mapping_of,
    name,
    optional,
    positive,
    text,
    unknown_key,
)
from experiments.contract.study import all_experiments
from mechanisms import UnknownMechanism, all_mechanisms, get_mechanism
from mechanisms.contract.mechanism import CALIBRATIONS

RUN = {
    "run": Setting("a file name", name, "name of the run; results go to results/<run>/"),
    "seed": Setting("a whole number >= 0", integer(0), "base seed of every draw", 0),
    "strict": Setting(
        "true or false", boolean, "fail the run when any row has status error or timeout", False
    ),
}
DATA = {
    "folder": Setting("a path", text, "where downloaded files are kept", "data"),
    "mirror": Setting(
        "null, a folder or a URL",
        optional(text),
        "tried before the official addresses; the environment variable DATA_MIRROR wins",
        None,
    ),
}
LIMITS = {
    "seconds": Setting("a number > 0", positive, "hard wall-clock limit of one cell", 3600.0),
    "memory_gib": Setting("a number > 0", positive, "resident memory limit of one cell", 2.0),
}
VARIANT = {
    "use": Setting("a mechanism's key or module:Class", text, "the mechanism"),
    "options": Setting("a mapping", mapping_of(lambda value: value), "its options", {}),
}
COMMON = {
    "datasets": Setting("a list of data sets of the experiment", list_of(name), "data sets"),
    "mechanisms": Setting(
        'a list of mechanisms and variants, or "all"',
        lambda value: value if value == "all" else list_of(name)(value),
        "mechanisms to run; all: every one in mechanisms/ and every variant",
        "all",
    ),
    "mechanisms_for": Setting(
        "a mapping from data sets to lists of mechanisms and variants",
        mapping_of(list_of(name)),
        "mechanisms of data sets that have not all of them",
        {},
    ),
    "calibrations": Setting(
        f"a list out of {', '.join(CALIBRATIONS)}",
        list_of(name),
        "calibrations",
        list(CALIBRATIONS),
    ),
    "calibrations_for": Setting(
        "a mapping from mechanisms to lists of calibrations",
        mapping_of(list_of(name)),
        "calibrations of mechanisms that have not all of them",
        {},
    ),
    "split_trials": Setting(
        "true or false",
        boolean,
        "a job for every trial, where an experiment trains networks; for a cluster",
        False,
    ),
}


def read_config(path: Path | str) -> dict[str, Any]:
    """Read and check a YAML file; see `check_config`."""
    try:
        config = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise ConfigError(f"cannot read the config {path}: {error}") from None
    return check_config(config)


def check_config(config: Any) -> dict[str, Any]:
    """The config with numbers converted, defaults filled in and every name known.

    Raises:
        ConfigError: Names the path of the key, the value, what is allowed and the nearest name.
    """
    if not isinstance(config, dict):
        raise ConfigError(f"the config must be a mapping, got {config!r}")
    sections = {"data", "limits", "variants", "experiments"}
    for key in config:
        if key not in RUN and key not in sections:
            raise ConfigError(unknown_key("", key, [*RUN, *sorted(sections)]))
    checked = checked_mapping("", {k: v for k, v in config.items() if k in RUN}, RUN)
    checked["data"] = checked_mapping("data", config.get("data", {}), DATA)
    checked["data"]["mirror"] = os.environ.get("DATA_MIRROR") or checked["data"]["mirror"]
    checked["limits"] = checked_mapping("limits", config.get("limits", {}), LIMITS)
    checked["variants"] = _variants(config.get("variants", {}))
    wanted = config.get("experiments")
    if not isinstance(wanted, dict) or not wanted:
        raise ConfigError(f"config key experiments must be a non-empty mapping, got {wanted!r}")
    known = all_experiments()
    checked["experiments"] = {}
    for experiment, settings in wanted.items():
        if experiment not in known:
            raise ConfigError(unknown_key("experiments", experiment, known))
        checked["experiments"][experiment] = _experiment(
            known[experiment], settings, checked["variants"]
        )
    return checked


def _variants(variants: Any) -> dict[str, dict]:
    if not isinstance(variants, dict):
        raise ConfigError(f"config key variants must be a mapping, got {variants!r}")
    checked = {}
    for variant, value in variants.items():
        path = f"variants.{variant}"
        try:
            name(variant)
        except ValueError:
            raise ConfigError(
                f"config key {path} must be a name of lower-case letters, digits, - and _"
            ) from None
        if variant in all_mechanisms():
            raise ConfigError(f"config key {path} is already the key of a mechanism")
        checked[variant] = checked_mapping(path, value, VARIANT)
        _check_options(path, checked[variant])
    return checked


def _check_options(path: str, variant: dict) -> None:
    try:
        known = get_mechanism(variant["use"]).options
    except (UnknownMechanism, TypeError) as error:
        raise ConfigError(f"config key {path}.use: {error}") from None
    for option, value in variant["options"].items():
        if option not in known:
            raise ConfigError(unknown_key(f"{path}.options", option, known))
        try:
            known[option].check(f"{path}.options.{option}", value)
        except ValueError as error:
            raise ConfigError(str(error)) from None


def _experiment(experiment, settings: Any, variants: dict) -> dict[str, Any]:
    path = f"experiments.{experiment.NAME}"
    checked = checked_mapping(path, settings, COMMON | experiment.SETTINGS)
    for dataset in checked["datasets"]:
        if dataset not in experiment.DATASETS:
            raise ConfigError(unknown_key(f"{path}.datasets", dataset, experiment.DATASETS))
    for calibration in checked["calibrations"]:
        if calibration not in CALIBRATIONS:
            raise ConfigError(unknown_key(f"{path}.calibrations", calibration, CALIBRATIONS))
    for mechanism, calibrations in checked["calibrations_for"].items():
        for calibration in calibrations:
            if calibration not in checked["calibrations"]:
                here = f"{path}.calibrations_for.{mechanism}"
                raise ConfigError(unknown_key(here, calibration, checked["calibrations"]))
    available = [*all_mechanisms(), *variants]
    if checked["mechanisms"] == "all":
        checked["mechanisms"] = available
    for mechanism in checked["mechanisms"]:
        if mechanism not in available:
            raise ConfigError(unknown_key(f"{path}.mechanisms", mechanism, available))
    for dataset, mechanisms in checked["mechanisms_for"].items():
        here = f"{path}.mechanisms_for"
        if dataset not in checked["datasets"]:
            raise ConfigError(unknown_key(here, dataset, checked["datasets"]))
        for mechanism in mechanisms:
            if mechanism not in checked["mechanisms"]:
                raise ConfigError(
                    unknown_key(f"{here}.{dataset}", mechanism, checked["mechanisms"])
                )
    for setting, others in (
        ("epsilons_for", []),
        ("calibrations_for", []),
        ("map_epsilons", ["default"]),
    ):
        for mechanism in checked.get(setting, {}):
            if mechanism not in [*available, *others]:
                raise ConfigError(unknown_key(f"{path}.{setting}", mechanism, available + others))
    if checked["split_trials"] and not getattr(experiment, "SPLITS_TRIALS", False):
        raise ConfigError(
            f"config key {path}.split_trials: trials of {experiment.NAME} are quick and stay in "
            "one job; leave it out"
        )
    if hasattr(experiment, "check"):
        experiment.check(checked)
    return checked


def describe_keys() -> str:
    """Every key as Markdown: what config/README.md shows."""
    sections = {"": RUN, "data.": DATA, "limits.": LIMITS, "variants.<name>.": VARIANT}
    sections["experiments.<experiment>."] = COMMON
    for experiment, module in all_experiments().items():
        sections[f"experiments.{experiment}."] = module.SETTINGS
    lines = ["| key | allowed | default | meaning |", "| --- | --- | --- | --- |"]
    for prefix, settings in sections.items():
        for key, setting in settings.items():
            default = "required" if setting.default is REQUIRED else f"`{setting.default!r}`"
            lines.append(
                f"| `{prefix}{key}` | {setting.allowed} | {default} | {setting.description} |"
            )
    return "\n".join(lines)
