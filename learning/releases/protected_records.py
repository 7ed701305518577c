"""Records of bounded numbers that are released one by one (tldp2025, types I to III)."""

from __future__ import annotations

import numpy as np

from mechanisms import AdditiveMechanism, Mechanism

# Records that are protected at once: memory stays far below that of the data.
_AT_ONCE = 1024


def protected(mechanism: Mechanism, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every record (n, ...), float32, released on its own, in the shape that it had."""
    tensors = records.reshape(len(records), *mechanism.query.shape)
    released = np.empty_like(tensors)
    for start in range(0, len(tensors), _AT_ONCE):
        part = tensors[start : start + _AT_ONCE]
        # One with a release of its own does more than add what it samples.
        if type(mechanism).release is AdditiveMechanism.release:
            answers = part + mechanism.sample(rng, len(part), np.float32)
        else:
            answers = [mechanism.release(record, rng) for record in part]
        released[start : start + _AT_ONCE] = answers
    return released.reshape(records.shape)


def squared_error(released: np.ndarray, records: np.ndarray) -> float:
    """Mean over the records of ||released - record||^2."""
    total = sum(
        float(np.sum(np.square(r - x), dtype=np.float64))
        for r, x in zip(
            *(np.array_split(a, 1 + len(a) // _AT_ONCE) for a in (released, records)), strict=True
        )
    )
    return total / len(records)
