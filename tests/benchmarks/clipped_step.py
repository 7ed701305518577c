"""Compute one sum of clipped gradients by this suite and by opacus.

As a script, it prints by how many KiB a first step raises the peak of the resident memory.

Usage: python tests/benchmarks/clipped_step.py {ours,opacus} {perceptron,cnn,lstm,resnet18}
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import torch
from opacus.grad_sample import GradSampleModule
from opacus.optimizers import DPOptimizer
from torch import nn

from learning.networks.deep_cnns import RESNET18
from learning.networks.lstm import IMDB_LSTM
from learning.networks.multilayer_perceptron import ADULT_MLP
from learning.networks.small_cnns import TUTORIALS
from learning.records.texts import LENGTH, WORDS
from learning.training.clipped_sums import clipped_sum
from learning.training.clipping import Clipping
from learning.training.device import prepared
from learning.training.noisy_descent import DescentPlan
from tests.learning import opacus_networks

BOUND = 1.0
# (network, the same as a module, number of examples, shape of an example or length of a text)
CASES = {
    "perceptron": (ADULT_MLP, opacus_networks.perceptron, 256, (105,)),
    "cnn": (TUTORIALS["mnist"], opacus_networks.tutorial, 256, (1, 28, 28)),
    "lstm": (IMDB_LSTM, opacus_networks.imdb_lstm, 64, LENGTH["imdb"]),
    "resnet18": (RESNET18, opacus_networks.resnet18, 16, (3, 32, 32)),
}


def steps(case: str):
    """Functions without arguments that each return a sum of gradients (M,).

    They are clipped by this suite, clipped by opacus, and not clipped.
    """
    prepared()
    network, modules, batch, shape = CASES[case]
    rng = np.random.default_rng(0)
    parameters = torch.from_numpy(network.initial(rng))
    if isinstance(shape, int):
        inputs = torch.from_numpy(rng.integers(0, WORDS["imdb"] + 2, (batch, shape)))
    else:
        inputs = torch.from_numpy(rng.random((batch, *shape), np.float32))
    labels = torch.from_numpy(rng.integers(0, network.layers[-1].weight[0], batch))
    clipping = Clipping(bound=BOUND)
    chunk = DescentPlan(batch=batch, epochs=1, learning_rate=1.0, clipping=clipping).chunk

    def ours(clipping=clipping):
        kind = {"batch": batch, "chunk": chunk}
        return clipped_sum(network, parameters, inputs, labels, clipping, **kind)

    model = GradSampleModule(opacus_networks.copied(network, modules(), parameters))
    trained = [each for each in model.parameters() if each.requires_grad]
    optimiser = DPOptimizer(
        torch.optim.SGD(trained, lr=1.0),
        noise_multiplier=0.0,
        max_grad_norm=BOUND,
        expected_batch_size=batch,
    )

    def opacus():
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimiser.clip_and_accumulate()
        return torch.cat([p.summed_grad.flatten() for p in trained])

    return {"ours": ours, "opacus": opacus, "plain": lambda: ours(None)}


def resident(kind: str) -> int:
    """KiB of resident memory, now ("VmRSS") or at its peak ("VmHWM").

    ru_maxrss is no substitute: a child process starts with the value of its parent.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(kind))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    step = steps(sys.argv[2])[sys.argv[1]]
    before = resident("VmRSS")
    step()
    print(resident("VmHWM") - before)
