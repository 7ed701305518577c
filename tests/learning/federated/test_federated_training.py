"""Federated training against central training, and release by layer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from learning.federated import horizontal as federated
from learning.federated import layerwise_release as layerwise
from learning.federated import vertical
from learning.networks.lstm import REVIEWS_LSTM
from learning.networks.multilayer_perceptron import ADULT_MLP, multilayer_perceptron
from learning.networks.network import Layer, Network
from learning.networks.resnet import RESNET18
from learning.networks.small_cnns import LENET
from learning.networks.split_network import SPLIT_NETWORKS, SplitNetwork, halves
from learning.records.labelled import Split
from learning.training.rounds import Diverged
from learning.training.trial import Seeds

SEEDS = Seeds(start=1, batches=2, noise=3)
NETWORK = multilayer_perceptron(6, 5, 3)
PLAN = federated.HorizontalPlan(
    participants=5, rounds=3, local_epochs=1, batch=8, learning_rate=0.3, clip=None
)
SPLIT = SplitNetwork(columns=halves(6), features=4, classes=3)
VERTICAL = vertical.VerticalPlan(rounds=3, iterations=4, batch=7, learning_rate=0.3)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (80, 6)).astype(np.float32)
    labels = (inputs @ rng.standard_normal((6, 3))).argmax(axis=1)
    return Split(
        train_inputs=inputs[:41],
        train_labels=labels[:41],
        test_inputs=inputs[41:],
        test_labels=labels[41:],
    )


def exact(upload, rng):
    return upload


def noisy(upload, rng):
    return upload + rng.standard_normal(upload.shape, np.float32)


def after(train, *args, path, **kwargs):
    """The history and the final parameters of one run."""
    history = train(*args, [SEEDS], checkpoint=path / "x", **kwargs)
    (parameters,) = torch.load(path / "x")["parameters"].numpy()
    return history, parameters


def gradient(network, parameters, inputs, labels):
    at = torch.from_numpy(parameters).requires_grad_()
    loss = cross_entropy(network.logits(at, torch.from_numpy(inputs)), torch.from_numpy(labels))
    return torch.autograd.grad(loss, at)[0].numpy()


def test_one_local_step_is_central_gradient_descent(data, tmp_path):
    """With eight records each, one left over, the mean of five gradients is that of the union."""
    _, found = after(federated.train, NETWORK, data, PLAN, exact, path=tmp_path)
    used = np.random.default_rng([SEEDS.batches, 0, 1]).permutation(41)[:40]
    inputs, labels = data.train_inputs[used], data.train_labels[used]
    expected = NETWORK.initial(np.random.default_rng(SEEDS.start))
    for _ in range(PLAN.rounds):
        expected = expected - np.float32(0.3) * gradient(NETWORK, expected, inputs, labels)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("together", [8, 128])
def test_local_steps_of_one_participant_are_plain_training(together, data, tmp_path, monkeypatch):
    """One round of four epochs with two steps each, against the same batches by hand."""
    monkeypatch.setattr(federated, "TOGETHER", together)
    plan = replace(PLAN, participants=1, rounds=1, local_epochs=4, batch=21)
    _, found = after(federated.train, NETWORK, data, plan, exact, path=tmp_path)
    owned = np.random.default_rng([SEEDS.batches, 0, 1]).permutation(41)
    batches = np.random.default_rng([SEEDS.batches, 0])
    batches.random(41)
    expected = NETWORK.initial(np.random.default_rng(SEEDS.start))
    for _ in range(4):
        order = batches.permutation(owned)
        for chosen in (order[:21], order[21:]):
            step = gradient(NETWORK, expected, data.train_inputs[chosen], data.train_labels[chosen])
            expected = expected - np.float32(0.3) * step
    assert found == pytest.approx(expected, abs=1e-6)


def test_uploads_are_clipped_sums_of_the_epochs_gradients(data):
    uploads = []

    def keep(upload, rng):
        uploads.append(upload)
        return upload

    federated.train(NETWORK, data, replace(PLAN, rounds=1), keep, [SEEDS])
    start = NETWORK.initial(np.random.default_rng(SEEDS.start))
    owned = np.random.default_rng([SEEDS.batches, 0, 1]).permutation(41)[:8]
    own = gradient(NETWORK, start, data.train_inputs[owned], data.train_labels[owned])
    assert len(uploads) == 5
    assert uploads[0] == pytest.approx(own, abs=1e-6)
    whole = uploads.copy()
    uploads.clear()
    federated.train(NETWORK, data, replace(PLAN, rounds=1, clip=0.01), keep, [SEEDS])
    assert uploads[0] == pytest.approx(np.clip(whole[0], -0.01, 0.01), abs=1e-7)
    assert np.abs(uploads[0]).max() == np.float32(0.01)


def test_sums_over_steps_are_larger_by_their_number(data, tmp_path):
    """Sums over S = 2 steps, clipped at 2 C with twice the noise, give the same parameters."""
    plan = replace(PLAN, batch=4, clip=0.01)
    seen = {False: [], True: []}

    def release(summed):
        def keep(upload, rng):
            seen[summed].append(upload)
            return upload + (1 + summed) * noisy(np.zeros_like(upload), rng)

        return keep

    _, means = after(federated.train, NETWORK, data, plan, release(False), path=tmp_path)
    sums_plan = replace(plan, clip=0.02, summed=True)
    (tmp_path / "sums").mkdir()
    _, sums = after(
        federated.train, NETWORK, data, sums_plan, release(True), path=tmp_path / "sums"
    )
    assert seen[True][0] == pytest.approx(2 * seen[False][0], abs=1e-6)
    assert sums == pytest.approx(means, abs=1e-5)


def test_overflow_is_clipped_and_divergence_reported(data, tmp_path):
    # Steps from such parameters are huge or NaN; uploads still stay in their box.
    seen = []

    def keep(upload, rng):
        seen.append(upload)
        return 1e18 * rng.standard_normal(upload.shape)

    federated.train(NETWORK, data, replace(PLAN, clip=0.1), keep, [SEEDS])
    assert len(seen) == 15 and np.isfinite(seen).all()
    assert np.abs(seen).max() <= np.float32(0.1)
    with pytest.raises(Diverged, match="the network's logits are not finite"):
        federated.train(NETWORK, data, PLAN, lambda u, rng: np.full_like(u, 1e25), [SEEDS])
    with pytest.raises(Diverged, match="the parameters after round 1 of 3 are not finite"):
        federated.train(NETWORK, data, PLAN, lambda u, rng: np.full_like(u, 1e39, float), [SEEDS])


def test_vertical_training_without_noise_is_joint_training(data, tmp_path):
    _, found = after(vertical.train, SPLIT, data, VERTICAL, exact, path=tmp_path)
    network = SPLIT.network
    expected = network.initial(np.random.default_rng(SEEDS.start))
    for number in range(VERTICAL.rounds):
        batches = np.random.default_rng([SEEDS.batches, number])
        for _ in range(VERTICAL.iterations):
            chosen = batches.choice(41, 7, replace=False, shuffle=False)
            step = gradient(network, expected, data.train_inputs[chosen], data.train_labels[chosen])
            expected = expected - np.float32(0.3) * step
    assert found == pytest.approx(expected, abs=1e-6)


def test_features_are_in_range_before_their_release(data):
    seen = []

    def far(features, rng):
        seen.append(features)
        return np.full_like(features, 1e6)

    vertical.train(SPLIT, data, replace(VERTICAL, rounds=1, iterations=1), far, [SEEDS])
    assert [f.shape for f in seen] == [(2, 7, 4)]
    assert np.abs(seen).max() < 1


@pytest.mark.parametrize("kind", ["stacked", "one by one", "vertical"])
def test_runs_trained_together_equal_runs_trained_alone(data, kind, tmp_path):
    runs = [Seeds(start=n, batches=10 + n, noise=20 + n) for n in range(3)]
    if kind == "vertical":
        train, network, plan = vertical.train, SPLIT, VERTICAL
    else:
        train, network = federated.train, replace(NETWORK, stacks=kind == "stacked")
        plan = replace(PLAN, clip=0.1, local_epochs=2, batch=3)
    for number, own in enumerate([runs, *([each] for each in runs)]):
        train(network, data, plan, noisy, own, checkpoint=tmp_path / str(number))
    kept = [torch.load(tmp_path / str(number))["parameters"].numpy() for number in range(4)]
    assert np.array_equal(kept[0], np.concatenate(kept[1:]))
    if kind == "one by one":
        stacked = replace(network, stacks=True)
        train(stacked, data, plan, noisy, runs, checkpoint=tmp_path / "stacked")
        found = torch.load(tmp_path / "stacked")["parameters"].numpy()
        assert found == pytest.approx(kept[0], abs=1e-5)
    assert np.ptp(kept[0], axis=0).max() > 0.1


def test_sizes_of_networks_are_the_published_ones():
    assert (120, 400) in [layer.weight for layer in LENET.layers]
    # The common count for CIFAR-10 of the network by He et al. 2016: 11,173,962 for ten classes.
    assert RESNET18.size == 11_173_962
    assert SPLIT_NETWORKS["adult"].network.layers[0].weight == (10, 48)
    columns = SPLIT_NETWORKS["adult"].columns
    assert sorted(columns[0] + columns[1]) == list(range(105))


@pytest.mark.parametrize("network", [LENET, RESNET18, REVIEWS_LSTM, ADULT_MLP])
def test_every_parameter_has_a_place_in_one_layer(network):
    places = layerwise.layer_places(network)
    assert [each.shape for each in places] == [layerwise.layer_shape(x) for x in network.layers]
    everything = np.concatenate([each.ravel() for each in places])
    assert np.array_equal(np.sort(everything), np.arange(network.size))


def test_weights_and_biases_of_a_layer_are_one_matrix():
    network = Network(layers=(Layer(weight=(2, 3)), Layer(weight=(4, 1), bias=False)), apply=None)
    first, second = layerwise.layer_places(network)
    assert first.tolist() == [[0, 3], [1, 4], [2, 5], [6, 7]]
    assert second.tolist() == [[8], [9], [10], [11]]


def test_layers_get_noise_of_their_own_size():
    queries = layerwise.layer_queries(NETWORK, 0.5)
    assert [q.shape for q in queries] == [(7, 5), (6, 3)]
    # The change from one corner of the box to the opposite one.
    assert [q.l1_sensitivity for q in queries] == [35.0, 18.0]
    assert {q.adjacency for q in queries} == {"replace"}
