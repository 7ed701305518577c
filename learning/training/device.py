"""The device that networks are trained on, and how torch is prepared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from learning.records.labelled import Split


def prepared(device: str = "cpu") -> str:
    """The device that is meant; on a CPU every operation always gives the same bytes."""
    import torch

    torch.set_num_threads(1)
    found = "cuda" if device == "auto" and torch.cuda.is_available() else "cpu"
    # cuBLAS reads this when it starts. CUDA has no deterministic form of every operation: torch
    # warns of such ones instead of refusing them.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # `use_deterministic_algorithms` does the same, and takes seconds to load torch's compiler.
    torch.set_deterministic_debug_mode("warn" if found == "cuda" else "error")
    # Products of numbers rounded to ten bits would let a clipped gradient be longer than its bound.
    torch.backends.cudnn.allow_tf32 = False
    # True would fill new memory before use, which helps to find errors and costs time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    return found


def tensors_of(split: Split, device: str) -> tuple[torch.Tensor, ...]:
    """Training inputs and labels, test inputs and labels, on a device."""
    import torch

    arrays = (split.train_inputs, split.train_labels, split.test_inputs, split.test_labels)
    return tuple(torch.from_numpy(array).to(device) for array in arrays)
