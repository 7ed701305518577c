"""Gradient descent with a mechanism's noise (Abadi et al. 2016, Algorithm 1)."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.checkpoint import begin, keep
from learning.training.clipped_sums import clipped_sum, require_alone
from learning.training.clipping import Clipping
from learning.training.device import prepared, tensors_of
from learning.training.trial import Seeds

# Examples by the kind of device: on a CPU, few enough for their results to stay in the cache.
_EVALUATED_AT_ONCE = {"cpu": 200, "cuda": 2000}


class Diverged(ArithmeticError):
    """Gradients, parameters or logits are no longer finite numbers.

    `epoch` is the epoch of `train` in which that happened, from 1; None elsewhere.
    """

    def __init__(self, message: str, epoch: int | None = None) -> None:
        super().__init__(message)
        self.epoch = epoch


class Epoch(NamedTuple):
    """The result of an epoch: accuracies in [0, 1] at its end, and its wall-clock seconds."""

    train_accuracy: float
    test_accuracy: float
    seconds: float


@dataclass(frozen=True, kw_only=True)
class DescentPlan:
    """How to train by noisy gradient descent.

    Every step draws each record with probability batch / records. The run has
    epochs * records // batch steps, distributed over the epochs as evenly as possible.

    Args:
        batch: Expected number of records per step.
        epochs: Passes over the data.
        learning_rate: Step size of plain gradient descent on the mean gradient.
        clipping: None for the plain gradient.
        chunk: Number of examples that are processed at once; see `clipped_sum`. The intermediate
            results of 128 images of MNIST fit into a core's cache: a step is 1.4 times as fast as
            with 512. A GPU processes a whole batch at once.
        device: "cpu", or "auto" for CUDA where there is one; its results are not the CPU's.
    """

    batch: int
    epochs: int
    learning_rate: float
    clipping: Clipping | None
    chunk: int = 128
    device: str = "cpu"

    def steps(self, records: int, epochs: int | None = None) -> int:
        """Steps up to the end of an epoch; by default up to the end of the run."""
        epochs = self.epochs if epochs is None else epochs
        return epochs * records // self.batch

    def batches(self, records: int, epoch: int, seed: int) -> Iterator[np.ndarray]:
        """The numbers of the records of each step of an epoch, counted from 0."""
        sampling = np.random.default_rng([seed, epoch])
        for _ in range(self.steps(records, epoch), self.steps(records, epoch + 1)):
            yield np.flatnonzero(sampling.random(records) < self.batch / records)


def train(
    network: Network,
    data: Split,
    plan: DescentPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Seeds,
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Epoch]:
    """Train, and evaluate after every epoch.

    Every step releases the clipped sum of the gradients of its batch, of shape (1, M) and float32,
    and moves by it over the *expected* batch size. An empty sample is released like any other.
    Every epoch has its own seeds, so a run that resumes from a checkpoint, which is written after
    every epoch, ends with the same bytes.

    Args:
        release: From the clipped sum and a generator to the noisy sum.
        checkpoint: File to resume from and to write; the caller removes it. None keeps nothing.
        label: Beginning of the progress lines on stderr.

    Raises:
        Diverged: A gradient or a logit is not finite.
        NoPerExampleGradients: Gradients are clipped, and per-example gradients are not known.
    """
    device = prepared(plan.device)
    images, labels, test_inputs, test_labels = tensors_of(data, device)
    records = len(labels)
    start = network.initial(np.random.default_rng(seeds.start))
    parameters, history = begin(start, checkpoint, Epoch)
    parameters = parameters.to(device)
    # A Poisson sample is seldom twice as large as expected.
    chunk = plan.chunk if device == "cpu" else 2 * plan.batch
    if plan.clipping is not None:
        require_alone(network, parameters, images)
    for epoch in range(len(history), plan.epochs):
        clock = time.perf_counter()
        noise = np.random.default_rng([seeds.noise, epoch])
        for chosen in plan.batches(records, epoch, seeds.batches):
            chosen = torch.from_numpy(chosen).to(device)
            total = clipped_sum(
                network,
                parameters,
                images[chosen],
                labels[chosen],
                plan.clipping,
                batch=plan.batch,
                chunk=chunk,
            )
            if not torch.isfinite(total).all():
                raise Diverged(
                    f"training diverged in epoch {epoch + 1} of {plan.epochs}: the gradients are "
                    "not finite; reduce the noise or the learning rate",
                    epoch + 1,
                )
            released = release(total.cpu().numpy()[None], noise)[0]
            moved = torch.from_numpy(released.astype(np.float32)).to(device)
            parameters = parameters - plan.learning_rate / plan.batch * moved
        try:
            ended = Epoch(
                accuracy(network, parameters, images, labels),
                accuracy(network, parameters, test_inputs, test_labels),
                time.perf_counter() - clock,
            )
        except Diverged as diverged:
            diverged.epoch = epoch + 1
            raise
        history.append(ended)
        if checkpoint is not None:
            keep(checkpoint, parameters, history)
        left = sum(e.seconds for e in history) / len(history) * (plan.epochs - epoch - 1)
        print(
            f"{label}: epoch {epoch + 1} of {plan.epochs}, accuracy {ended.train_accuracy:.3f} "
            f"(test {ended.test_accuracy:.3f}), {ended.seconds:.1f} s, about {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )
    return history


def accuracy(network: Network, parameters, images, labels) -> float:
    """Share of examples whose largest logit is that of their label.

    Raises:
        Diverged: A logit is not finite, so none is the largest.
    """
    right, at_once = 0, _EVALUATED_AT_ONCE[images.device.type]
    with torch.no_grad():
        for x, y in zip(images.split(at_once), labels.split(at_once), strict=True):
            logits = network.logits(parameters, x)
            if not torch.isfinite(logits).all():
                raise Diverged(
                    "training diverged: the network's logits are not finite; reduce the noise or "
                    "the learning rate"
                )
            right += int((logits.argmax(dim=1) == y).sum())
    return right / len(labels)
