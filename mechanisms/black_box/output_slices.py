"""The outputs of an audit in slices that fit into memory, each drawn from its own seed."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mechanisms.black_box.learned_scores import rows_at_once
from mechanisms.black_box.output_sources import DrawOutputs, in_turn

# Numbers that are held at once: 32 MB.
BLOCK_NUMBERS = 1 << 22
LARGEST_BLOCK = 1 << 16
SIDES = (0, 1)


def generator(seed: int, *key: int) -> np.random.Generator:
    """What a source draws with. Its normals take a sixth less time than those of default_rng."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


class Slice(NamedTuple):
    """So many outputs of each side, drawn from the seed of this number."""

    number: int
    size: int


class OutputSlices:
    """The draws of both sides: what is in a slice depends on the seed and its number alone."""

    def __init__(self, draws: tuple[DrawOutputs, DrawOutputs], seed: int) -> None:
        self._draws, self._seed, self._number = draws, seed, 0
        self._shape: tuple[int, ...] | None = None

    def take(self, count: int) -> Iterator[Slice]:
        """The next slices, `count` outputs of each side in all.

        The first of all is short and must be drawn before the second is taken: its outputs say how
        long the others may be.
        """
        while count:
            size = math.prod(self._shape) if self._shape is not None else BLOCK_NUMBERS // 16
            n = min(count, LARGEST_BLOCK, max(1, BLOCK_NUMBERS // max(size, 1)))
            yield Slice(self._number, n)
            self._number += 1
            count -= n

    def draw(self, wanted: Slice, side: int) -> np.ndarray:
        """The outputs of one side, (n, *shape)."""
        parts = list(self.parts(wanted, side))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def parts(self, wanted: Slice, side: int) -> Iterator[np.ndarray]:
        """The same outputs, a few at a time where the source can: they stay in the cache."""
        few = wanted.size
        if self._shape is not None and in_turn(self._draws[side]):
            few = rows_at_once(math.prod(self._shape))
        rng = generator(self._seed, side, wanted.number)
        for start in range(0, wanted.size, few):
            yield self._checked(self._draws[side](rng, min(few, wanted.size - start)))

    def _checked(self, outputs: np.ndarray) -> np.ndarray:
        if self._shape is None:
            if not outputs.size:
                raise ValueError(
                    f"an output must hold at least one number, got shape {outputs.shape[1:]}"
                )
            self._shape = outputs.shape[1:]
        if outputs.shape[1:] != self._shape:
            raise ValueError(
                f"the outputs for both values must have one shape, got {self._shape} and "
                f"{outputs.shape[1:]}"
            )
        return outputs
