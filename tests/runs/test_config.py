"""The check of a config: defaults, sets of mechanisms, and environment variables."""

import copy
import shutil
from pathlib import Path

import pytest
import yaml
from changed_config import changed

from mechanisms import AdditiveMechanism, all_mechanisms
from papers.settings import PAPER_SETTINGS
from runs.config import check_config
from studies import guarantee
from studies.base.settings import ConfigError

ROOT = Path(__file__).parents[2]


def test_numbers_that_yaml_reads_as_text_are_numbers(config):
    assert config["studies"]["count_query"]["delta"] == "1e-7"
    checked = check_config(config)["studies"]["count_query"]
    assert checked.delta == 1e-7
    assert checked.epsilons_for["r1smg"][0] == 1e-5


def test_defaults_are_filled_in(config):
    config["studies"] = {"count_query": config["studies"]["count_query"]}
    for key in ("seed", "strict", "limits"):
        config.pop(key, None)
    checked = check_config(config)
    assert (checked["seed"], checked["strict"]) == (0, True)
    assert checked["limits"] == {"seconds": 3600.0, "memory_gib": 2.0}
    assert checked["studies"]["count_query"].calibrations == ["published", "exact"]


def mechanisms_of(config, value, study="count_query", **more):
    config = changed(config, f"studies.{study}.mechanisms", value) | more
    config["studies"] = {study: config["studies"][study] | {"epsilons_for": {}}}
    config["studies"][study].pop("map_epsilons", None)
    if study == "count_query":
        config["studies"][study]["map_epsilons"] = {"default": [1]}
    return check_config(config)["studies"][study].mechanisms


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
    # noise_only declares that it needs additive noise.
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


@pytest.fixture
def my_noise(tmp_path, monkeypatch):
    """The template of radial noise as a module beside the config."""
    shutil.copy(ROOT / "extend/radial_noise.py", tmp_path / "my_noise_of_config.py")
    monkeypatch.syspath_prepend(tmp_path)
    return "my_noise_of_config:StudentT"


def test_own_mechanisms_are_in_every_study_whatever_it_lists(config, my_noise):
    also = {"also": [my_noise]}
    assert mechanisms_of(config, ["r1smg"], **also) == ["r1smg", "student-t"]
    assert mechanisms_of(config, ["gaussian"], "noise_only", **also) == ["gaussian", "student-t"]
    assert mechanisms_of(config, "all", **also).count("student-t") == 1
    assert check_config(config | also)["variants"]["student-t"]["use"] == my_noise


def test_own_mechanisms_have_keys_of_their_own(config, my_noise):
    message = "key also: mechanisms.catalogue.laplace:Laplace has the key 'laplace' of"
    with pytest.raises(ConfigError, match=message):
        check_config(config | {"also": ["mechanisms.catalogue.laplace:Laplace"]})
    with pytest.raises(ConfigError, match="key also: cannot load mechanism 'none:Such'"):
        check_config(config | {"also": ["none:Such"]})


def test_a_data_set_takes_a_part_of_the_mechanisms(config):
    study = config["studies"]["noise_only"]
    study["mechanisms"] = ["udn", "laplace", "mvg"]
    study["mechanisms_for"] = {"gradient-shapes": {"except": ["laplace"]}}
    checked = check_config(config)["studies"]["noise_only"]
    assert checked.mechanisms_for == {"gradient-shapes": ["udn", "mvg"]}


def test_a_run_has_no_more_audits_than_share_the_confidence(config, monkeypatch):
    monkeypatch.setattr(guarantee, "AUDITS", 3 * len(PAPER_SETTINGS))
    words = "guarantee.audit_samples: must be 0 where mechanisms times calibrations exceed 3, as "
    with pytest.raises(ConfigError, match=words):
        check_config(changed(config, "studies.guarantee.audit_samples", 50))
    check_config(changed(config, "studies.guarantee.audit_samples", 0))


def test_the_check_leaves_its_argument_alone(config):
    before = copy.deepcopy(config)
    check_config(config)
    assert config == before


def test_a_time_may_stand_without_quotes(config):
    """YAML reads an unquoted time as a datetime."""
    unquoted = yaml.safe_load("2014-04-01T00:11:00")
    assert not isinstance(unquoted, str)
    checked = check_config(changed(config, "studies.count_query.start", unquoted))
    assert checked["studies"]["count_query"].start == "2014-04-01T00:11:00"


def test_the_environment_names_the_mirror_before_the_config(config, monkeypatch):
    config = changed(config, "data.mirror", "from-config")
    monkeypatch.delenv("DATA_MIRROR", raising=False)
    assert check_config(config)["data"]["mirror"] == "from-config"
    monkeypatch.setenv("DATA_MIRROR", "from-environment")
    assert check_config(config)["data"]["mirror"] == "from-environment"
