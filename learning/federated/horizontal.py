"""Horizontal federated learning with released uploads (mgm2021 Section 8.2, Type I)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from learning.federated.rounds import in_rounds, require_finite
from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.device import prepared, tensors_of
from learning.training.rounds import Round
from learning.training.trial import Seeds

# Records of a batch that a copy of a network processes at once on a CPU. The states of a small LSTM
# for more texts do not fit into a core's cache: 256 texts at once take 1.3 times as long.
TOGETHER = 128


@dataclass(frozen=True, kw_only=True)
class HorizontalPlan:
    """How participants train and upload.

    Args:
        participants: Number of participants. They share the records equally; the remainder is not
            used.
        rounds: Number of uploads of every participant.
        local_epochs: Passes over a participant's records between two uploads.
        batch: Records per local step; the last step of a pass may have fewer.
        learning_rate: The rate of plain gradient descent, for the participants and the server.
        clip: C > 0, the bound on |element| of an upload; None for no clipping.
        summed: Whether the gradient of an epoch is the sum over its steps, instead of the mean.
        device: "cpu", or "auto" for CUDA if available; results on CUDA differ from the CPU's.
    """

    participants: int
    rounds: int
    local_epochs: int
    batch: int
    learning_rate: float
    clip: float | None
    summed: bool = False
    device: str = "cpu"

    def steps(self, records: int) -> int:
        """Return S, the steps of one pass: the batches of a participant's records, rounded.

        A pass whose last batch is less than half full has one step more.
        """
        return max(1, round(records // self.participants / self.batch))

    def unit(self, records: int) -> float:
        """Return how far the parameters move for an upload of one."""
        return self.learning_rate * (1 if self.summed else self.steps(records))


def train(
    network: Network,
    data: Split,
    plan: HorizontalPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Sequence[Seeds],
    **progress,
) -> list[Round]:
    """Train independent runs in rounds, and test each after every round.

    If `network.stacks` is true, all participants of all runs take their steps together, and memory
    grows with their number. Otherwise they train one after the other.

    A participant starts from the server's parameters and runs its local epochs of gradient descent.
    Its upload is f(X) = sum_i g_i(X) (eq. 29), where g_i is the gradient of the i-th local epoch.
    This gradient is the mean over the S steps of the epoch, so that the upload is the change of the
    parameters over -(learning_rate S). If the plan is `summed`, g_i is the sum over the steps, and
    the upload is S times as large. Every element is clipped to [-C, C], and the server sees only
    the release. The server moves by -(learning_rate S), or -learning_rate, times the mean of the
    releases. Without clipping and noise, both are federated averaging.

    If local training overflows, clipping replaces NaN by zero and infinities by C or -C. This
    depends on one participant's data alone.

    Args:
        release: Maps a clipped upload (M,), float32, and a generator to what the server sees.
        seeds: One entry per run.
        progress: `checkpoint` and `label`, as in `in_rounds`.

    Raises:
        Diverged: The server's parameters, or unclipped uploads, are no longer finite.
    """
    device = prepared(plan.device)
    inputs, labels, *tests = tensors_of(data, device)
    count = len(labels) // plan.participants
    # Each run deals its records once, by a seed of its own; rounds draw from [batches, round].
    orders = [np.random.default_rng([s.batches, 0, 1]).permutation(len(labels)) for s in seeds]
    owned = [each[: plan.participants * count].reshape(plan.participants, -1) for each in orders]
    unit = plan.unit(len(labels))

    def advance(parameters, batches, noise):
        drawn = [
            list(_local_batches(records, rng, plan))
            for records_of_run, rng in zip(owned, batches, strict=True)
            for records in records_of_run
        ]
        totals = np.zeros(parameters.shape)
        everyone = range(len(drawn))
        for together in [everyone] if network.stacks else [[each] for each in everyone]:
            runs = [number // plan.participants for number in together]
            local = parameters[runs]
            # All participants have equally many records, so their batches in a step have one size.
            for step in zip(*(drawn[number] for number in together), strict=True):
                chosen = torch.stack(step).to(device)
                gradients = _gradients(network, local, inputs[chosen], labels[chosen])
                local -= plan.learning_rate * gradients
            for run, own in zip(runs, local, strict=True):
                upload = (parameters[run] - own) / unit
                if plan.clip is not None:
                    upload = upload.nan_to_num(0.0, plan.clip, -plan.clip)
                    upload = upload.clamp(-plan.clip, plan.clip)
                require_finite(upload, "a participant's parameters")
                totals[run] += release(upload.cpu().numpy(), noise[run])
        return parameters - unit * torch.from_numpy(totals / plan.participants).float().to(device)

    return in_rounds(network, advance, tests, plan.rounds, seeds, device, **progress)


def _local_batches(
    records: np.ndarray, rng: np.random.Generator, plan: HorizontalPlan
) -> Iterator[torch.Tensor]:
    """Yield the records of every step that a participant takes in a round."""
    # Nothing uses these draws any more, but stored results were drawn after them.
    rng.random(len(records))
    for _ in range(plan.local_epochs):
        yield from torch.from_numpy(rng.permutation(records)).split(plan.batch)


def _gradients(network: Network, parameters, inputs, labels) -> torch.Tensor:
    """Return the gradients (P, M) of the mean losses of P copies with parameters (P, M).

    Args:
        inputs, labels: (P, n, ...) and (P, n).
    """

    def loss(at, x, y):
        return cross_entropy(network.logits(at, x), y)

    at = parameters.detach().requires_grad_()
    each = torch.func.vmap(loss) if network.stacks else lambda *of: torch.stack([*map(loss, *of)])
    records = labels.shape[1]
    size = TOGETHER if labels.is_cpu else records
    total = torch.zeros_like(parameters)
    for x, y in zip(inputs.split(size, dim=1), labels.split(size, dim=1), strict=True):
        total += y.shape[1] / records * torch.autograd.grad(each(at, x, y).sum(), at)[0]
    return total
