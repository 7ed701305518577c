"""The cells of a run, and the files that each of them depends on."""

from dataclasses import replace
from pathlib import Path

import pytest

from mechanisms import all_mechanisms, get_mechanism
from runs.cell_spec import CellSpec
from runs.cells import cells_of, sources_of
from runs.config import read_config
from runs.sources import source_files
from studies.base import Point
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[2]
# Two data sets of private_data, and two of noise_only.
DIGITS_AND_MNIST = {
    "datasets": ["digits", "mnist"],
    "classifiers": {"digits": "logistic", "mnist": "logistic"},
    "mechanisms": ["laplace", "tldp-g"],
}
TWO_FAMILIES = {
    "datasets": ["fixed-sensitivity", "gradient-shapes"],
    "mechanisms": ["mvg", "udn"],
}
# The settings of a study, with the calibrations of its cells by data set and mechanism.
CALIBRATIONS = [
    (
        {"mechanisms": ["udn", "mvg", "non-private"]},
        {
            ("fixed-sensitivity", "udn"): ["published", "exact"],
            ("fixed-sensitivity", "mvg"): ["published", "exact"],
            ("fixed-sensitivity", "non-private"): ["published"],
        },
    ),
    (
        {"variants": {"truth": {"use": "non-private"}}, "mechanisms": ["truth", "udn"]},
        {
            ("fixed-sensitivity", "truth"): ["published"],
            ("fixed-sensitivity", "udn"): ["published", "exact"],
        },
    ),
    (
        {"mechanisms": ["mvg", "non-private"], "calibrations": ["exact"]},
        {("fixed-sensitivity", "mvg"): ["exact"]},
    ),
    (
        TWO_FAMILIES
        | {"mechanisms_for": {"gradient-shapes": ["udn"]}, "calibrations": ["published"]},
        {
            ("fixed-sensitivity", "mvg"): ["published"],
            ("fixed-sensitivity", "udn"): ["published"],
            ("gradient-shapes", "udn"): ["published"],
        },
    ),
    (
        TWO_FAMILIES
        | {
            "calibrations_for": {"udn": ["exact"]},
            "calibrations_on": {"gradient-shapes": ["published"]},
        },
        {
            ("fixed-sensitivity", "mvg"): ["published", "exact"],
            ("fixed-sensitivity", "udn"): ["exact"],
            ("gradient-shapes", "mvg"): ["published"],
        },
    ),
]
# The settings of private_data, with the budgets of its cells by data set, mechanism, calibration.
BUDGETS = [
    (
        {
            "epsilons": [1.0, 2.0, 5.0],
            "epsilons_for": {"laplace": [1.0]},
            "least_exact_epsilon": {"digits": 2.0},
        },
        {
            ("digits", "laplace", "published"): [1.0],
            ("digits", "tldp-g", "published"): [1.0, 2.0, 5.0],
            ("digits", "tldp-g", "exact"): [2.0, 5.0],
            ("mnist", "laplace", "published"): [1.0],
            ("mnist", "laplace", "exact"): [1.0],
            ("mnist", "tldp-g", "published"): [1.0, 2.0, 5.0],
            ("mnist", "tldp-g", "exact"): [1.0, 2.0, 5.0],
        },
    ),
    (
        {
            "calibrations": ["published"],
            "epsilons_for": {"tldp-g": [2.0]},
            "epsilons_on": {"digits": {"tldp-g": [3.0, 4.0]}},
        },
        {
            ("digits", "laplace", "published"): [1.0],
            ("digits", "tldp-g", "published"): [3.0, 4.0],
            ("mnist", "laplace", "published"): [1.0],
            ("mnist", "tldp-g", "published"): [2.0],
        },
    ),
]


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.chdir(ROOT)
    return read_config("config/tiny.yaml")


def cell(config, stem="count_query/city/mvg--published"):
    (found,) = (each for each in cells_of(config) if each.stem == stem)
    return found


@pytest.mark.parametrize(("settings", "expected"), CALIBRATIONS)
def test_the_cells_of_a_study(make_config, settings, expected):
    found = {}
    for each in cells_of(make_config(**settings)):
        found.setdefault((each.dataset, each.mechanism), []).append(each.calibration)
    assert found == expected


@pytest.mark.parametrize(("settings", "expected"), BUDGETS)
def test_the_budgets_of_cells(make_config, settings, expected):
    config = make_config("private_data", **DIGITS_AND_MNIST | settings)
    found = {
        (each.dataset, each.mechanism, each.calibration): [p.epsilon for p in each.points]
        for each in cells_of(config)
    }
    assert found == expected


def test_every_cell_has_a_file_of_its_own(tiny):
    stems = [c.stem for c in cells_of(tiny)]
    assert len(set(stems)) == len(stems)
    assert "count_query/city/mvg--published" in stems


@pytest.mark.parametrize("mechanism", ["mvg", "r1smg"])
def test_points_follow_the_grid_of_the_mechanism(tiny, mechanism):
    settings = tiny["studies"]["count_query"]
    epsilons = settings.epsilons_for.get(mechanism, settings.epsilons)
    side = settings.cells_per_side
    assert cell(tiny, f"count_query/city/{mechanism}--published").points == tuple(
        Point(shape=(side, side), epsilon=epsilon, delta=settings.delta) for epsilon in epsilons
    )


