"""Looks and titles of mechanisms and data sets, including unknown ones."""

import itertools
import sys

import pytest

from claims import mechanism_titles
from claims.mechanism_titles import name_own
from datasets import DATASETS
from datasets.titles import dataset_title
from mechanisms import all_mechanisms
from paper_figures.style import (
    CALIBRATION_TITLES,
    legend_order,
    look,
    mechanism_title,
    title_in,
)
from studies.base.study import all_studies

OUTSIDE = '''
from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Other(AdditiveMechanism):
    """Noise from outside the suite."""

    key, title, paper, theorem, guarantee = "other", "Other noise", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        return IndependentGaussian(shape=query.shape, sigma=1.0)
'''


def test_no_two_mechanisms_share_a_colour():
    colours = [look(mechanism).colour for mechanism in all_mechanisms()]
    assert len(set(colours)) == len(colours)


def test_legends_list_known_mechanisms_first_then_the_others_by_name():
    for order in itertools.permutations(["zeta-noise", "mvg", "a-noise", "r1smg"]):
        assert legend_order(order) == ["r1smg", "mvg", "a-noise", "zeta-noise"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("mvg", "MVG"),
        ("mvg-sqrt", "MVG (square root)"),
        ("somebody-elses", "somebody-elses"),
        ("no_such_module:Class", "no_such_module:Class"),
    ],
)
def test_titles_of_mechanisms(name, title):
    assert mechanism_title(name) == look(name).title == title


def test_a_study_has_titles_for_noise_that_is_not_the_theorem_s():
    assert title_in("gradients", "gaussian", "published") == "Classic Gaussian"
    titles = [title_in("dpsgd", "gaussian", each) for each in CALIBRATION_TITLES]
    assert titles == ["DPSGD (Gaussian, noise multiplier by RDP)", "DPSGD (Gaussian, rescaled)"]


def test_a_class_from_outside_has_its_own_title(tmp_path, monkeypatch):
    (tmp_path / "outside_noise.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    assert mechanism_title("outside_noise:Other") == "Other noise"
    # Rows of `also` have its key.
    monkeypatch.setattr(mechanism_titles, "OWN", {})
    name_own(["outside_noise:Other"])
    assert look("other").title == "Other noise"
    sys.modules.pop("outside_noise")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("cifar10", "CIFAR-10"),
        ("mobilenet_v2", DATASETS["mobilenet_v2"].title),
        ("my-data", "my-data"),
    ],
)
def test_titles_of_data_sets(name, title):
    assert dataset_title(name) == title


def test_every_data_set_of_a_study_has_a_title():
    named = {
        name
        for study in all_studies().values()
        for name, source in study.datasets.items()
        # The other "data sets" are families of queries.
        if source != "none"
    }
    assert {name for name in named if dataset_title(name) == name} == set()
