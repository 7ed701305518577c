"""Checkpoints of training: parameters, and what is known of the epochs or rounds behind them.

A file ends with a hash of the rest, because PyTorch loads a damaged file without an error. A file
that was cut short or changed counts as missing, so that its training starts anew: it says nothing
about a mechanism.
"""

import hashlib
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

_HASH = hashlib.sha256
_HASH_BYTES = _HASH().digest_size


def begin(start: np.ndarray, checkpoint: Path | None, entry: Callable) -> tuple[torch.Tensor, list]:
    """Parameters and history of an intact checkpoint, else the start and no history.

    Args:
        start: Parameters before the first step.
        checkpoint: A file that `keep` wrote, or that is not there; None: no file.
        entry: Constructor of one entry of the history.
    """
    if checkpoint is not None and checkpoint.exists():
        content = checkpoint.read_bytes()
        saved, stated = content[:-_HASH_BYTES], content[-_HASH_BYTES:]
        if _HASH(saved).digest() == stated:
            kept = torch.load(io.BytesIO(saved), map_location="cpu", weights_only=True)
            return kept["parameters"], [entry(*each) for each in kept["history"]]
        print(
            f"{checkpoint} is damaged or of an older version: training starts anew", file=sys.stderr
        )
    return torch.from_numpy(start), []


def keep(checkpoint: Path, parameters: torch.Tensor, history: Sequence[tuple]) -> None:
    """Write a checkpoint atomically: a reader sees the old one or the new one."""
    saved = io.BytesIO()
    kept = {"parameters": parameters.cpu(), "history": [tuple(each) for each in history]}
    torch.save(kept, saved)
    temporary = checkpoint.with_suffix(".tmp")
    temporary.write_bytes(saved.getvalue() + _HASH(saved.getvalue()).digest())
    temporary.replace(checkpoint)
