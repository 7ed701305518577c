"""Features of torchvision's MobileNetV2, with random weights."""

import numpy as np
import pytest
import torch
from torchvision.models import MobileNet_V2_Weights, mobilenet_v2

from learning.records.labelled import Split
from learning.training.classifiers import Training
from learning.training.pretrained import FEATURES, features, fine_tuned

COLOURS = np.random.default_rng(0).random((3, 3, 32, 32), np.float32)
GREYS = np.random.default_rng(1).random((2, 1, 28, 28), np.float32)


@pytest.fixture(scope="module")
def weights():
    """Random weights, with running averages like those of a trained network."""
    generator = torch.Generator().manual_seed(0)
    network = mobilenet_v2(weights=None)
    found = network.state_dict()
    for name, tensor in found.items():
        if name.endswith("running_mean"):
            tensor.normal_(0, 0.1, generator=generator)
        elif tensor.dim() == 4:
            tensor.normal_(0, (2 / tensor[0].numel()) ** 0.5, generator=generator)
    return found


@pytest.mark.parametrize("images", [COLOURS, GREYS])
def test_features_equal_those_of_torchvision_with_another_activation(weights, images, monkeypatch):
    before = {name: tensor.clone() for name, tensor in weights.items()}
    found = features(weights, images)
    assert all(torch.equal(before[name], tensor) for name, tensor in weights.items())
    assert found.shape == (len(images), FEATURES) and found.dtype == np.float32
    assert 0.01 < np.abs(found).max() < 1

    network = mobilenet_v2(weights=None)
    network.load_state_dict(weights)
    network.eval()
    monkeypatch.setattr(torch.nn.ReLU6, "forward", lambda self, x: torch.tanh(x))
    seen = []
    network.classifier.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    prepared = MobileNet_V2_Weights.IMAGENET1K_V1.transforms()
    with torch.no_grad():
        for image in images:
            three = np.broadcast_to(image, (3, *image.shape[1:])).copy()
            network(prepared(torch.from_numpy(three))[None])
    assert np.allclose(found, torch.cat(seen).numpy(), rtol=1e-4, atol=1e-5)


def test_fine_tuning_is_training_of_all_of_torchvisions_network(weights):
    """Two steps by hand, because so deep a network with random weights takes hours to learn."""
    rng = np.random.default_rng(2)
    images, labels = rng.random((12, 1, 8, 8), np.float32), np.arange(8) % 4
    data = Split(
        train_inputs=images[:8], train_labels=labels, test_inputs=images[8:], test_labels=labels[:4]
    )
    before = {name: tensor.clone() for name, tensor in weights.items()}
    training = Training(epochs=1, batch=4, learning_rate=0.01)
    found = [fine_tuned(weights, data, 50, training, seed) for seed in (1, 1, 2)]
    assert all(torch.equal(before[name], tensor) for name, tensor in weights.items())

    torch.manual_seed(1)
    network = mobilenet_v2(weights=None)
    network.load_state_dict(weights)
    network.classifier[1] = torch.nn.Linear(1280, 50)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    # Grey images get three equal channels; they are not enlarged, cut, shifted or scaled.
    seen = torch.from_numpy(np.repeat(images, 3, axis=1))
    order = np.random.default_rng(1).permutation(8)
    for chosen in (order[:4], order[4:]):
        optimiser.zero_grad()
        loss = -torch.log_softmax(network(seen[chosen]), 1)[range(4), labels[chosen]].mean()
        loss.backward()
        optimiser.step()
    network.eval()
    assert found[0].tolist() == network(seen[8:]).argmax(dim=1).tolist()
    assert np.array_equal(found[0], found[1]) and not np.array_equal(found[0], found[2])


def test_fine_tuning_refuses_unsupported_input(weights):
    inputs, labels = GREYS[[0, 1, 0, 1, 0]], np.array([0, 1, 0, 1, 0])
    data = Split(
        train_inputs=inputs[:4],
        train_labels=labels[:4],
        test_inputs=inputs[4:],
        test_labels=labels[4:],
    )
    with pytest.raises(ArithmeticError, match="logits of MobileNetV2 are not finite"):
        fine_tuned(weights, data, 10, Training(epochs=1, batch=4, learning_rate=1e30), 0)
    with pytest.raises(ValueError, match=r"4 records in batches of 3 leave a last batch of one"):
        fine_tuned(weights, data, 10, Training(epochs=1, batch=3), 0)
