"""Cut networks, and the features of records that the extractor was not trained on."""

from pathlib import Path

import numpy as np
import pytest
import torch

from learning.networks.cut_network import CUTS
from learning.records import labelled as data
from learning.training.classifiers import Training
from learning.training.extractor import extract

INPUTS = {"perceptron": (1, 8, 8), "lenet": (1, 28, 28), "cnn": (3, 32, 32)}
INPUTS |= dict.fromkeys(("vgg16", "alexnet"), (3, 32, 32))


def inputs(name, n):
    rng = np.random.default_rng(0)
    if name in INPUTS:
        return torch.from_numpy(rng.random((n, *INPUTS[name]), np.float32))
    words = CUTS[name].body.layers[0].weight[0]
    return torch.from_numpy(rng.integers(0, words, (n, 12)))


@pytest.mark.parametrize("name", CUTS)
def test_a_cut_network_is_its_head_on_its_body(name):
    cut, examples = CUTS[name], inputs(name, 3)
    parameters = torch.from_numpy(cut.whole.initial(np.random.default_rng(0)))
    body, head = parameters.split([cut.body.size, cut.head.size])
    features = cut.body.logits(body, examples)
    assert features.shape == (3, cut.features)
    assert 0 < features.abs().max() < 1
    assert torch.equal(cut.whole.logits(parameters, examples), cut.head.logits(head, features))


@pytest.fixture(scope="module")
def digits():
    return data.load("digits", Path("."), None, 0)


def test_features_come_from_public_records_alone(digits):
    training = Training(epochs=2)
    found = extract(CUTS["perceptron"], digits, 0.25, training, 1)
    same = extract(CUTS["perceptron"], digits, 0.25, training, 1)
    other = extract(CUTS["perceptron"], digits, 0.25, training, 2)
    assert found.public == 360 and len(found.split.train_labels) == 1438 - 360
    assert found.split.train_inputs.shape == (1078, 32)
    assert found.split.train_inputs.dtype == np.float32
    assert np.array_equal(found.split.train_inputs, same.split.train_inputs)
    assert not np.array_equal(found.split.train_labels, other.split.train_labels)
    # Changing a private record changes its own features and nothing else.
    order = np.random.default_rng([1, 0]).permutation(1438)
    private = np.sort(order[360:])
    changed = digits.train_inputs.copy()
    changed[private[5]] = 0
    moved = extract(
        CUTS["perceptron"], data.replace(digits, train_inputs=changed), 0.25, training, 1
    )
    differs = (moved.split.train_inputs != found.split.train_inputs).any(axis=1)
    assert differs.tolist() == [k == 5 for k in range(1078)]


@pytest.mark.parametrize("share", [0.0001, 0.9999])
def test_both_parts_need_a_record(digits, share):
    with pytest.raises(ValueError, match="of 1438 records public; choose a"):
        extract(CUTS["perceptron"], digits, share, Training(epochs=1), 1)
