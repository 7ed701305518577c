"""Every trainer learns, goes on after a kill, and is as accurate on a GPU as on a CPU."""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch

from claims.intervals import Mean
from learning.federated import horizontal, vertical
from learning.federated.parameter_averaging import averaged
from learning.networks.multilayer_perceptron import multilayer_perceptron
from learning.networks.split_network import SplitNetwork, halves
from learning.records.labelled import Split
from learning.training import noisy_descent
from learning.training.classifiers import Training, outputs
from learning.training.clipping import Clipping
from learning.training.device import prepared
from learning.training.trial import Seeds
from tests.learning.gpu import CUDA, on_a_gpu

NETWORK = multilayer_perceptron(6, 5, 3)
SPLIT = SplitNetwork(columns=halves(6), features=4, classes=3)
TRIALS = 10


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (600, 6)).astype(np.float32)
    labels = (inputs @ rng.standard_normal((6, 3))).argmax(axis=1)
    return Split(
        train_inputs=inputs[:300],
        train_labels=labels[:300],
        test_inputs=inputs[300:],
        test_labels=labels[300:],
    )


def noisy(value, rng):
    return value + rng.standard_normal(value.shape, np.float32) / 20


class Trainer(NamedTuple):
    """A training method: maps data, device, trial, rounds, checkpoint, release to parameters."""

    network: object
    run: object

    def accuracy(self, data, device, trial):
        parameters = torch.from_numpy(self.run(data, device, trial, 4, None))
        found = outputs(self.network, parameters, data.test_inputs).argmax(axis=1)
        return float(np.mean(found == data.test_labels))


def last_parameters(train, network, plan, data, release, seeds, path):
    runs = seeds if train is noisy_descent.train else [seeds]
    train(network, data, plan, release, runs, checkpoint=path)
    return torch.load(path, weights_only=True)["parameters"].numpy().ravel()


@pytest.fixture(params=["descent", "horizontal", "vertical", "averaging"])
def trainer(request, tmp_path):
    def keeping(train, network, plan, length):
        def run(data, device, trial, rounds, checkpoint, release=noisy):
            seeds = Seeds(start=trial, batches=trial + 100, noise=trial + 200)
            chosen = replace(plan, device=device, **{length: rounds})
            path = checkpoint or tmp_path / f"{trial}-{device}"
            return last_parameters(train, network, chosen, data, release, seeds, path)

        return Trainer(network.network if network is SPLIT else network, run)

    def averaging(data, device, trial, rounds, checkpoint, release=noisy):
        users = [(data.train_inputs[i::3], data.train_labels[i::3]) for i in range(3)]
        local = Training(epochs=1, batch=16, learning_rate=0.02, device=device)
        seeds = Seeds(start=trial, batches=trial + 100, noise=trial + 200)
        return averaged(NETWORK, users, rounds, local, 1.0, release, seeds, checkpoint=checkpoint)

    descent = noisy_descent.DescentPlan(
        batch=30, epochs=4, learning_rate=2.0, clipping=Clipping(bound=1.0), chunk=16
    )
    shared = horizontal.HorizontalPlan(
        participants=3, rounds=4, local_epochs=3, batch=16, learning_rate=0.5, clip=1.0
    )
    features = vertical.VerticalPlan(rounds=4, iterations=20, batch=30, learning_rate=0.5)
    return {
        "descent": keeping(noisy_descent.train, NETWORK, descent, "epochs"),
        "horizontal": keeping(horizontal.train, NETWORK, shared, "rounds"),
        "vertical": keeping(vertical.train, SPLIT, features, "rounds"),
        "averaging": Trainer(NETWORK, averaging),
    }[request.param]


def test_every_trainer_learns_so_that_a_wrong_device_would_show(trainer, data):
    assert trainer.accuracy(data, "cpu", 0) > 0.5


def counted(calls, most=math.inf):
    """Noise that counts its releases, and a kill after the most of them."""

    def release(value, rng):
        if len(calls) == most:
            raise KeyboardInterrupt
        calls.append(value)
        return noisy(value, rng)

    return release


def test_a_killed_run_resumes_at_its_last_round_and_ends_with_the_same_bytes(
    trainer, data, tmp_path
):
    """The kill falls into the middle of the third of four rounds."""
    calls, resumed = [], []
    whole = trainer.run(data, "cpu", 0, 4, tmp_path / "whole", counted(calls))
    with pytest.raises(KeyboardInterrupt):
        trainer.run(data, "cpu", 0, 4, tmp_path / "killed", counted([], len(calls) * 5 // 8))
    again = trainer.run(data, "cpu", 0, 4, tmp_path / "killed", counted(resumed))
    assert again.tobytes() == whole.tobytes()
    assert len(resumed) == len(calls) // 2


@on_a_gpu
def test_auto_is_as_accurate_as_a_cpu(trainer, data):
    """The mean over trials lies in the interval of the CPU's trials and far from chance."""
    assert prepared("auto") == "cuda"
    cpu, gpu = (
        Mean(np.array([trainer.accuracy(data, device, trial) for trial in range(TRIALS)]))
        for device in ("cpu", "auto")
    )
    interval = cpu.interval(0.95)
    assert interval.low <= gpu.value <= interval.high
    assert gpu.value > 0.5


@on_a_gpu
@pytest.mark.parametrize("first", ["cpu", "auto"])
def test_a_checkpoint_moves_between_devices(trainer, data, first, tmp_path):
    """Two rounds on one device and two on the other give the result of four on a CPU."""
    second = {"cpu": "auto", "auto": "cpu"}[first]
    path = tmp_path / "moved"
    trainer.run(data, first, 0, 2, path)
    moved = trainer.run(data, second, 0, 4, path)
    whole = trainer.run(data, "cpu", 0, 4, tmp_path / "whole")
    assert moved == pytest.approx(whole, abs=1e-3)


@pytest.mark.skipif(CUDA, reason="this machine has a GPU, so that auto is not its CPU")
def test_auto_is_the_cpu_where_there_is_no_gpu(trainer, data, tmp_path):
    assert prepared("auto") == "cpu"
    trainer.run(data, "auto", 0, 2, tmp_path / "moved")
    moved = trainer.run(data, "cpu", 0, 4, tmp_path / "moved")
    whole = trainer.run(data, "cpu", 0, 4, tmp_path / "whole")
    assert moved.tobytes() == whole.tobytes()
