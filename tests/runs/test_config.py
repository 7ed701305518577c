"""The config of a run: every wrong key or value is told by its path, in one sentence."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from experiments.contract.settings import REQUIRED, ConfigError
from experiments.contract.study import all_experiments
from mechanisms import all_mechanisms
from runs.config import check_config, describe_keys, read_config

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


@pytest.fixture
def config():
    """config/tiny.yaml as YAML gives it, free to be changed."""
    return yaml.safe_load((ROOT / "config/tiny.yaml").read_text())


def changed(config, path, value):
    """A copy of the config with the value at a dotted path replaced."""
    config = copy.deepcopy(config)
    *parents, last = path.split(".")
    section = config
    for parent in parents:
        section = section.setdefault(parent, {})
    section[last] = value
    return config


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_shipped_configs_are_valid(path):
    checked = read_config(path)
    assert checked["run"] == path.stem
    assert set(checked["experiments"]) <= set(all_experiments())


def test_numbers_that_yaml_reads_as_text_are_numbers(config):
    assert config["experiments"]["count_query"]["delta"] == "1e-7"
    checked = check_config(config)["experiments"]["count_query"]
    assert checked["delta"] == 1e-7
    assert checked["epsilons_for"]["r1smg"][0] == 1e-5


def test_defaults_are_filled_in(config):
    config["experiments"] = {"count_query": config["experiments"]["count_query"]}
    for key in ("seed", "strict", "limits"):
        config.pop(key, None)
    checked = check_config(config)
    assert (checked["seed"], checked["strict"]) == (0, False)
    assert checked["limits"] == {"seconds": 3600.0, "memory_gib": 2.0}
    assert checked["experiments"]["count_query"]["calibrations"] == ["published", "exact"]


def test_all_means_every_mechanism_and_every_variant(config):
    checked = check_config(changed(config, "experiments.count_query.mechanisms", "all"))
    names = checked["experiments"]["count_query"]["mechanisms"]
    assert names == [*all_mechanisms(), *config["variants"]]


def test_the_check_leaves_its_argument_alone(config):
    before = copy.deepcopy(config)
    check_config(config)
    assert config == before


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("sede", 1, "unknown config key sede; did you mean 'seed'?"),
        ("seed", -1, "config key seed must be a whole number >= 0, got -1"),
        ("seed", 1.5, "config key seed must be a whole number >= 0, got 1.5"),
        ("run", "My Run", "config key run must be a file name, got 'My Run'"),
        ("run", "../up", "config key run must be a file name, got '../up'"),
        ("strict", "yes", "config key strict must be true or false, got 'yes'"),
        ("data", None, "data must be a mapping, got None"),
        ("data.miror", "x", "unknown config key data.miror; did you mean 'mirror'?"),
        ("data.folder", 5, "config key data.folder must be a path, got 5"),
        ("limits.second", 1, "unknown config key limits.second; did you mean 'seconds'?"),
        ("limits.seconds", 0, "config key limits.seconds must be a number > 0, got 0"),
        ("limits.memory_gib", "two", "limits.memory_gib must be a number > 0, got 'two'"),
        ("variants", ["mvg"], "config key variants must be a mapping, got ['mvg']"),
        ("variants.Mine", {"use": "mvg"}, "variants.Mine must be a name of lower-case letters"),
        ("variants.mvg", {"use": "mvg"}, "variants.mvg is already the key of a mechanism"),
        ("variants.mine", {}, "config key variants.mine.use is missing"),
        ("variants.mine", {"used": "mvg"}, "variants.mine.used; did you mean 'use'?"),
        ("variants.mine", {"use": "mvgg"}, "config key variants.mine.use: unknown mechanism"),
        ("variants.mine", {"use": "mvgg"}, "did you mean 'mvg'?"),
        ("variants.mine", {"use": "no_such_module:Mine"}, "variants.mine.use: cannot load"),
        (
            "variants.mine",
            {"use": "mechanisms.contract.query:Query"},
            "config key variants.mine.use: mechanisms.contract.query:Query must be a Mechanism",
        ),
        (
            "variants.mine",
            {"use": "mvg", "options": {"zetta": "sqrt"}},
            "unknown config key variants.mine.options.zetta; did you mean 'zeta'?",
        ),
        (
            "variants.mine",
            {"use": "mvg", "options": {"zeta": "root"}},
            "option variants.mine.options.zeta must be published or sqrt, got 'root'",
        ),
        ("experiments", {}, "config key experiments must be a non-empty mapping, got {}"),
        ("experiments", None, "config key experiments must be a non-empty mapping, got None"),
        (
            "experiments.count_qery",
            {},
            "unknown config key experiments.count_qery; did you mean 'count_query'?",
        ),
        ("experiments.count_query", None, "experiments.count_query must be a mapping, got None"),
        (
            "experiments.count_query.datasets",
            ["ubr"],
            "unknown config key experiments.count_query.datasets.ubr; did you mean 'uber'?",
        ),
        (
            "experiments.count_query.datasets",
            ["city", "city"],
            "must be a list of data sets of the experiment, got ['city', 'city']",
        ),
        (
            "experiments.count_query.mechanisms",
            ["gausian"],
            "unknown config key experiments.count_query.mechanisms.gausian; "
            "did you mean 'gaussian'?",
        ),
        (
            "experiments.count_query.mechanisms",
            ["mvg", "mvg"],
            "experiments.count_query.mechanisms must be a list of mechanisms",
        ),
        (
            "experiments.count_query.calibrations",
            ["exakt"],
            "unknown config key experiments.count_query.calibrations.exakt; did you mean 'exact'?",
        ),
        (
            "experiments.count_query.epsilons",
            [1, "1e0"],
            "experiments.count_query.epsilons must be a list of numbers > 0, got [1, '1e0']",
        ),
        (
            "experiments.count_query.epsilons_for",
            {"r1smgg": [1]},
            "experiments.count_query.epsilons_for.r1smgg; did you mean 'r1smg'?",
        ),
        (
            "experiments.count_query.calibrations_for",
            {"mvg": ["exakt"]},
            "experiments.count_query.calibrations_for.mvg.exakt; did you mean 'exact'?",
        ),
        (
            "experiments.count_query.calibrations_for",
            {"mvgg": ["exact"]},
            "experiments.count_query.calibrations_for.mvgg; did you mean 'mvg'?",
        ),
        (
            "experiments.count_query.mechanisms_for",
            {"ubr": ["mvg"]},
            "unknown config key experiments.count_query.mechanisms_for.ubr",
        ),
        (
            "experiments.count_query.mechanisms_for",
            {"city": ["mvgg"]},
            "experiments.count_query.mechanisms_for.city.mvgg; did you mean 'mvg'?",
        ),
        (
            "experiments.count_query.map_epsilons",
            {"defualt": 1},
            "experiments.count_query.map_epsilons.defualt; did you mean 'default'?",
        ),
        (
            "experiments.count_query.map_epsilons",
            0.5,
            "experiments.count_query.map_epsilons must be a mapping",
        ),
        (
            "experiments.count_query.map_epsilons",
            {"default": 0},
            "experiments.count_query.map_epsilons must be a mapping",
        ),
        (
            "experiments.count_query.delta",
            1,
            "experiments.count_query.delta must be a number in [0, 1), got 1",
        ),
        (
            "experiments.count_query.start",
            "noon",
            "experiments.count_query.start must be a time, got 'noon'",
        ),
        ("experiments.count_query.end", 5, "experiments.count_query.end must be a time, got 5"),
        (
            "experiments.count_query.bounding_box.north",
            95,
            "experiments.count_query.bounding_box.north must be a latitude",
        ),
        (
            "experiments.count_query.bounding_box.nort",
            41,
            "experiments.count_query.bounding_box.nort; did you mean 'north'?",
        ),
        (
            "experiments.count_query.bounding_box.south",
            89,
            "bounding_box must have south < north",
        ),
        (
            "experiments.noise_only.sizes",
            ["4by4"],
            "experiments.noise_only.sizes must be shapes as 10x10, got ['4by4']",
        ),
        (
            "experiments.noise_only.growth_delta",
            1,
            "experiments.noise_only.growth_delta must be a number in [0, 1), got 1",
        ),
        (
            "experiments.noise_only.tail_factors",
            [0],
            "experiments.noise_only.tail_factors must be a list of numbers > 0, got [0]",
        ),
    ],
)
def test_what_is_wrong_is_told(config, path, value, words):
    with pytest.raises(ConfigError) as caught:
        check_config(changed(config, path, value))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("config", [None, [], "text", 5])
def test_a_config_is_a_mapping(config):
    with pytest.raises(ConfigError, match="the config must be a mapping"):
        check_config(config)


def test_a_time_may_stand_without_quotes(config):
    """YAML turns it into a datetime."""
    unquoted = yaml.safe_load("2014-04-01T00:11:00")
    assert not isinstance(unquoted, str)
    checked = check_config(changed(config, "experiments.count_query.start", unquoted))
    assert checked["experiments"]["count_query"]["start"] == "2014-04-01T00:11:00"


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "No such file"), ("run: [", "while parsing"), ("", "must be a mapping, got None")],
)
def test_a_file_that_cannot_be_read(tmp_path, text, words):
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=words):
        read_config(path)


def test_the_environment_names_the_mirror_before_the_config(config, monkeypatch):
    config = changed(config, "data.mirror", "from-config")
    monkeypatch.delenv("DATA_MIRROR", raising=False)
    assert check_config(config)["data"]["mirror"] == "from-config"
    monkeypatch.setenv("DATA_MIRROR", "from-environment")
    assert check_config(config)["data"]["mirror"] == "from-environment"


def described():
    """The rows of the table of keys, as (key, allowed, default, meaning)."""
    lines = describe_keys().splitlines()[2:]
    return {row[0]: row[1:] for row in (re.findall(r"\| (.*?) (?=\|)", line) for line in lines)}


def every_setting():
    return [
        (f"experiments.{name}.{key}", setting)
        for name, module in all_experiments().items()
        for key, setting in module.SETTINGS.items()
    ]


@pytest.mark.parametrize(
    ("key", "setting"), [pytest.param(*pair, id=pair[0]) for pair in every_setting()]
)
def test_every_key_of_every_experiment_is_described(key, setting):
    allowed, default, meaning = described()[f"`{key}`"]
    assert (allowed, meaning) == (setting.allowed, setting.description)
    assert default == ("required" if setting.default is REQUIRED else f"`{setting.default!r}`")


def test_every_key_of_the_shipped_configs_is_described():
    keys = set(described())
    for path in CONFIGS:
        config = yaml.safe_load(path.read_text())
        experiments = config.pop("experiments")
        config.pop("variants", None)
        for key, value in config.items():
            inner = [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]
            assert {f"`{name}`" for name in inner} <= keys
        for experiment, settings in experiments.items():
            for key in settings:
                own, common = (
                    f"`experiments.{experiment}.{key}`",
                    f"`experiments.<experiment>.{key}`",
                )
                assert own in keys or common in keys, f"{path.name}: {experiment}.{key}"


@pytest.mark.parametrize(
    "setting",
    [pytest.param(s, id=key) for key, s in every_setting() if s.default is not REQUIRED],
)
def test_every_default_is_an_allowed_value(setting):
    assert setting.convert(setting.default) == setting.default
