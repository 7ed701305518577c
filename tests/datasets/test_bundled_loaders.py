"""Our loaders of data that scikit-learn bundles agree with scikit-learn's loaders."""

import numpy as np
import pytest
from sklearn import datasets as oracle

import datasets
from datasets import DataError
from datasets.formats import bundled
from datasets.loaders import breast_cancer, diabetes, wine


def test_diabetes():
    expected = oracle.load_diabetes(scaled=False)
    ours = datasets.load("diabetes")
    assert np.array_equal(ours.features, expected.data)
    assert np.array_equal(ours.progression, expected.target)
    assert list(diabetes.FEATURES) == list(expected.feature_names)


@pytest.mark.parametrize(
    ("module", "load", "target"),
    [
        (wine, oracle.load_wine, "grower"),
        (breast_cancer, oracle.load_breast_cancer, "benign"),
    ],
)
def test_classified_data(module, load, target):
    expected, ours = load(), module.load()
    assert np.array_equal(ours.features, expected.data)
    assert np.array_equal(getattr(ours, target), expected.target)
    assert list(module.FEATURES) == list(expected.feature_names)


@pytest.mark.parametrize("name", ["diabetes", "wine", "breast_cancer"])
def test_they_are_not_fetched(name, tmp_path):
    assert datasets.DATASETS[name].source == "bundled"
    with pytest.raises(DataError, match=f"{name} is bundled"):
        datasets.fetch(name, tmp_path)


def test_a_missing_file_is_an_error():
    with pytest.raises(DataError, match=r"no_such\.csv"):
        bundled.bundled_table(wine.ENTRY, "no_such.csv", {})


def test_loading_does_not_import_scikit_learn(run_python):
    program = "import datasets, sys; datasets.load('wine'); print('sklearn' in sys.modules)"
    assert run_python(program) == "False\n"
