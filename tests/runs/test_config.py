"""The config of a run: every wrong key or value is told by its path, in one sentence."""

import copy
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from experiments import guarantee
from experiments.contract.settings import ConfigError
from experiments.contract.study import all_experiments
from mechanisms import AdditiveMechanism, all_mechanisms
from papers.paper_settings import PAPER_SETTINGS
from runs.config import check_config, describe_keys, read_config
from runs.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parents[2]
SUITE = ROOT / "config/suite.yaml"
CONFIGS = sorted(set((ROOT / "config").glob("*.yaml")) - {SUITE})


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
    assert (checked["seed"], checked["strict"]) == (0, True)
    assert checked["limits"] == {"seconds": 3600.0, "memory_gib": 2.0}
    assert checked["experiments"]["count_query"]["calibrations"] == ["published", "exact"]


def mechanisms_of(config, value, study="count_query", **more):
    config = changed(config, f"experiments.{study}.mechanisms", value) | more
    config["experiments"] = {study: config["experiments"][study] | {"epsilons_for": {}}}
    config["experiments"][study].pop("map_epsilons", None)
    if study == "count_query":
        config["experiments"][study]["map_epsilons"] = {"default": 1}
    return check_config(config)["experiments"][study]["mechanisms"]


def variants(config):
    return check_config(config)["variants"]


def test_all_means_every_mechanism_and_every_variant(config):
    everything = [*all_mechanisms(), *variants(config)]
    assert mechanisms_of(config, "all") == everything
    assert mechanisms_of(config, {}) == everything


def test_additive_means_noise_that_is_added(config):
    additive = [k for k, c in all_mechanisms().items() if issubclass(c, AdditiveMechanism)]
    assert "dawa" not in additive and "laplace" in additive
    expected = [*additive, *variants(config)]
    assert mechanisms_of(config, "all-additive") == expected
    assert mechanisms_of(config, {"all": "additive"}) == expected
    # noise_only says that it needs additive noise.
    assert mechanisms_of(config, "all", "noise_only") == expected


def test_exceptions_and_additions(config):
    everything = [*all_mechanisms(), *variants(config)]
    found = mechanisms_of(config, {"except": ["tldp-l", "mvg-sqrt"]})
    assert found == [name for name in everything if name not in ("tldp-l", "mvg-sqrt")]
    found = mechanisms_of(config, {"except": ["most"], "also": ["r1smg", "dawa"]}, sets={
        "most": [name for name in everything if name != "laplace"]
    })  # fmt: skip
    assert found == ["r1smg", "dawa", "laplace"]
    assert mechanisms_of(config, ["udn", "mvg"]) == ["udn", "mvg"]


def test_a_data_set_takes_a_part_of_the_mechanisms(config):
    study = config["experiments"]["noise_only"]
    study["mechanisms"] = ["udn", "laplace", "mvg"]
    study["mechanisms_for"] = {"gradient-shapes": {"except": ["laplace"]}}
    checked = check_config(config)["experiments"]["noise_only"]
    assert checked["mechanisms_for"] == {"gradient-shapes": ["udn", "mvg"]}


def test_audits_leave_room_for_more_mechanisms():
    """More audits would widen every bound: the number is fixed, and large enough."""
    config = read_config(ROOT / "config/quick.yaml")["experiments"]["guarantee"]
    cells = len(config["mechanisms"]) * len(config["calibrations"])
    assert cells * len(PAPER_SETTINGS) * 1.5 < guarantee.AUDITS


