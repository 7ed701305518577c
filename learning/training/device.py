"""The device that networks are trained on, and how torch is prepared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from learning.records.labelled import Split


def prepared(device: str = "cpu") -> str:
    """Prepare torch and return the device, "cpu" or "cuda".

    On a CPU every operation then always gives the same bytes.
    """
    import torch

    torch.set_num_threads(1)
    found = "cuda" if device == "auto" and torch.cuda.is_available() else "cpu"
    # cuBLAS reads this when it starts. Some operations have no deterministic form on CUDA: torch
    # warns of them instead of refusing them.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # `use_deterministic_algorithms` does the same, and takes seconds to load torch's compiler.
    torch.set_deterministic_debug_mode("warn" if found == "cuda" else "error")
    # TF32 rounds factors to ten bits, so that a clipped gradient could be longer than its bound.
    torch.backends.cudnn.allow_tf32 = False
    # True would fill new memory before use, which helps to find errors and costs time.
    torch.utils.deterministic.fill_uninitialized_memory = False
    return found


def tensors_of(split: Split, device: str) -> tuple[torch.Tensor, ...]:
    """Return the training inputs and labels, then the test inputs and labels, on a device."""
    import torch

    arrays = (split.train_inputs, split.train_labels, split.test_inputs, split.test_labels)
    return tuple(torch.from_numpy(array).to(device) for array in arrays)
