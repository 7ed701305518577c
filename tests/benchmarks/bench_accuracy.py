"""What the papers' networks reach without privacy, on official data in full."""

import os

import numpy as np
import pytest

import datasets
from learning.networks.lenet import LENET
from learning.networks.lstm import IMDB_LSTM
from learning.networks.multilayer_perceptron import ADULT_MLP
from learning.records import labelled as data
from learning.training.classifiers import Training, network

# Network, training, and the accuracy that such networks are known to exceed.
CASES = {
    "mnist": (LENET, Training(epochs=6), 0.985),
    "adult": (ADULT_MLP, Training(epochs=10), 0.84),
    "imdb": (IMDB_LSTM, Training(epochs=3), 0.84),
}


@pytest.mark.skipif("DATA_MIRROR" not in os.environ, reason="needs DATA_MIRROR with official data")
@pytest.mark.parametrize("name", CASES)
def test_accuracy_without_privacy(name, tmp_path, capsys):
    """IMDB takes some minutes on one core, the others some seconds."""
    model, training, known = CASES[name]
    datasets.fetch(name, tmp_path, mirror=os.environ["DATA_MIRROR"])
    split = data.load(name, tmp_path, None, 0)
    found = network(split, model, training, seed=0)
    accuracy = float(np.mean(found == split.test_labels))
    with capsys.disabled():
        print(f"\n{name} without privacy: test accuracy {accuracy:.4f}, known to exceed {known}")
    assert accuracy > known
