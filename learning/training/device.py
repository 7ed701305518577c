"""What networks are trained on: the settings for it, and torch made ready."""

from __future__ import annotations

import os

from experiments.contract.settings import Setting, integer, one_of

DEVICE = Setting(
    "cpu or auto",
    one_of("cpu", "auto"),
    "auto: CUDA where there is one; its results are not the CPU's",
    "cpu",
)
THREADS = Setting("a whole number >= 1", integer(1), "threads of torch in one cell", 1)


def prepared(device: str = "cpu", threads: int = 1) -> str:
    """The device that is meant; on a CPU every operation always gives the same bytes."""
    import torch

    torch.set_num_threads(threads)
    found = "cuda" if device == "auto" and torch.cuda.is_available() else "cpu"
    # cuBLAS reads this when it starts. CUDA has no deterministic form of every operation: torch
    # warns of such ones instead of refusing them.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=found == "cuda")
    return found
