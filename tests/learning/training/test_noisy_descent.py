"""The steps of training, their Poisson samples, and divergence."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from learning.networks.small_cnns import TUTORIALS
from learning.records.labelled import load
from learning.training import noisy_descent
from learning.training.classifiers import outputs
from learning.training.clipping import Clipping
from learning.training.rounds import Diverged
from learning.training.trial import Seeds

NETWORK = TUTORIALS["digits"]
SEEDS = Seeds(start=1, batches=2, noise=3)
PLAN = noisy_descent.DescentPlan(
    batch=20, epochs=3, learning_rate=0.5, clipping=Clipping(bound=1.0), chunk=16
)


@pytest.fixture(scope="module")
def data():
    return load("digits", None, 150, seed=0)


def exact(value, rng):
    return value


def noisy(value, rng):
    return value + 0.1 * rng.standard_normal(value.shape, np.float32)


def test_steps_fill_the_epochs():
    plan = replace(PLAN, batch=256, epochs=30)
    assert plan.steps(60_000) == 7031
    assert plan.steps(60_000, 0) == 0
    per_epoch = np.diff([plan.steps(60_000, epoch) for epoch in range(31)])
    assert set(per_epoch) == {234, 235}
    assert per_epoch.sum() == 7031


def test_empty_samples_are_released_and_noised(data):
    """At an expected batch of one, a third of the samples are empty."""
    plan = replace(PLAN, batch=1, epochs=1)
    zeros, total = 0, 0

    def count(value, rng):
        nonlocal zeros, total
        zeros, total = zeros + (not value.any()), total + 1
        return noisy(value, rng)

    noisy_descent.train(NETWORK, data, plan, count, SEEDS)
    assert total == 150
    # (1 - 1/150)^150 = 0.3667; four standard deviations of 150 draws are 0.157.
    assert zeros / total == pytest.approx(0.3667, abs=0.157)


def test_samples_are_poisson_and_shared_by_all_noise(data, monkeypatch):
    sizes = {exact: [], noisy: []}
    original = noisy_descent.clipped_sum
    for release, found in sizes.items():

        def record(network, parameters, images, labels, *args, found=found, **kwargs):
            found.append(len(labels))
            return original(network, parameters, images, labels, *args, **kwargs)

        monkeypatch.setattr(noisy_descent, "clipped_sum", record)
        noisy_descent.train(NETWORK, data, replace(PLAN, epochs=20), release, SEEDS)
    assert sizes[exact] == sizes[noisy]
    drawn = np.array(sizes[exact])
    # Binomial(150, 20/150): mean 20, variance 17.3; four standard errors.
    assert drawn.mean() == pytest.approx(20, abs=4 * (17.33 / len(drawn)) ** 0.5)
    assert drawn.var() == pytest.approx(17.33, rel=4 * (2 / len(drawn)) ** 0.5)


def test_a_step_moves_by_the_release_over_the_expected_batch(data, tmp_path):
    plan = replace(PLAN, epochs=1, batch=150)
    noisy_descent.train(
        NETWORK, data, plan, lambda v, rng: np.ones_like(v), SEEDS, checkpoint=tmp_path / "x"
    )
    moved = torch.load(tmp_path / "x")["parameters"].numpy()
    start = NETWORK.initial(np.random.default_rng(SEEDS.start))
    assert moved == pytest.approx(start - np.float32(0.5 / 150), abs=1e-7)


def test_divergence_is_reported(data):
    def huge(value, rng):
        return 1e30 * rng.standard_normal(value.shape, np.float32)

    with pytest.raises(Diverged, match="epoch 1 of 3: the gradients are not finite") as raised:
        noisy_descent.train(NETWORK, data, PLAN, huge, SEEDS)
    assert raised.value.round == 1


def test_accuracy_refuses_logits_that_are_not_finite(data):
    """No gradient follows the last step of a run, so only the logits show its failure."""
    images, labels = torch.from_numpy(data.test_inputs), torch.from_numpy(data.test_labels)
    start = NETWORK.initial(np.random.default_rng(0))
    assert 0 <= noisy_descent.accuracy(NETWORK, torch.from_numpy(start), images, labels) <= 1
    with pytest.raises(Diverged, match="logits are not finite"):
        noisy_descent.accuracy(NETWORK, torch.from_numpy(start * np.float32(1e30)), images, labels)
    with pytest.raises(ArithmeticError, match="outputs of the network are not finite"):
        outputs(NETWORK, torch.from_numpy(start * np.float32(1e30)), data.test_inputs)
