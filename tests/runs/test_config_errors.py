"""Every wrong key or value of a config is reported with its path, in one sentence."""

import pytest
from changed_config import changed

from runs.config import check_config
from studies.base.settings import ConfigError
from studies.count_query import NEW_YORK

BOX = NEW_YORK.model_dump()
MAPS = {"datasets": ["uber"], "mechanisms": ["r1smg"], "epsilons": [0.5], "delta": 1e-5}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("sede", 1, "unknown config key sede; did you mean 'seed'?"),
        ("seed", -1, "config key seed must be a whole number >= 0, got -1"),
        ("seed", 1.5, "config key seed must be a whole number >= 0, got 1.5"),
        (
            "run",
            "My Run",
            "a file name of at most 80 lower-case letters, digits, - and _, got 'My Run'",
        ),
        (
            "run",
            "../up",
            "a file name of at most 80 lower-case letters, digits, - and _, got '../up'",
        ),
        ("run", 81 * "r", "a file name of at most 80 lower-case letters, digits, - and _, got"),
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
            "variants.Mine: 'Mine' must be a name of at most 80 lower-case letters",
        ),
        ("variants.mvg", {"use": "mvg"}, "variants.mvg is already the key of a mechanism"),
        ("variants.mine", {}, "config key variants.mine.use is missing"),
        ("variants.mine", {"used": "mvg"}, "variants.mine.used; did you mean 'use'?"),
        ("variants.mine", {"use": "mvgg"}, "config key variants.mine.use: unknown mechanism"),
        ("variants.mine", {"use": "mvgg"}, "did you mean 'mvg'?"),
        ("variants.mine", {"use": "no_such_module:Mine"}, "variants.mine.use: cannot load"),
        (
            "variants.mine",
            {"use": "mechanisms.query.query:Query"},
            "config key variants.mine.use: mechanisms.query.query:Query must be a Mechanism",
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
            "studies",
            {},
            "config key studies must be a mapping from studies to their settings, got {}",
        ),
        (
            "studies",
            None,
            "config key studies must be a mapping from studies to their settings, got None",
        ),
        (
            "studies.count_qery",
            {},
            "unknown config key studies.count_qery; did you mean 'count_query'?",
        ),
        ("studies.count_query", None, "studies.count_query must be a mapping, got None"),
        (
            "studies.count_query.datasets",
            ["ubr"],
            "unknown config key studies.count_query.datasets.ubr; did you mean 'uber'?",
        ),
        (
            "studies.count_query.datasets",
            ["city", "city"],
            "must be a list of data sets, got ['city', 'city']: 'city' appears twice",
        ),
        (
            "studies.count_query.mechanisms",
            ["gausian"],
            "unknown config key studies.count_query.mechanisms.gausian; did you mean 'gaussian'?",
        ),
        (
            "studies.count_query.mechanisms",
            ["mvg", "mvg"],
            "studies.count_query.mechanisms must be a list that has 'mvg' once",
        ),
        (
            "studies.count_query.calibrations",
            ["exakt"],
            "calibrations[0] must be published or exact, got 'exakt'; did you mean 'exact'?",
        ),
        (
            "studies.count_query.epsilons",
            [1, "1e0"],
            "count_query.epsilons must be a list of numbers in [10^-15, 10^15], got [1, '1e0']",
        ),
        (
            "studies.count_query.epsilons",
            ["1e-320"],
            "count_query.epsilons[0] must be a number in [10^-15, 10^15], got '1e-320'",
        ),
        (
            "studies.count_query.epsilons_for",
            {"r1smgg": [1]},
            "studies.count_query.epsilons_for.r1smgg; did you mean 'r1smg'?",
        ),
        (
            "studies.count_query.calibrations_for",
            {"mvg": ["exakt"]},
            "calibrations_for.mvg[0] must be published or exact, got 'exakt'; did you mean",
        ),
        (
            "studies.count_query.calibrations_for",
            {"mvgg": ["exact"]},
            "studies.count_query.calibrations_for.mvgg; did you mean 'mvg'?",
        ),
        (
            "studies.count_query.calibrations_on",
            {"uber": ["exact"]},
            "unknown config key studies.count_query.calibrations_on.uber; allowed here are city",
        ),
        (
            "studies.count_query.mechanisms_for",
            {"uber": ["mvg"]},
            "unknown config key studies.count_query.mechanisms_for.uber; allowed here are city",
        ),
        (
            "studies.count_query.mechanisms_for",
            {"city": ["mvgg"]},
            "studies.count_query.mechanisms_for.city.mvgg; did you mean 'mvg'?",
        ),
        (
            "studies.count_query.map_epsilons",
            {"defualt": [1]},
            "studies.count_query.map_epsilons.defualt; did you mean 'default'?",
        ),
        (
            "studies.count_query.map_epsilons",
            0.5,
            "studies.count_query.map_epsilons must be a mapping",
        ),
        (
            "studies.count_query.map_epsilons",
            {"default": [0]},
            "map_epsilons.default[0] must be a number in [10^-15, 10^15], got 0",
        ),
        (
            "studies.count_query.map_epsilons",
            {"default": [7]},
            "map_epsilons.default must be among the epsilons that are run there, ",
        ),
        (
            "studies.count_query",
            MAPS
            | {
                "map_epsilons": {"r1smg": [0.5]},
                "bounding_box": BOX | {"south": 40.75},
                "boxes": 3,
            },
            "boxes must be 0 where bounding_box does not hold SoHo and LaGuardia, got 3",
        ),
        (
            "studies.count_query.boxes",
            3,
            "studies.count_query.boxes must be 0 without the data set uber, got 3",
        ),
        (
            "studies.count_query.delta",
            1,
            "studies.count_query.delta must be a number in [0, 1), got 1",
        ),
        (
            "studies.count_query.start",
            "noon",
            "studies.count_query.start must be a time such as 2014-04-01T00:11:00, got 'noon'",
        ),
        (
            "studies.count_query.end",
            5,
            "studies.count_query.end must be a time such as 2014-04-01T00:11:00, got 5",
        ),
        ("studies.count_query.end", "now", "2014-04-01T00:11:00, got 'now': Invalid isoformat"),
        (
            "studies.count_query.end",
            20 * "9",
            "end must be a time such as 2014-04-01T00:11:00, got",
        ),
        ("studies.count_query.end", "2014-04-02T10+02:00", "': leave out the time zone"),
        (
            "studies.count_query.end",
            "2014-04-02T10:00:00.5",
            "': leave out the time zone and parts",
        ),
        (
            "studies.count_query",
            MAPS | {"map_epsilons": {"default": [0.5], "r1smg": [0.5]}},
            "map_epsilons.default must be left out: every mechanism has its own entry, got [",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"north": 95},
            "studies.count_query.bounding_box.north must be a number in [-90, 90], got 95",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"nort": 41},
            "studies.count_query.bounding_box.nort; did you mean 'north'?",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"south": 89},
            "bounding_box.north must be north of the southern edge 89, got 40.9155",
        ),
        (
            "studies.noise_only.sizes",
            ["4by4"],
            "studies.noise_only.sizes[0] must be a shape such as 10x10",
        ),
        (
            "studies.noise_only.growth_delta",
            1,
            "studies.noise_only.growth_delta must be a number in [0, 1), got 1",
        ),
        (
            "studies.noise_only.sizes",
            ["0x3"],
            "sizes[0] must be a shape such as 10x10",
        ),
        (
            "studies.noise_only.sizes",
            ["99999x99999"],
            "must be a shape such as 10x10",
        ),
        (
            "studies.count_query.trials",
            1e12,
            "count_query.trials must be a whole number in [1, 10^6], got 1000000000000",
        ),
        (
            "studies.count_query.cells_per_side",
            100_000,
            "count_query.cells_per_side must be a whole number in [1, 4096], got 100000",
        ),
        (
            "studies.count_query.end",
            "2014-03-01T00:00:00",
            "end must be a time from 2014-04-01T00:11:00 on, got '2014-03-01T00:00:00'",
        ),
        (
            "studies.count_query.mechanisms",
            "everything",
            "mechanisms must be all, a list of names, or a mapping with except, also",
        ),
        (
            "studies.count_query.mechanisms",
            {"exept": ["mvg"]},
            "unknown config key studies.count_query.mechanisms.exept; did you mean 'except'?",
        ),
        (
            "studies.count_query.mechanisms",
            {"except": ["mvgg"]},
            "studies.count_query.mechanisms.except.mvgg; did you mean 'mvg'?",
        ),
        (
            "studies.count_query.mechanisms",
            ["mvg", ["udn"]],
            "count_query.mechanisms must be a list of names of mechanisms, variants and sets, got",
        ),
        (
            "studies.count_query.mechanisms",
            {"also": [{"udn": 1}]},
            "mechanisms.also must be a list of names of mechanisms, variants and sets, got",
        ),
        (
            "studies.count_query.mechanisms_for",
            {"city": {"also": 5}},
            "mechanisms_for.city.also must be a list of mechanisms and variants, got 5",
        ),
        # Mechanisms that the study does not run.
        ("studies.dpsgd.calibrations_for", {"udn": ["exact"]}, "calibrations_for.udn; allowed"),
        ("studies.pca.epsilons_for", {"udn": [1]}, "epsilons_for.udn; allowed here are non-"),
        (
            "studies.private_data.epsilons_on",
            {"digits": {"udn": [1]}},
            "epsilons_on.digits.udn; allowed here are ",
        ),
        # Data sets that the study does not have.
        ("studies.dpsgd.records", {"digit": 5}, "dpsgd.records.digit; did you mean 'digits'?"),
        ("studies.dpsgd.records", {"mnist": 5}, "dpsgd.records.mnist; allowed here are digits"),
        ("sets", {"mine": ["mvgg"]}, "unknown config key sets.mine.mvgg; did you mean 'mvg'?"),
        ("sets", {"mvg": ["mvg"]}, "config key sets.mvg is already the name of a mechanism"),
        # Names that no study uses.
        ("sets", {"mine": ["mvg"]}, "no study names the set sets.mine; name it in one"),
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


def test_a_variant_that_no_study_runs_is_refused(config):
    config["studies"] = {"private_data": config["studies"]["private_data"]}
    config["studies"]["private_data"]["mechanisms"] = ["udn"]
    config |= {"variants": {"mine": {"use": "mvg"}}}
    with pytest.raises(ConfigError, match="no study runs the variant variants"):
        check_config(config)
