"""The marks of a test that needs a GPU, with the reason why it is skipped without one."""

import pytest
import torch

CUDA = torch.cuda.is_available()
ON_A_GPU = (
    pytest.mark.cuda,
    pytest.mark.skipif(not CUDA, reason="torch finds no CUDA device here"),
)


def on_a_gpu(test):
    """Mark a test."""
    for mark in ON_A_GPU:
        test = mark(test)
    return test
