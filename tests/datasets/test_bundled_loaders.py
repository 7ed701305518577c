"""Data that scikit-learn bundles have its names of features, and are not fetched."""

import pytest
from sklearn import datasets as oracle

import datasets
from datasets import DataError
from datasets.catalogue import loader

LOADERS = {
    "diabetes": oracle.load_diabetes,
    "wine": oracle.load_wine,
    "breast_cancer": oracle.load_breast_cancer,
}


@pytest.mark.parametrize("name", LOADERS)
def test_features_have_the_names_of_scikit_learn(name):
    expected = LOADERS[name]()
    assert list(loader(name).FEATURES) == list(expected.feature_names)
    assert datasets.load(name).features.shape == expected.data.shape


def test_diabetes_are_not_scaled():
    assert datasets.load("diabetes").features[0].tolist() == [
        59,
        2,
        32.1,
        101,
        157,
        93.2,
        38,
        4,
        4.8598,
        87,
    ]


@pytest.mark.parametrize("name", LOADERS)
def test_they_are_not_fetched(name, tmp_path):
    assert datasets.DATASETS[name].source == "bundled"
    with pytest.raises(DataError, match=f"{name} is bundled"):
        datasets.fetch(name, tmp_path)
