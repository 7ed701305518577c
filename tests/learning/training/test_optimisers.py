"""Our steps by torch's functions against those of torch's optimizers."""

import subprocess
import sys

import pytest
import torch

from learning.training.optimisers import step_of


def trained(make_step, optimiser):
    """Two tensors after five steps."""
    torch.manual_seed(0)
    weights, bias = (torch.randn(shape, requires_grad=True) for shape in ((3, 4), (3,)))
    records = torch.randn(4, 7)
    step = make_step(optimiser, [weights, bias], 0.05)
    for _ in range(5):
        (weights @ records + bias[:, None]).tanh().square().sum().backward()
        step()
    return weights.detach(), bias.detach()


def step_of_torch(optimiser, parameters, learning_rate):
    classes = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}
    found = classes[optimiser](parameters, lr=learning_rate)

    def step():
        found.step()
        found.zero_grad()

    return step


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_steps_equal_those_of_torch_to_the_last_bit(optimiser):
    ours, torchs = (trained(make, optimiser) for make in (step_of, step_of_torch))
    assert all(torch.equal(one, other) for one, other in zip(ours, torchs, strict=True))


@pytest.mark.slow
def test_steps_import_no_slow_modules():
    code = """
import sys
import torch
from learning.training.optimisers import step_of
for optimiser in ("adam", "sgd"):
    tensor = torch.ones(2, requires_grad=True)
    step = step_of(optimiser, [tensor], 0.1)
    tensor.sum().backward()
    step()
print("torch._dynamo" in sys.modules)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"
