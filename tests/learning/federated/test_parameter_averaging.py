"""Federated averaging: training without noise, means and clipping."""

import numpy as np
import pytest

from learning.federated.parameter_averaging import averaged, clipped
from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.records import labelled as data
from learning.training.classifiers import (
    Training,
    trained,
)
from learning.training.trial import Seeds

NETWORK = multilayer_perceptron(64, 16, 10)
LOCAL = Training(epochs=1, batch=32, learning_rate=0.01)
SEEDS = Seeds(start=1, batches=2, noise=3)


def unchanged(value, rng):
    return value


@pytest.fixture(scope="module")
def split():
    return data.load("digits", None, 300, seed=4)


@pytest.fixture(scope="module")
def users(split):
    return [(split.train_inputs[i::3], split.train_labels[i::3]) for i in range(3)]


def test_one_user_without_noise_trains_plainly(split):
    """Each round is one epoch of a plain training loop."""
    user = (split.train_inputs, split.train_labels)
    found = averaged(NETWORK, [user], 3, LOCAL, None, unchanged, SEEDS)
    plain = NETWORK.initial(np.random.default_rng(SEEDS.start))
    for turn in range(3):
        rng = np.random.default_rng([SEEDS.batches, turn, 0])
        plain = trained(NETWORK, plain, *user, LOCAL, rng).numpy()
    assert np.array_equal(found, plain)


def test_the_server_takes_the_mean_of_what_is_sent(users):
    sent = []

    def keep(value, rng):
        sent.append(value[0] + rng.standard_normal(value.shape[1]).astype(np.float32))
        return sent[-1][None]

    found = averaged(NETWORK, users, 1, LOCAL, 1.0, keep, SEEDS)
    assert len(sent) == 3 and all(part.shape == (NETWORK.size,) for part in sent)
    assert found == pytest.approx(np.mean(sent, axis=0), abs=1e-6)
    assert not np.array_equal(sent[0], sent[1])


@pytest.mark.parametrize("bound", [1.0, 0.05])
def test_uploads_are_clipped(users, bound):
    seen = []

    def look(value, rng):
        seen.append(np.abs(value).max())
        return value

    averaged(NETWORK, users, 1, LOCAL, bound, look, SEEDS)
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

    assert np.isfinite(averaged(NETWORK, users, 3, LOCAL, 1.0, huge, SEEDS)).all()
