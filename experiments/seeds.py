"""Seeds from names: the same words give the same random numbers, in any order of execution."""

from __future__ import annotations

import hashlib
import json

import numpy as np


def seed_of(*names: object) -> int:
    """A 63-bit seed from the sha256 of the JSON text of `names` (strings and numbers)."""
    text = json.dumps(names, allow_nan=False)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def generator(*names: object) -> np.random.Generator:
    """A PCG64 generator for these names."""
    return np.random.default_rng(seed_of(*names))
