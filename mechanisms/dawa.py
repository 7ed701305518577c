"""DAWA: a private partition into similar cells, then a hierarchy over its buckets.

Stage 1 spends epsilon_1 = ratio epsilon on the partition. Stage 2 spends the rest on the totals of
the buckets, which are spread evenly over their cells. The cells of a matrix are taken in the order
of a Hilbert curve through the smallest square of side 2^k that holds the matrix.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real

import numpy as np

from mechanisms.contract.mechanism import Mechanism
from mechanisms.contract.option import Option
from mechanisms.contract.query import Unsupported
from mechanisms.contract.requirements import require_histogram
from mechanisms.strategies.greedy_h import noisy_totals
from mechanisms.strategies.partition import dyadic_partition, published_partition


def _is_share(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < value < 1


class TwoStage(Mechanism):
    """The two stages that all variants of DAWA share: partition, then measure."""

    options = {
        "ratio": Option(
            0.25, "a number with 0 < ratio < 1", _is_share, "share of epsilon for the partition"
        )
    }

    @classmethod
    def build(cls, query, budget, calibration, settings):
        require_histogram(query)
        if calibration == "exact":
            raise Unsupported("has no exact profile, hence no exact calibration")
        return cls(query=query, budget=budget, calibration=calibration, settings=settings)

    def release(self, value, rng):
        return self.releases(value, rng, 1)[0].astype(value.dtype, copy=False)

    def releases(self, value: np.ndarray, rng: np.random.Generator, trials: int) -> np.ndarray:
        """Independent private answers to one value, float64 (trials, *query.shape)."""
        value = value.astype(float)
        order = hilbert_order(self.query.shape) if value.ndim == 2 else slice(None)
        cells = value.reshape(-1)[order]
        sensitivity, epsilon = self.query.l1_sensitivity, self.budget.epsilon
        epsilon_1 = self.settings["ratio"] * epsilon
        scale = sensitivity / (epsilon - epsilon_1)
        partitions = self._partition(cells, sensitivity, epsilon_1, scale, rng, trials)

        released = np.empty((trials, len(cells)))
        distinct, kind = np.unique(partitions, axis=0, return_inverse=True)
        for index, begins in enumerate(distinct):
            same = np.flatnonzero(kind == index)
            starts = np.flatnonzero(begins)
            lengths = np.diff(starts, append=len(cells))
            totals = np.add.reduceat(cells, starts)
            estimates = noisy_totals(totals, lengths, scale, rng, len(same))
            released[same] = np.repeat(estimates / lengths, lengths, axis=1)
        answer = np.empty_like(released)
        answer[:, order] = released
        return answer.reshape(trials, *self.query.shape)

    @staticmethod
    @abstractmethod
    def _partition(cells, l1_sensitivity, epsilon, charge, rng, trials) -> np.ndarray:
        """True where a bucket starts, boolean (trials, n)."""


class Dawa(TwoStage):
    """DAWA with a private partition: aligned intervals, and noise on every cost.

    Pure epsilon-DP under the adjacency of the query's l1 sensitivity: `dyadic_partition` proves
    stage 1, the Laplace mechanism covers stage 2, and the two compose. Spreading the totals makes
    the answer biased, and its error depends on the data: the mechanism is not additive.
    """

    key = "dawa"
    title = "DAWA"
    paper = "Li et al. 2014"
    theorem = "Laplace mechanism on all bucket costs, sequential composition"
    guarantee = "pure"

    _partition = staticmethod(dyadic_partition)


class DawaPublished(TwoStage):
    """DAWA with the published partition, which adds no noise to the cost of single cells.

    It claims pure epsilon-DP, and the claim is false: at n = 4 and epsilon 1 for each stage,
    samples put the true epsilon above 2.5 with 99.9% confidence. Only stage 1 differs from `dawa`.
    """

    key = "dawa-published"
    title = "DAWA (published)"
    paper = "Li et al. 2014"
    theorem = "Section 3 (partition) and sequential composition"
    guarantee = "pure"

    _partition = staticmethod(published_partition)


def hilbert_order(shape: tuple[int, int]) -> np.ndarray:
    """Flat indices of a matrix's cells along the Hilbert curve, (m n,)."""
    row, column = (axis.ravel() for axis in np.indices(shape))
    place = np.zeros(row.shape, dtype=np.int64)
    side = 1 << (max(shape) - 1).bit_length()
    half = side >> 1
    while half:
        down, right = (row & half) > 0, (column & half) > 0
        place += half * half * ((3 * down) ^ right)
        # In the left half the curve is transposed, in its lower quarter mirrored as well.
        mirrored = down & ~right
        row = np.where(mirrored, side - 1 - row, row)
        column = np.where(mirrored, side - 1 - column, column)
        row, column = np.where(right, row, column), np.where(right, column, row)
        half >>= 1
    return np.argsort(place, kind="stable")