def test_a_run_has_no_more_audits_than_share_the_confidence(config, monkeypatch):
    monkeypatch.setattr(guarantee, "AUDITS", 3 * len(PAPER_SETTINGS))
    words = "guarantee.audit_samples must be 0 where mechanisms times calibrations exceed 3, as "
    with pytest.raises(ConfigError, match=words):
        check_config(changed(config, "experiments.guarantee.audit_samples", 50))
    check_config(changed(config, "experiments.guarantee.audit_samples", 0))


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
        (
            "run",
            "My Run",
            "a file name of lower-case letters, digits, - and _, got 'My Run'",
        ),
        (
            "run",
            "../up",
            "a file name of lower-case letters, digits, - and _, got '../up'",
        ),
        ("strict", "yes", "config key strict must be true or false, got 'yes'"),
        ("data", None, "config key data must be a mapping with folder, mirror, got None"),
        ("data.miror", "x", "unknown config key data.miror; did you mean 'mirror'?"),
        ("data.folder", 5, "config key data.folder must be a path, got 5"),
        ("limits.second", 1, "unknown config key limits.second; did you mean 'seconds'?"),
        ("limits.seconds", 0, "config key limits.seconds must be a number in (0, 31536000], got 0"),
        (
            "limits.seconds",
            1e12,
            "limits.seconds must be a number in (0, 31536000], got 1000000000000",
        ),
        ("limits.memory_gib", 1e9, "memory_gib must be a number in (0, 10^5], got 1000000000.0"),
        ("limits.memory_gib", "two", "limits.memory_gib must be a number in (0, 10^5], got 'two'"),
        (
            "variants",
            ["mvg"],
            "variants must be a mapping from names to mappings with use, options, got",
        ),
        (
            "variants.Mine",
            {"use": "mvg"},
            "variants.Mine: 'Mine' must be a name of lower-case letters",
        ),
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
        (
            "experiments",
            {},
            "config key experiments must be a mapping from studies to their settings, got {}",
        ),
        (
            "experiments",
            None,
            "config key experiments must be a mapping from studies to their settings, got None",
        ),
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
            "must be a list of data sets, got ['city', 'city']: 'city' is there twice",
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
            "experiments.count_query.mechanisms must be a list that has 'mvg' once",
        ),
        (
            "experiments.count_query.calibrations",
            ["exakt"],
            "calibrations[0] must be published or exact, got 'exakt'; did you mean 'exact'?",
        ),
        (
            "experiments.count_query.epsilons",
            [1, "1e0"],
            "count_query.epsilons must be a list of numbers in [10^-15, 10^15], got [1, '1e0']",
        ),
        (
            "experiments.count_query.epsilons",
            ["1e-320"],
            "count_query.epsilons[0] must be a number in [10^-15, 10^15], got '1e-320'",
        ),
        (
            "experiments.count_query.epsilons_for",
            {"r1smgg": [1]},
            "experiments.count_query.epsilons_for.r1smgg; did you mean 'r1smg'?",
        ),
        (
            "experiments.count_query.calibrations_for",
            {"mvg": ["exakt"]},
            "calibrations_for.mvg[0] must be published or exact, got 'exakt'; did you mean",
        ),
        (
            "experiments.count_query.calibrations_for",
            {"mvgg": ["exact"]},
            "experiments.count_query.calibrations_for.mvgg; did you mean 'mvg'?",
        ),
        (
            "experiments.count_query.mechanisms_for",
            {"uber": ["mvg"]},
            "unknown config key experiments.count_query.mechanisms_for.uber; allowed here are city",
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
            "map_epsilons.default must be a number in [10^-15, 10^15], got 0",
        ),
        (
            "experiments.count_query.delta",
            1,
            "experiments.count_query.delta must be a number in [0, 1), got 1",
        ),
        (
            "experiments.count_query.start",
            "noon",
            "experiments.count_query.start must be a time such as 2014-04-01T00:11:00, got 'noon'",
        ),
        (
            "experiments.count_query.end",
            5,
            "experiments.count_query.end must be a time such as 2014-04-01T00:11:00, got 5",
        ),
        (
            "experiments.count_query.bounding_box.north",
            95,
            "experiments.count_query.bounding_box.north must be a number in [-90, 90], got 95",
        ),
        (
            "experiments.count_query.bounding_box.nort",
            41,
            "experiments.count_query.bounding_box.nort; did you mean 'north'?",
        ),
        (
            "experiments.count_query.bounding_box.south",
            89,
            "bounding_box.north must be north of the southern edge 89, got 40.9155",
        ),
        (
            "experiments.noise_only.sizes",
            ["4by4"],
            "experiments.noise_only.sizes[0] must be a shape as 10x10 of at most 10^8 elements",
        ),
        (
            "experiments.noise_only.growth_delta",
            1,
            "experiments.noise_only.growth_delta must be a number in [0, 1), got 1",
        ),
        ("experiments.noise_only.sizes", ["0x3"], "sizes[0] must be a shape as 10x10 of at most"),
        ("experiments.noise_only.sizes", ["99999x99999"], "must be a shape as 10x10 of at most"),
        (
            "experiments.count_query.trials",
            1e12,
            "count_query.trials must be a whole number in [1, 10^6], got 1000000000000",
        ),
        (
            "experiments.count_query.cells_per_side",
            100_000,
            "count_query.cells_per_side must be a whole number in [1, 4096], got 100000",
        ),
        (
            "experiments.count_query.end",
            "2014-03-01T00:00:00",
            "end must be a time from 2014-04-01T00:11:00 on, got '2014-03-01T00:00:00'",
        ),
        (
            "experiments.count_query.mechanisms",
            "everything",
            "mechanisms must be all, all-additive, a list of names, or a mapping with all, except",
        ),
        (
            "experiments.count_query.mechanisms",
            {"exept": ["mvg"]},
            "unknown config key experiments.count_query.mechanisms.exept; did you mean 'except'?",
        ),
        (
            "experiments.count_query.mechanisms",
            {"except": ["mvgg"]},
            "experiments.count_query.mechanisms.except.mvgg; did you mean 'mvg'?",
        ),
        (
            "experiments.count_query.mechanisms",
            {"all": "addative"},
            "count_query.mechanisms.all must be any or additive, got 'addative'",
        ),
        (
            "experiments.count_query.mechanisms",
            {"all": ["any"]},
            "count_query.mechanisms.all must be any or additive, got ['any']",
        ),
        (
            "experiments.count_query.mechanisms",
            ["mvg", ["udn"]],
            "count_query.mechanisms must be a list of names of mechanisms, variants and sets, got",
        ),
        (
            "experiments.count_query.mechanisms",
            {"also": [{"udn": 1}]},
            "mechanisms.also must be a list of names of mechanisms, variants and sets, got",
        ),
        (
            "experiments.count_query.mechanisms_for",
            {"city": {"also": 5}},
            "mechanisms_for.city.also must be a list of mechanisms and variants, got 5",
        ),
        # Mechanisms that the study does not run.
        ("experiments.dpsgd.calibrations_for", {"udn": ["exact"]}, "calibrations_for.udn; allowed"),
        ("experiments.pca.epsilons_for", {"udn": [1]}, "epsilons_for.udn; allowed here are non-"),
        # Data sets that the study does not have.
        ("experiments.dpsgd.records", {"digit": 5}, "dpsgd.records.digit; did you mean 'digits'?"),
        ("experiments.dpsgd.records", {"mnist": 5}, "dpsgd.records.mnist; allowed here are digits"),
        ("sets", {"mine": ["mvgg"]}, "unknown config key sets.mine.mvgg; did you mean 'mvg'?"),
        ("sets", {"mvg": ["mvg"]}, "config key sets.mvg is already the name of a mechanism"),
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
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "mine.yaml: the config must be a mapping, got None"),
        (b"run: [", "mine.yaml, line 1: no valid YAML"),
        (b"run: a\n\tseed: 1\n", "mine.yaml, line 2: no valid YAML"),
        (
            b"run: a\nseed: 1\nrun: b\n",
            "mine.yaml, line 3: the key 'run' is there twice, first in line 1",
        ),
        (b"a: {b: 1,\n b: 2}\n", "mine.yaml, line 2: the key 'b' is there twice, first in line 1"),
        (
            b"run: a\n# \xfcber\n",
            "mine.yaml, line 2: byte 0xfc is not UTF-8; save the file in UTF-8",
        ),
        (
            b"run: !!python/name:os.system\n",
            "mine.yaml, line 1: the tag 'tag:yaml.org,2002:python/name:os.system' is not allowed; "
            "remove it",
        ),
        (b"? [1, 2]\n: 3\n", "mine.yaml, line 1: a key must be a name; remove the brackets"),
        (
            b"run: mine\n",
            "mine.yaml: config key experiments is missing; it must be a mapping from studies",
        ),
        (
            b"run: a\nseed: 'b\nc: d\n",
            "mine.yaml, line 4: no valid YAML: found unexpected end of stream (while scanning a "
            "quoted scalar that begins in line 2); indent with spaces",
        ),
        (
            b"run: a\nsizes: [0x3]\n",
            "mine.yaml, line 2: YAML reads 0x3 as the number 3; put a shape or a text in quotes",
        ),
        (b"seed: 1\nrun: a\0\n", "mine.yaml, line 2: YAML allows no character 0x0000; remove it"),
        (b"run: 2020-99-99\n", "mine.yaml, line 1: '2020-99-99' is no valid timestamp; put a text"),
        (b"seed: !!float x\n", "mine.yaml, line 1: 'x' is no valid float; put a text in quotes"),
        (b"run: " + b"[" * 3000, "mine.yaml: no config is nested this deeply; close brackets"),
        (b"seed: 010\n", "mine.yaml, line 1: YAML reads 010 as the number 8; put a shape or"),
        (b"seed: 1:30\n", "mine.yaml, line 1: YAML reads 1:30 as the number 90; put a shape or"),
        (b"run: a\nsede: 1\n", "mine.yaml, line 2: unknown config key sede; did you mean 'seed'?"),
        (b"run: a\nlimits:\n  seconds: 0\n", "mine.yaml, line 3: config key limits.seconds must"),
    ],
)
def test_a_file_that_cannot_be_read(tmp_path, content, words):
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("experiments.guarantee.sizes", "    sizes: [0x3x1, 4x4]", "    sizes: [3x1, 4x4]"),
        ("experiments.guarantee.sizes", "    sizes: [4x4, 4x4]", "    sizes: [3x1, 4x4]"),
        ("experiments.pca.epsilons_for.udn", "    epsilons_for: {udn: [1]}", "4e-8, 1.6e-7"),
        ("experiments.dpsgd.records", "    records: {mnist: 200}", "    records: {digits: 200}"),
    ],
)
def test_a_wrong_value_is_told_with_its_line(tmp_path, key, value, line):
    """One line of tiny.yaml is replaced; the error names that line, or the one of its key."""
    lines = (ROOT / "config/tiny.yaml").read_text().splitlines()
    number = next(i for i, text in enumerate(lines) if line in text)
    lines[number] = value
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}, line {number + 1}: ")
    assert caught.value.key.startswith(key)
    assert "\n" not in str(caught.value)


