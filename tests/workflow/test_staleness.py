"""Which changes make cells stale, judged by the cells that would be measured again.

Changing anything that a number depends on makes its cells stale. Changing words or colours does
not.
"""

import contextlib

import pytest
import yaml

pytestmark = pytest.mark.slow
STUDY = {
    "mechanisms": ["gaussian", "laplace", "mine"],
    "datasets": ["fixed-sensitivity", "growing-sensitivity"],
    "calibrations": ["published"],
    "epsilons": [0.5],
    "delta": 1e-10,
    "sizes": ["4x4"],
    "growth_shapes": ["4x4"],
    "growth_epsilon": 0.5,
    "growth_delta": 1e-5,
    "gradient_shapes": ["4x4"],
    "trials": 20,
    "largest_draw": 1e5,
    "timed_draws": 2,
}
CONFIG = {
    "run": "small",
    "variants": {"mine": {"use": "my_noise.law:Mine"}},
    "studies": {"noise_only": STUDY},
}
MINE = '''
"""Noise outside of the tree."""

import my_helper
from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian

from .scale import SCALE


class Mine(AdditiveMechanism):
    """A multiple of the sensitivity."""

    key = "mine"
    title = "Mine"
    paper = "mine"
    theorem = "none"
    guarantee = "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        sigma = my_helper.FACTOR * SCALE * query.l2_sensitivity
        return IndependentGaussian(shape=query.shape, sigma=sigma)
'''
LAPLACE, CONTRACT = "mechanisms/catalogue/laplace.py", "mechanisms/base/mechanism.py"
ALL = {"gaussian", "laplace", "mine"}
# Words, colours and code that no cell uses: the files, and the changes.
WITHOUT_EFFECT = [
    (LAPLACE, "look = (", "# A comment.\n    look = ("),
    (LAPLACE, "/ epsilon: pure", "over epsilon: pure"),
    (LAPLACE, "#882255", "#882256"),
    (LAPLACE, 'title = "Laplace"', 'title = "The Laplace"'),
    (CONTRACT, '"""The contract of', '"""A contract of'),
    ("mechanisms/catalogue/mvg.py", "class MVG(", "X = 1\nclass MVG("),
]
# The file to change, the change, and the mechanisms whose cells become stale.
CHANGES = {
    "constant of a mechanism": ("my_noise/law.py", "FACTOR * SCALE", "FACTOR * 2", {"mine"}),
    "constant of the study": ("studies/noise_only.py", "0.5, 0.95", "0.5, 0.951", ALL),
    "helper outside the tree": ("my_helper.py", "FACTOR = 40", "FACTOR = 4", {"mine"}),
    "relative import": ("my_noise/scale.py", "SCALE = 1", "SCALE = 2", {"mine"}),
    "key of the config": ("small.yaml", "trials: 20", "trials: 21", ALL),
}


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory):
    project = new_project(tmp_path_factory.mktemp("stale"))
    (project.folder / "small.yaml").write_text(yaml.safe_dump(CONFIG))
    (project.folder / "my_noise").mkdir()
    (project.folder / "my_noise/__init__.py").write_text("")
    (project.folder / "my_noise/law.py").write_text(MINE)
    (project.folder / "my_noise/scale.py").write_text("SCALE = 1\n")
    (project.folder / "my_helper.py").write_text("FACTOR = 40\n")
    project.snakemake("results", config="small.yaml")
    assert not project.cells_to_run("small.yaml")
    return project


@contextlib.contextmanager
def changed(folder, changes):
    """Change files for some time; each change must find its words."""
    files = {folder / name: (folder / name).read_text() for name, _, _ in changes}
    try:
        for name, old, new in changes:
            text = (folder / name).read_text()
            assert old in text
            (folder / name).write_text(text.replace(old, new))
        yield
    finally:
        for path, text in files.items():
            path.write_text(text)


def test_words_and_unused_code_make_nothing_stale(finished):
    with changed(finished.folder, WITHOUT_EFFECT):
        assert not finished.cells_to_run("small.yaml")
        assert not finished.planned_batches("results", config="small.yaml")


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_makes_stale_what_depends_on_it(finished, change):
    *edit, expected = CHANGES[change]
    with changed(finished.folder, [edit]):
        stale = finished.cells_to_run("small.yaml")
        assert finished.planned_batches("results", config="small.yaml")
    by_mechanism = {stem.rpartition("/")[2].partition("--")[0] for stem in stale}
    assert by_mechanism == expected
    assert len(stale) == 2 * len(expected)
