"""The loaders read the official data, if DATA_MIRROR names a folder that has them."""

import dataclasses

import numpy as np
import pytest

import datasets
from datasets.loaders import cardiotocography, cifar10
from datasets.majority import MAJORITY
from paper_figures.mvg2018.draws import COMPONENT, EXACT_COVARIANCE
from papers.r1smg2024 import DENSEST_WINDOW, PLACES


def test_mnist(official):
    data = official("mnist")
    counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(data.train_labels).tolist() == counts
    assert np.bincount(data.test_labels).max() / 10_000 == MAJORITY["mnist"]
    assert data.train_images.mean() / 255 == pytest.approx(0.1307, abs=5e-5)
    assert data.train_images.std() / 255 == pytest.approx(0.3081, abs=5e-5)


@pytest.mark.slow
def test_cifar10(mirror, tmp_path, monkeypatch):
    """Reads one training batch of five, because decompressing all of them is slow."""
    names = ("data_batch_1", "test_batch")
    part = tuple(file for file in cifar10.ENTRY.files if file.name in names)
    monkeypatch.setattr(cifar10, "ENTRY", dataclasses.replace(cifar10.ENTRY, files=part))
    folder = datasets.fetch("cifar10", tmp_path, mirror=mirror)
    files = [folder / "data_batch_1"] * 5
    data = cifar10.parse(*files, folder / "test_batch")
    counts = [1005, 974, 1032, 1016, 999, 937, 1030, 1001, 1025, 981]
    assert np.bincount(data.train_labels[:10_000]).tolist() == counts
    assert np.bincount(data.test_labels).tolist() == [1000] * 10
    assert MAJORITY["cifar10"] == 0.1
    means = data.train_images.mean(axis=(0, 2, 3)) / 255
    assert means == pytest.approx([0.4914, 0.4822, 0.4465], abs=4e-3)
    # A frog, class 6.
    assert data.train_labels[0] == 6


@pytest.mark.slow
def test_imdb(official):
    data = official("imdb")
    for split, size in ((data.train, 33_132_823), (data.test, 32_350_685)):
        assert np.bincount(split.labels).tolist() == [12_500, 12_500]
        assert sum(len(text.encode()) for text in split.texts) == size


def test_adult(official):
    data = official("adult")
    assert (data.train["income"] == ">50K").sum() == 7_841
    assert (data.test["income"] == ">50K").sum() == 3_846
    missing = data.train.isna().sum()
    assert missing[missing > 0].to_dict() == {
        "workclass": 1836,
        "occupation": 1843,
        "native-country": 583,
    }
    assert data.train["age"].agg(["min", "max"]).tolist() == [17, 90]
    assert data.test["income"].value_counts(normalize=True).max() == MAJORITY["adult"]


def test_uber(official):
    data = official("uber")
    assert str(data.time.min()) == "2014-04-01T00:00:00"
    assert str(data.time.max()) == "2014-04-30T23:59:00"
    # The window of the R1SMG paper, Section 7.1.
    first, last = np.datetime64("2014-04-01T00:11:00"), np.datetime64("2014-04-03T23:57:00")
    inside = (first <= data.time) & (data.time <= last)
    assert inside.sum() == 52_692
    (south, west), (north, east) = PLACES.values()
    inside &= (south <= data.latitude) & (data.latitude <= north)
    inside &= (west <= data.longitude) & (data.longitude <= east)
    order = np.argsort(data.latitude[inside])
    latitude, longitude = data.latitude[inside][order], data.longitude[inside][order]
    # Two sides of the densest rectangle pass through a pickup each.
    ends = np.searchsorted(latitude, latitude + (north - south) / 89, side="right")
    most = 0
    for start, end in enumerate(ends):
        if end - start > most:
            across = np.sort(longitude[start:end])
            last = np.searchsorted(across, across + (east - west) / 89, side="right")
            most = max(most, int((last - np.arange(len(across))).max()))
    assert most == DENSEST_WINDOW


def test_liver_disorders(official):
    data = official("liver_disorders")
    assert (data.targets.min(), data.targets.max()) == (0, 20)


def test_movement_aal(official):
    sequences = official("movement_aal")
    assert max(np.abs(sequence).max() for sequence in sequences) == 1
    values = np.concatenate(sequences)[:2021]
    np.testing.assert_allclose(values.T @ values / 2021, EXACT_COVARIANCE, rtol=1e-12)
    assert COMPONENT.floor == pytest.approx(0.5064142, abs=1e-7)


def test_cardiotocography(official):
    data = official("cardiotocography")
    assert np.bincount(data.targets).tolist() == [0, 1655, 295, 176]
    baseline = data.features[:, cardiotocography.FEATURES.index("LB")]
    assert (baseline.min(), baseline.max()) == (106, 160)


def test_cora(official, mirror):
    data = official("cora")
    assert set(np.unique(data.features)) == {0, 1}
    assert np.bincount(data.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    other = np.load(mirror / "cora" / "cora_planetoid.npz")
    assert np.array_equal(data.labels, other["labels"])
    assert np.array_equal(data.edges, np.unique(np.sort(other["edges"], axis=1), axis=0))
    assert np.array_equal(data.train, other["train_idx"])
    assert np.array_equal(data.validation, other["val_idx"])
    assert np.array_equal(data.test, np.sort(other["test_idx"]))
    assert np.bincount(data.labels[data.test]).max() / len(data.test) == MAJORITY["cora"]
    rows = np.repeat(np.arange(2708), np.diff(other["feat_indptr"]))
    assert data.features.sum() == other["feat_data"].sum()
    assert (data.features[rows, other["feat_indices"]] == other["feat_data"]).all()


def test_location30(official):
    data = official("location30")
    counts = np.bincount(data.labels)
    assert len(counts) == 30
    assert (counts.min(), counts[0], counts[7]) == (97, 169, 308)