INCLUDED = """\
variants:
  loud: {use: mvg, options: {zeta: sqrt}}
sets:
  some: [laplace, loud]
  more: [some, gaussian]
"""


def including(tmp_path, included=INCLUDED, **own):
    """The path of a small config that includes a file with this text."""
    path, shared = tmp_path / "mine.yaml", tmp_path / "shared.yaml"
    shared.write_text(included)
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    study = tiny["experiments"]["private_data"] | {"mechanisms": ["more"]}
    config = {"run": "mine", "include": str(shared), **own, "experiments": {"private_data": study}}
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def test_an_included_file_reads_as_if_it_stood_in_the_config(tmp_path):
    path = including(tmp_path, variants={"mine": {"use": "udn"}}, sets={"two": ["mine", "some"]})
    included = read_config(path)
    content = yaml.safe_load(path.read_text())
    content.pop("include")
    shared = yaml.safe_load(INCLUDED)
    for key in ("variants", "sets"):
        content[key] = shared[key] | content[key]
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    assert included == read_config(path)
    assert list(included["variants"]) == ["loud", "mine"]
    assert included["sets"]["two"] == ["mine", "laplace", "loud"]
    study = included["experiments"]["private_data"]
    assert study["mechanisms"] == ["laplace", "loud", "gaussian"]


