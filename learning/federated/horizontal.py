"""Horizontal federated learning with released uploads (mgm2021 Section 8.2, Type I)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from learning.federated.rounds import in_rounds, require_finite
from learning.networks.network import Network
from learning.records.labelled import Split
from learning.training.device import prepared, tensors_of
from learning.training.rounds import Round
from learning.training.trial import Seeds

# Records of a batch that a copy of a network sees at once on a CPU. The states of a small LSTM at
# all places of more texts do not fit a core's cache: a batch of 256 takes 1.3 times as long whole.
TOGETHER = 128


@dataclass(frozen=True, kw_only=True)
class HorizontalPlan:
    """How participants train and upload.

    Args:
        participants: They share the records equally; the remainder, fewer than their number, is not
            used.
        rounds: Uploads of every participant.
        local_epochs: Passes over a participant's records between two uploads.
        batch: Records per local step; the last step of a pass may have fewer.
        learning_rate: The rate of plain gradient descent, for the participants and the server.
        clip: C > 0, the bound on |element| of an upload; None: uploads are not clipped.
        summed: The gradient of an epoch is the sum over its steps, not their mean.
        device: "cpu", or "auto" for CUDA where there is one; its results are not the CPU's.
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
        """S: the batches of a participant's records, rounded, as the steps of one pass.

        A pass whose last batch is less than half full has one step more.
        """
        return max(1, round(records // self.participants / self.batch))

    def unit(self, records: int) -> float:
        """How far the parameters move for an upload of one."""
        return self.learning_rate * (1 if self.summed else self.steps(records))


def train(
    network: Network,
    data: Split,
    plan: HorizontalPlan,
    release: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    seeds: Sequence[Seeds],
    *,
    checkpoint: Path | None = None,
    label: str = "",
) -> list[Round]:
    """Train independent runs in rounds, and test each after every round.

    Where `network.stacks` is true, all participants of all runs take their steps together, and
    memory grows with their number; otherwise they train one after the other.

    A participant starts from the server's parameters and runs its local epochs of gradient descent.
    Its upload is the sum over local epochs of the epoch's gradient, f(X) = sum_i g_i(X) (eq. 29).
    g_i is the mean of the gradients in that epoch's steps, so that the upload is the change of the
    parameters over -(learning_rate S), S the steps of an epoch; or, where the plan is `summed`,
    their sum, S times as large. Every element is clipped to [-C, C], and the server sees the
    release only; it moves by -(learning_rate S), or -learning_rate, times the mean of the releases.
    Without clipping and noise, both are federated averaging.

    Where local training overflows, clipping replaces NaN by zero and infinities by C or -C: a
    function of one participant's data alone.

    Args:
        release: Maps a clipped upload (M,), float32, and a generator to what the server sees.
        seeds: One entry per run.
        checkpoint, label: As in `in_rounds`.

    Raises:
        Diverged: The server's parameters, or unclipped uploads, are no longer finite.
    """
    device = prepared(plan.device)
    inputs, labels, *tests = tensors_of(data, device)
    count = len(labels) // plan.participants
    # The records are dealt once per run; rounds draw from [batches, round].
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
            # All participants have as many records: their batches in a step are of one size.
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

    given = (plan.rounds, seeds, device)
    return in_rounds(network, advance, tests, *given, checkpoint=checkpoint, label=label)


def _local_batches(
    records: np.ndarray, rng: np.random.Generator, plan: HorizontalPlan
) -> Iterator[torch.Tensor]:
    """The records of every step that a participant takes in a round."""
    # Stored results come after these draws, which nothing uses any more.
    rng.random(len(records))
    for _ in range(plan.local_epochs):
        yield from torch.from_numpy(rng.permutation(records)).split(plan.batch)


def _gradients(network: Network, parameters, inputs, labels) -> torch.Tensor:
    """The gradients (P, M) of mean losses, one for each of the parameters (P, M).

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
