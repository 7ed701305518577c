"""Gradient descent with a mechanism's noise (Abadi et al. 2016, Algorithm 1)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.clipped_sums import clipped_sum, require_alone
from learning.training.clipping import Clipping
from learning.training.device import prepared, tensors_of
from learning.training.rounds import Diverged, Round, in_rounds
from learning.training.trial import Seeds

# Examples by kind of device: on a CPU, few enough for their intermediate results to stay in cache.
_EVALUATED_AT_ONCE = {"cpu": 200, "cuda": 2000}


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
        chunk: Number of examples that a CPU processes at once; see `clipped_sum`. The intermediate
            results of 128 images of MNIST fit into a core's cache: a step is 1.4 times as fast as
            with 512. A GPU processes a whole batch at once.
        device: "cpu", or "auto" for CUDA if available; results on CUDA differ from the CPU's.
    """

    batch: int
    epochs: int
    learning_rate: float
    clipping: Clipping | None
    chunk: int = 128
    device: str = "cpu"

    def steps(self, records: int, epochs: int | None = None) -> int:
        """Return the number of steps in the first `epochs` epochs, by default in all of them."""
        epochs = self.epochs if epochs is None else epochs
        return epochs * records // self.batch

    def batches(self, records: int, epoch: int, seed: int) -> Iterator[np.ndarray]:
        """Yield the indices of the records drawn for each step of an epoch, counted from 0."""
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
) -> list[Round]:
    """Train, and measure the training and the test accuracy after every epoch, which is a round.

    Every step releases the clipped sum of its batch's gradients, float32 of shape (1, M). It then
    moves the parameters by -learning_rate times the release over the *expected* batch size. The sum
    of an empty sample is released too. Every epoch has its own seeds.

    Args:
        release: Maps the clipped sum and a generator to the noisy sum.
        checkpoint, label: As in `in_rounds`.

    Raises:
        Diverged: A gradient or a logit is not finite.
        NoPerExampleGradients: `clipped_sum` cannot compute the per-example gradients to clip.
    """
    device = prepared(plan.device)
    images, labels, *tests = tensors_of(data, device)
    start = network.initial(np.random.default_rng(seeds.start))
    # A Poisson sample is seldom twice as large as expected.
    chunk = plan.chunk if device == "cpu" else 2 * plan.batch
    if plan.clipping is not None:
        require_alone(network, torch.from_numpy(start).to(device), images)

    def advance(parameters, epoch):
        noise = np.random.default_rng([seeds.noise, epoch])
        for chosen in plan.batches(len(labels), epoch, seeds.batches):
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
                    "not finite; reduce the noise or the learning rate"
                )
            released = release(total.cpu().numpy()[None], noise)[0]
            moved = torch.from_numpy(released.astype(np.float32)).to(device)
            parameters = parameters - plan.learning_rate / plan.batch * moved
        pairs = (images, labels), tests
        return parameters, tuple(accuracy(network, parameters, *pair) for pair in pairs)

    return in_rounds(start, advance, plan.epochs, device, checkpoint=checkpoint, label=label)[1]


def accuracy(network: Network, parameters, images, labels) -> float:
    """Return the share of examples whose largest logit is that of their label.

    Raises:
        Diverged: A logit is not finite.
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