@pytest.mark.parametrize(
    ("included", "words"),
    [
        ("sets: {a: [mvg]}\nsets: {}\n", "line 2: the key 'sets' is there twice, first in line 1"),
        ("sets: [\n", "line 2: no valid YAML"),
        ("", "the config must be a mapping, got None"),
        ("run: a\n", "line 1: unknown config key run; allowed here are variants, sets"),
        ("include: a\n", "line 1: unknown config key include; allowed here are variants, sets"),
        ("sets:\n  a: [mvgg]\n", "line 2: unknown config key sets.a.mvgg; did you mean 'mvg'?"),
        ("sets:\n  a: [mvg, mvg]\n", "line 2: config key sets.a must be a list of texts, got"),
        ("sets: {a: [later], later: [mvg]}\n", "line 1: unknown config key sets.a.later; allowed"),
        (
            "variants:\n  mine: {use: mvg, options: {zeta: x}}\n",
            "line 2: option variants.mine.options.zeta must be published or sqrt, got 'x'",
        ),
    ],
)
def test_a_mistake_in_an_included_file_is_told_with_both_lines(tmp_path, included, words):
    path = including(tmp_path, included)
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line 2: config key include: {tmp_path / 'shared.yaml'}")
    assert words in message and "\n" not in message


def test_an_included_file_must_be_there(tmp_path):
    path = including(tmp_path)
    (tmp_path / "shared.yaml").unlink()
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    words = f"{path}, line 2: config key include: cannot read the config {tmp_path}/shared.yaml: No"
    assert str(caught.value).startswith(words)


