"""Records of bounded numbers, released one by one (tldp2025, types I to III)."""

import numpy as np

from mechanisms import Mechanism

# Records released at once; the noise then takes far less memory than the data.
_AT_ONCE = 1024


def protected(mechanism: Mechanism, records: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Records (n, ...), float32, each released on its own; same shape."""
    tensors = records.reshape(len(records), *mechanism.query.shape)
    released = np.empty_like(tensors)
    for start in range(0, len(tensors), _AT_ONCE):
        part = tensors[start : start + _AT_ONCE]
        released[start : start + _AT_ONCE] = mechanism.release_all(part, rng)
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
