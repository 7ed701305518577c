"""One clipped sum of gradients by this suite and by opacus; as a script, the memory it needs.

The script prints by how many KiB a first step raises the peak of the resident memory.

Usage: python tests/benchmarks/clipped_step.py {ours,opacus} {perceptron,cnn}
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from learning.training.per_example_gradients import clipped_sum
from opacus.grad_sample import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn

from learning.networks.multilayer_perceptron import ADULT_MLP
from learning.networks.tutorial_networks import TUTORIALS
from learning.training.clipping import Clipping
from learning.training.noisy_descent import DescentPlan
from tests.learning import opacus_networks

BATCH, BOUND = 256, 1.0
CASES = {
    "perceptron": (ADULT_MLP, opacus_networks.perceptron, (105,)),
    "cnn": (TUTORIALS["mnist"], opacus_networks.tutorial, (1, 28, 28)),
}


def steps(case: str):
    """Both ways as functions without arguments, each of which returns the sum (M,)."""
    torch.set_num_threads(1)
    network, modules, shape = CASES[case]
    rng = np.random.default_rng(0)
    parameters = torch.from_numpy(network.initial(rng))
    inputs = torch.from_numpy(rng.random((BATCH, *shape), np.float32))
    labels = torch.from_numpy(rng.integers(0, network.layers[-1].weight[0], BATCH))
    clipping = Clipping(bound=BOUND)
    chunk = DescentPlan(batch=BATCH, epochs=1, learning_rate=1.0, clipping=clipping).chunk

    def ours():
        kind = {"batch": BATCH, "chunk": chunk}
        return clipped_sum(network, parameters, inputs, labels, clipping, **kind)

    model = GradSampleModule(modules())
    with torch.no_grad():
        pairs = (tensor for pair in network.tensors(parameters) for tensor in pair)
        for target, tensor in zip(model.parameters(), pairs, strict=True):
            target.copy_(tensor)
    optimiser = DPOptimizer(
        torch.optim.SGD(model.parameters(), lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=BOUND,
        expected_batch_size=BATCH,
    )

    def opacus():
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimiser.clip_and_accumulate()
        return torch.cat([p.summed_grad.flatten() for p in model.parameters()])

    return {"ours": ours, "opacus": opacus}


def resident(kind: str) -> int:
    """KiB of resident memory, now ("VmRSS") or at most ("VmHWM").

    ru_maxrss would not do: a child process starts with that of its parent.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    step = steps(sys.argv[2])[sys.argv[1]]
    before = resident("VmRSS")
    step()
    print(resident("VmHWM") - before)