@pytest.mark.parametrize(
    ("key", "entry"), [("variants", {"loud": {"use": "udn"}}), ("sets", {"some": ["udn"]})]
)
def test_a_name_of_the_included_file_is_taken(tmp_path, key, entry):
    (name,) = entry
    with pytest.raises(
        ConfigError, match=f"mine.yaml, line .: config key {key}.{name} is in .* al"
    ):
        read_config(including(tmp_path, **{key: entry}))


def test_the_suite_has_every_mechanism_of_the_reference_run():
    """Forgotten in the list, it would run in every study; newer than that run, it should."""
    stored = set()
    for path in (ROOT / "results/reference/experiments").glob("*.parquet"):
        if path.stem in all_experiments():
            stored |= set(pd.read_parquet(path, columns=["mechanism"])["mechanism"])
    suite = read_config(ROOT / "config/reference.yaml")["sets"]["suite"]
    assert sorted(stored - set(suite)) == []


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + (ROOT / "config/tiny.yaml").read_bytes())
    assert read_config(path)["run"] == "tiny"


def test_anchors_and_merges_are_no_repetition(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("a: &a {x: 1}\nb: {<<: *a, x: 2}\n")
    assert read_yaml(path) == {"a": {"x": 1}, "b": {"x": 2}}


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


def test_every_key_of_the_shipped_configs_is_described():
    keys = described()
    for path in CONFIGS:
        config = yaml.safe_load(path.read_text())
        experiments = config.pop("experiments")
        for key, value in config.items():
            inner = [f"{key}.{name}" for name in value] if key in ("data", "limits") else [key]
            assert {f"`{name}`" for name in inner} <= set(keys)
        for study, settings in experiments.items():
            for key in settings:
                places = (f"`experiments.{study}.{key}`", f"`experiments.<study>.{key}`")
                assert any(place in keys for place in places), f"{path.name}: {study}.{key}"


def test_descriptions_say_what_is_allowed_the_default_and_the_meaning():
    rows = described()
    assert rows["`limits.seconds`"][:2] == ["a number in (0, 31536000]", "`3600.0`"]
    assert rows["`run`"][1] == "required"
    vague = [key for key, row in rows.items() if row[0] == "any value" or row[2] == "None"]
    assert not vague
