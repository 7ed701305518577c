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
        ("sede", 1, "key sede: unknown name; did you mean 'seed'?"),
        ("seed", -1, "key seed: Input should be greater than or equal to 0, got -1"),
        ("seed", 1.5, "key seed: 1.5 is not a whole number"),
        ("run", "../up", "key run: String should match pattern"),
        ("run", 81 * "r", "key run: String should match pattern"),
        ("strict", "yes", "key strict: Input should be a valid boolean, got 'yes'"),
        ("data", None, "key data: Input should be a valid dictionary or instance of Data, got N"),
        ("data.miror", "x", "key data.miror: unknown name; did you mean 'mirror'?"),
        ("data.folder", 5, "key data.folder: Input should be a valid string, got 5"),
        ("limits.seconds", 0, "key limits.seconds: Input should be greater than 0, got 0"),
        ("limits.seconds", 1e12, "limits.seconds: Input should be less than or equal to 31536000"),
        ("limits.memory_gib", "two", "key limits.memory_gib: 'two' is no number"),
        ("variants", ["mvg"], "key variants: Input should be a valid dictionary, got ['mvg']"),
        ("variants.Mine", {"use": "mvg"}, "key variants.Mine: String should match pattern"),
        ("variants.mvg", {"use": "mvg"}, "variants.mvg: it is already the key of a mechanism"),
        ("variants.mine", {}, "key variants.mine.use: Field required"),
        ("variants.mine", {"used": "mvg"}, "variants.mine.used: unknown name; did you mean 'use'?"),
        (
            "variants.mine",
            {"use": "mvgg"},
            "key variants.mine.use: unknown mechanism 'mvgg'; did you mean 'mvg'?",
        ),
        ("variants.mine", {"use": "no_such_module:Mine"}, "variants.mine.use: cannot load"),
        (
            "variants.mine",
            {"use": "mechanisms.query.query:Query"},
            "key variants.mine.use: mechanisms.query.query:Query must be a Mechanism",
        ),
        (
            "variants.mine",
            {"use": "mvg", "options": {"zetta": "sqrt"}},
            "key variants.mine.options.zetta: unknown name; did you mean 'zeta'?",
        ),
        (
            "variants.mine",
            {"use": "mvg", "options": {"zeta": "root"}},
            "variants.mine.options.zeta: option zeta must be published or sqrt, got 'root'",
        ),
        ("studies", {}, "key studies: Dictionary should have at least 1 item"),
        ("studies", None, "key studies: Input should be a valid dictionary, got None"),
        ("studies.count_qery", {}, "studies.count_qery: unknown name; did you mean 'count_query'?"),
        (
            "studies.count_query",
            None,
            "studies.count_query: Input should be a valid dictionary or instance of Settings, got",
        ),
        (
            "studies.count_query.datasets",
            ["ubr"],
            "key studies.count_query.datasets.ubr: unknown name; did you mean 'uber'?",
        ),
        ("studies.count_query.datasets", ["city", "city"], "datasets: 'city' appears twice;"),
        (
            "studies.count_query.calibrations",
            ["exakt"],
            "calibrations.0: Input should be 'published' or 'exact', got 'exakt'",
        ),
        (
            "studies.count_query.epsilons",
            ["1e-320"],
            "count_query.epsilons.0: Input should be greater than or equal to 0.000000000000001",
        ),
        (
            "studies.count_query.epsilons_for",
            {"r1smgg": [1]},
            "studies.count_query.epsilons_for.r1smgg: unknown name; did you mean 'r1smg'?",
        ),
        (
            "studies.count_query.calibrations_for",
            {"mvg": ["exakt"]},
            "calibrations_for.mvg.0: Input should be 'published' or 'exact', got 'exakt'",
        ),
        (
            "studies.count_query.calibrations_for",
            {"mvgg": ["exact"]},
            "studies.count_query.calibrations_for.mvgg: unknown name; did you mean 'mvg'?",
        ),
        (
            "studies.count_query.calibrations_on",
            {"uber": ["exact"]},
            "studies.count_query.calibrations_on.uber: unknown name; allowed here are city",
        ),
        (
            "studies.count_query.map_epsilons",
            {"defualt": [1]},
            "studies.count_query.map_epsilons.defualt: unknown name; did you mean 'default'?",
        ),
        (
            "studies.count_query.map_epsilons",
            {"default": [7]},
            "map_epsilons.default: must be among the epsilons that are run there, ",
        ),
        (
            "studies.count_query",
            MAPS
            | {
                "map_epsilons": {"r1smg": [0.5]},
                "bounding_box": BOX | {"south": 40.75},
                "boxes": 3,
            },
            "boxes: must be 0 where bounding_box does not hold SoHo and LaGuardia, got 3",
        ),
        (
            "studies.count_query.boxes",
            3,
            "studies.count_query.boxes: must be 0 without the data set uber, got 3",
        ),
        ("studies.count_query.start", "noon", "count_query.start: Invalid isoformat string: 'noon"),
        ("studies.count_query.end", 5, "studies.count_query.end: Invalid isoformat string: '5'"),
        ("studies.count_query.end", 20 * "9", "studies.count_query.end: month must be in 1..12"),
        ("studies.count_query.end", "2014-04-02T10+02:00", "end: leave out the time zone"),
        ("studies.count_query.end", "2014-04-02T10:00:00.5", "end: leave out the time zone and pa"),
        (
            "studies.count_query",
            MAPS | {"map_epsilons": {"default": [0.5], "r1smg": [0.5]}},
            "map_epsilons.default: must be left out: every mechanism has its own entry, got [",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"north": 95},
            "bounding_box.north: Input should be less than or equal to 90, got 95",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"nort": 41},
            "studies.count_query.bounding_box.nort: unknown name; did you mean 'north'?",
        ),
        (
            "studies.count_query.bounding_box",
            BOX | {"south": 89},
            "bounding_box.north: must be north of the southern edge 89, got 40.9155",
        ),
        ("studies.noise_only.sizes", ["4by4"], "noise_only.sizes.0: must be a shape such as 10x10"),
        (
            "studies.count_query.trials",
            1e12,
            "count_query.trials: Input should be less than or equal to 1000000, got 1000000000000",
        ),
        (
            "studies.count_query.cells_per_side",
            100_000,
            "count_query.cells_per_side: Input should be less than or equal to 4096, got 100000",
        ),
        (
            "studies.count_query.end",
            "2014-03-01T00:00:00",
            "end: must be a time from 2014-04-01T00:11:00 on, got '2014-03-01T00:00:00'",
        ),
        # Sets of mechanisms.
        (
            "studies.count_query.mechanisms",
            ["gausian"],
            "studies.count_query.mechanisms.gausian: unknown name; did you mean 'gaussian'?",
        ),
        (
            "studies.count_query.mechanisms",
            "everything",
            "mechanisms: must be all, a list of names, or a mapping with except, also",
        ),
        ("studies.count_query.mechanisms", [], "mechanisms: List should have at least 1 item"),
        (
            "studies.count_query.mechanisms",
            {"exept": ["mvg"]},
            "studies.count_query.mechanisms.exept: unknown name; did you mean 'except'?",
        ),
        (
            "studies.count_query.mechanisms",
            {"except": ["mvgg"]},
            "studies.count_query.mechanisms.except.mvgg: unknown name; did you mean 'mvg'?",
        ),
        ("studies.count_query.mechanisms", ["mvg", ["udn"]], "mechanisms.['udn']: unknown name;"),
        (
            "studies.count_query.mechanisms_for",
            {"uber": ["mvg"]},
            "studies.count_query.mechanisms_for.uber: unknown name; allowed here are city",
        ),
        (
            "studies.count_query.mechanisms_for",
            {"city": ["mvgg"]},
            "studies.count_query.mechanisms_for.city.mvgg: unknown name; did you mean 'mvg'?",
        ),
        (
            "studies.count_query.mechanisms_for",
            {"city": {"also": 5}},
            "mechanisms_for.city.also: must be a list of names of mechanisms, variants and sets, g",
        ),
        # Mechanisms that the study does not run.
        ("studies.dpsgd.calibrations_for", {"udn": ["exact"]}, "calibrations_for.udn: unknown na"),
        ("studies.pca.epsilons_for", {"udn": [1]}, "epsilons_for.udn: unknown name; allowed here"),
        (
            "studies.private_data.epsilons_on",
            {"digits": {"udn": [1]}},
            "epsilons_on.digits.udn: unknown name; allowed here are ",
        ),
        # Data sets that the study does not have.
        ("studies.dpsgd.records", {"digit": 5}, "records.digit: unknown name; did you mean 'digi"),
        ("studies.dpsgd.records", {"mnist": 5}, "records.mnist: unknown name; allowed here are d"),
        ("sets", {"mine": ["mvgg"]}, "key sets.mine.mvgg: unknown name; did you mean 'mvg'?"),
        ("sets", {"mvg": ["mvg"]}, "key sets.mvg: it is already the name of a mechanism"),
    ],
)
def test_what_is_wrong_is_told(config, path, value, words):
    with pytest.raises(ConfigError) as caught:
        check_config(changed(config, path, value))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("config", [None, [], "text", 5])
def test_a_config_is_a_mapping(config):
    with pytest.raises(ConfigError, match="Input should be a valid dictionary"):
        check_config(config)