def test_what_a_cell_is_told_survives_json_and_says_all(tiny):
    for each in cells_of(tiny):
        again = CellSpec.from_json(each.to_json())
        assert again == each and again.to_json() == each.to_json()
        assert list(again.columns) == [c.name for c in all_studies()[each.study].coordinates]
        assert again.points
        assert get_mechanism(each.use).key in all_mechanisms()
    variant = cell(tiny, "count_query/city/mvg-sqrt--published")
    assert variant.options == {"zeta": "sqrt"}
    assert variant.mechanism == "mvg-sqrt"
    assert get_mechanism(variant.use).key == "mvg"


def test_cells_share_a_problem_where_data_and_settings_are_the_same(make_config):
    datasets = ["fixed-sensitivity", "growing-sensitivity"]
    config = make_config(mechanisms=["mvg", "udn"], datasets=datasets)
    told = [CellSpec.from_json(each.to_json()) for each in cells_of(config)]
    assert len(told) == 8
    for one in told:
        for other in told:
            assert (one.problem == other.problem) == (one.dataset == other.dataset)
            assert one.problem != replace(other, seed=other.seed + 1).problem


def test_another_mechanism_or_epsilon_does_not_change_a_cell(make_config):
    small = make_config(mechanisms=["mvg", "udn"], epsilons_for={"udn": [1]})
    large = make_config(mechanisms=["mvg", "udn", "idn"], epsilons_for={"udn": [1, 2]})
    mvg, udn = (f"noise_only/fixed-sensitivity/{name}--published" for name in ("mvg", "udn"))
    assert cell(small, mvg) == cell(large, mvg)
    assert cell(small, udn) != cell(large, udn)


def test_sources_are_what_the_numbers_depend_on_and_no_other_mechanism(tiny):
    sources = sources_of(cell(tiny))
    for name in (
        "mechanisms/catalogue/mvg.py",
        "mechanisms/noise/matrix_gaussian.py",
        "mechanisms/privacy/gaussian_profile.py",
        "studies/count_query.py",
        "datasets/loaders/city.py",
        "runs/worker.py",
        "studies/base/seeds.py",
        "studies/base/grid.py",
    ):
        assert name in sources
    for name in (
        "mechanisms/catalogue/gram/jl.py",
        "mechanisms/catalogue/laplace.py",
        "studies/noise_only.py",
    ):
        assert name not in sources
    assert all(Path(name).is_file() for name in sources)


def test_sources_of_every_study_follow_its_imports(tiny):
    for each in cells_of(tiny):
        text = Path(f"studies/{each.study}.py").read_text()
        for other in Path("studies").glob("*.py"):
            if f"from studies.{other.stem} import" in text:
                assert str(other) in sources_of(each)


def test_sources_of_an_outside_mechanism_are_its_own_package_what_it_imports_and_ours(
    tmp_path, monkeypatch, make_config
):
    (tmp_path / "elsewhere/deep").mkdir(parents=True)
    (tmp_path / "elsewhere/__init__.py").write_text("FACTOR = 2.0\n")
    (tmp_path / "elsewhere/unused.py").write_text("")
    (tmp_path / "beside_elsewhere.py").write_text("")
    (tmp_path / "elsewhere/tables.py").write_text("from .deep.more import SIGMA\n")
    (tmp_path / "elsewhere/deep/__init__.py").write_text("")
    (tmp_path / "elsewhere/deep/more.py").write_text("from .. import FACTOR\nSIGMA = 3 * FACTOR\n")
    (tmp_path / "elsewhere/noise.py").write_text(
        "import numpy, beside_elsewhere\n"
        "from . import tables\n"
        "from mechanisms import AdditiveMechanism\n"
        "from mechanisms.noise.gaussian_noise import IndependentGaussian\n"
        "class Mine(AdditiveMechanism):\n"
        "    key, title, paper, theorem, guarantee = ['mine'] * 4 + ['approximate']\n"
        "    @classmethod\n"
        "    def noise_for(cls, query, budget):\n"
        "        return IndependentGaussian(shape=query.shape, sigma=tables.SIGMA)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(ROOT)
    config = make_config(variants={"mine": {"use": "elsewhere.noise:Mine"}}, mechanisms=["mine"])
    sources = sources_of(cells_of(config)[0])
    own = {name for name in sources if name.startswith(str(tmp_path))}
    files = ("__init__", "noise", "tables", "deep/__init__", "deep/more", "../beside_elsewhere")
    assert own == {str((tmp_path / f"elsewhere/{name}.py").resolve()) for name in files}
    assert "mechanisms/noise/gaussian_noise.py" in sources
    assert "mechanisms/catalogue/mvg.py" not in sources
    assert not [name for name in sources if "numpy" in name]


def test_source_files_of_what_is_no_module_are_none():
    assert source_files("datasets.fixed-sensitivity") == set()
