"""Mark tests that need a GPU; they are skipped with a reason if there is none."""

import pytest
import torch

CUDA = torch.cuda.is_available()
ON_A_GPU = (
    pytest.mark.cuda,
    pytest.mark.skipif(not CUDA, reason="torch finds no CUDA device here"),
)


def on_a_gpu(test):
    """Mark a test as one that needs a GPU."""
    for mark in ON_A_GPU:
        test = mark(test)
    return test
