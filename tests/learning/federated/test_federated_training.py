"""Federated training against central training; averages, release by layer, budgets of uploads."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from learning.federated import horizontal as federated
from learning.federated import layerwise_release as layerwise
from learning.federated import vertical
from learning.federated.parameter_averaging import averaged, clipped
from learning.federated.upload_budgets import calibrated_uploads, joint_profile, spent
from learning.networks.deep_cnns import RESNET18
from learning.networks.lstm import REVIEWS_LSTM
from learning.networks.multilayer_perceptron import ADULT_MLP, multilayer_perceptron
from learning.networks.network import Layer, Network
from learning.networks.small_cnns import LENET
from learning.networks.split_network import SPLIT_NETWORKS, SplitNetwork, halves
from learning.records import labelled
from learning.records.labelled import Split
from learning.training.classifiers import (
    Training,
    trained,
)
from learning.training.rounds import Diverged
from learning.training.trial import Seeds
from mechanisms import Budget, Unsupported, get_mechanism
from mechanisms.privacy.composition import ComposedProfile
from mechanisms.privacy.finite_profile import WishartProfile
from mechanisms.privacy.gaussian_profile import GaussianProfile
from mechanisms.privacy.laplace_profile import LaplaceProfile
from mechanisms.privacy.sampling import kairouz
from mechanisms.query.box_query import box_query

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


AVERAGED = multilayer_perceptron(64, 16, 10)
LOCAL = Training(epochs=1, batch=32, learning_rate=0.01)


def unchanged(value, rng):
    return value


@pytest.fixture(scope="module")
def split():
    return labelled.load("digits", None, 300, seed=4)


@pytest.fixture(scope="module")
def users(split):
    return [(split.train_inputs[i::3], split.train_labels[i::3]) for i in range(3)]


def test_one_user_without_noise_trains_plainly(split):
    """Each round is one epoch of a plain training loop."""
    user = (split.train_inputs, split.train_labels)
    found = averaged(AVERAGED, [user], 3, LOCAL, None, unchanged, SEEDS)
    plain = AVERAGED.initial(np.random.default_rng(SEEDS.start))
    for turn in range(3):
        rng = np.random.default_rng([SEEDS.batches, turn, 0])
        plain = trained(AVERAGED, plain, *user, LOCAL, rng).numpy()
    assert np.array_equal(found, plain)


def test_the_server_takes_the_mean_of_what_is_sent(users):
    sent = []

    def keep(value, rng):
        sent.append(value[0] + rng.standard_normal(value.shape[1]).astype(np.float32))
        return sent[-1][None]

    found = averaged(AVERAGED, users, 1, LOCAL, 1.0, keep, SEEDS)
    assert len(sent) == 3 and all(part.shape == (AVERAGED.size,) for part in sent)
    assert found == pytest.approx(np.mean(sent, axis=0), abs=1e-6)
    assert not np.array_equal(sent[0], sent[1])


@pytest.mark.parametrize("bound", [1.0, 0.05])
def test_uploads_are_clipped(users, bound):
    seen = []

    def look(value, rng):
        seen.append(np.abs(value).max())
        return value

    averaged(AVERAGED, users, 1, LOCAL, bound, look, SEEDS)
    assert max(seen) <= np.float32(bound)
    if bound < 0.1:
        assert min(seen) == np.float32(bound)


def test_nan_counts_as_zero():
    value = np.array([np.nan, np.inf, -np.inf, 0.3, -7], dtype=np.float32)
    assert clipped(value, 0.5).tolist() == pytest.approx([0, 0.5, -0.5, 0.3, -0.5])
    assert clipped(value, 0.5).dtype == np.float32


def test_training_survives_overflowing_noise(users):
    """Overflowing parameters turn the networks into NaN, and the next round goes on."""

    def huge(value, rng):
        return value + np.float32(1e30) * rng.standard_normal(value.shape, np.float32)

    assert np.isfinite(averaged(AVERAGED, users, 3, LOCAL, 1.0, huge, SEEDS)).all()


TOTAL = Budget(epsilon=300.0, delta=1e-5)
QUERIES = [box_query(shape, -0.1, 0.1, adjacency="replace") for shape in ((5, 4), (3, 2))]


def calibrated(key, rounds=7, calibration="exact", total=TOTAL):
    use = kairouz.share(total, rounds * len(QUERIES))
    published = get_mechanism(key).calibrate
    return calibrated_uploads(published, QUERIES, use, rounds, total, calibration)


def test_gaussian_noise_composes_over_layers_and_rounds_by_its_squares():
    made = calibrated("idn", calibration="published")
    # Between opposite corners of both boxes: the change over the noise, element by element.
    squares = sum(
        np.sum((0.2 / m.parameters()["sigma_min"]) ** 2 * np.ones(q.shape))
        for m, q in zip(made, QUERIES, strict=True)
    )
    expected = GaussianProfile(mu=math.sqrt(7 * squares))
    run = spent(made, 7)
    assert run.delta(20.0).upper == pytest.approx(expected.delta(20.0).value, rel=1e-9)
    assert run.epsilon(1e-5).upper == pytest.approx(expected.epsilon(1e-5).value, rel=1e-9)
    # Composition is a bound, so the truth stays within the claimed total.
    assert run.epsilon(1e-5).upper < TOTAL.epsilon


def known(profile):
    """A mechanism with this profile."""
    return type("Known", (), {"profile": lambda: profile})


def test_other_noise_composes_if_all_releases_are_equal():
    laplace = LaplaceProfile(l1_sensitivity=1.0, scale=2.0)
    assert joint_profile([laplace, laplace]) == laplace.compose(2)
    assert joint_profile([laplace, GaussianProfile(mu=1.0)]) is None
    assert joint_profile([laplace, None]) is None
    exact = ComposedProfile(base=laplace, times=3).delta(1.0).value
    assert exact <= spent([known(laplace)], 3).delta(1.0) <= exact * 1.02
    # No bounds are known for a pair that is not symmetric.
    assert spent([known(WishartProfile(kappa=1.0))], 3) is None


@pytest.mark.parametrize("epsilon", [2.0, 100.0])
def test_at_the_exact_calibration_one_factor_makes_the_run_spend_its_budget(epsilon):
    total = Budget(epsilon=epsilon, delta=1e-5)
    made, published = (
        calibrated("udn", calibration=each, total=total) for each in ("exact", "published")
    )
    assert spent(made, 7).delta(epsilon).upper == pytest.approx(1e-5, rel=1e-6)
    factors = [
        math.sqrt(m.expected_loss() / p.expected_loss())
        for m, p in zip(made, published, strict=True)
    ]
    assert factors[0] == pytest.approx(factors[1])
    assert all(m.calibration == "exact" for m in made)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("random-answer", "adds no noise"),
        ("non-private", "the exact total privacy loss is not known"),
        ("r1smg", "the exact total privacy loss is not known"),
        ("laplace", "the exact total privacy loss is not known|has no exact calibration"),
    ],
)
def test_unsupported_exact_calibrations_give_a_reason(key, words):
    with pytest.raises(Unsupported, match=words):
        calibrated(key)
