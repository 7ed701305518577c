"""DAWA: a private partition into similar cells, then a hierarchy over its buckets.

Stage 1 spends epsilon_1 = ratio * epsilon on the partition. Stage 2 spends the rest on the totals
of the buckets, and spreads each total evenly over the cells of its bucket. The cells of a matrix
are taken in the order of a Hilbert curve through the smallest square of side 2^k that holds them.
"""

import math
from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from mechanisms.base.mechanism import Mechanism
from mechanisms.privacy.bounded_profile import BoundedProfile
from mechanisms.privacy.finite_profile import EventProfile, PureProfile
from mechanisms.query.option import Option, is_number
from mechanisms.query.requirements import require_histogram
from mechanisms.strategies.greedy_h import noisy_totals
from mechanisms.strategies.partition import (
    dyadic_partition,
    every_other,
    log_all_single,
    published_partition,
    spikes,
)


class TwoStage(Mechanism):
    """Partition, then measure: variants of DAWA differ in the first stage, `_partition`."""

    options = {
        "ratio": Option(
            0.25,
            "a number with 0 < ratio < 1",
            lambda ratio: is_number(ratio) and 0 < ratio < 1,
            "share of epsilon for the partition",
        )
    }

    @classmethod
    def build(cls, query, budget, calibration, settings):
        require_histogram(query)
        return super().build(query, budget, calibration, settings)

    def _release(self, value, rng):
        return self._releases(value, rng, 1)[0]

    def _releases(self, value, rng, trials):
        order = self._order
        cells = value.astype(float).reshape(-1)[order]
        scale = self._charge
        partitions = self._partition(
            cells, self.query.l1_sensitivity, self._epsilon_1, scale, rng, trials
        )

        released = np.empty((trials, len(cells)))
        # Each row becomes one opaque item; np.unique with axis=0 would make every byte a field.
        bits = np.packbits(partitions, axis=1)
        rows = bits.view(f"V{bits.shape[1]}").ravel()
        _, distinct, kind = np.unique(rows, return_index=True, return_inverse=True)
        for index, row in enumerate(distinct):
            same = np.flatnonzero(kind == index)
            starts = np.flatnonzero(partitions[row])
            lengths = np.diff(starts, append=len(cells))
            totals = np.add.reduceat(cells, starts)
            estimates = noisy_totals(totals, lengths, scale, rng, len(same))
            released[same] = np.repeat(estimates / lengths, lengths, axis=1)
        answer = np.empty_like(released)
        answer[:, order] = released
        return answer.reshape(trials, *self.query.shape).astype(value.dtype, copy=False)

    @property
    def _order(self) -> np.ndarray:
        """The cells in the order of the partition, as flat indices."""
        if len(self.query.shape) == 2:
            return hilbert_order(self.query.shape)
        return np.arange(self.query.size)

    @property
    def _epsilon_1(self) -> float:
        """Epsilon of stage 1."""
        return self.settings["ratio"] * self.budget.epsilon

    @property
    def _charge(self) -> float:
        """Scale of the noise of stage 2, which stage 1 adds to the cost of every bucket."""
        return self.query.l1_sensitivity / (self.budget.epsilon - self._epsilon_1)

    @staticmethod
    @abstractmethod
    def _partition(cells, l1_sensitivity, epsilon, charge, rng, trials) -> np.ndarray:
        """Return whether a bucket starts at each cell, boolean (trials, n)."""


class Dawa(TwoStage):
    """DAWA with a private partition into aligned intervals: every cost gets noise.

    It is pure epsilon-DP under the adjacency of the query's l1 sensitivity. `dyadic_partition` has
    the proof for stage 1, stage 2 is the Laplace mechanism, and the two compose. Spreading the
    totals makes the answer biased, and its error depends on the data, so the mechanism is not
    additive.
    """

    key = "dawa"
    title = "DAWA"
    paper = "Li et al. 2014"
    theorem = "Laplace mechanism on all bucket costs, sequential composition"
    guarantee = "pure"
    look = ("#4477AA", "8", 19)

    _partition = staticmethod(dyadic_partition)

    def profile(self):
        """Return the bound by randomised response: no epsilon-DP release is worse."""
        return BoundedProfile(
            above=PureProfile(largest=self.budget.epsilon),
            slack="its partition depends on the data, and only the claim bounds what that costs",
        )


class DawaPublished(TwoStage):
    """DAWA with the published partition, which adds no noise to the cost of single cells.

    Its claim of pure epsilon-DP is false: if all cells are equal, one more record makes every
    interval that holds it more likely to be split, and nothing hides the sum of these effects. With
    the default ratio and epsilon 1 the true epsilon is at least 3.41 for 16 cells and 62.9 for 256,
    if a record is added to an empty histogram. Only stage 1 differs from `dawa`. It takes time
    quadratic in the number of cells, a second for about 40,000.
    """

    key = "dawa-published"
    title = "DAWA (published)"
    paper = "Li et al. 2014"
    theorem = "Section 3 (partition) and sequential composition"
    guarantee = "pure"
    look = ("#BBCC33", "H", 20)

    _partition = staticmethod(published_partition)

    def profile(self):
        """Return a lower bound, by the event that every cell is a bucket (`log_all_single`).

        The release shows this event: with probability one, two released cells are equal if and only
        if they share a bucket. The pair is a constant answer and, of several neighbours, the one at
        which the event is most likely. The result is None if no neighbour makes it more likely.
        """
        before = self._log_all_single(spikes(self.query.size, {}))
        after = max(map(self._log_all_single, self._changed()))
        return EventProfile(log_p=after, log_q=before) if after > before else None

    def _log_all_single(self, deviations) -> float:
        return log_all_single(
            self.query.size,
            deviations,
            l1_sensitivity=self.query.l1_sensitivity,
            epsilon=self._epsilon_1,
            charge=self._charge,
        )

    def _changed(self) -> list[Callable[[int], list[tuple[float, int]]]]:
        """Return the deviations, for `log_all_single`, after each of some changes.

        If a record of a histogram is replaced, it moves between two cells. Otherwise one cell
        changes, in the middle of the order or of the diagonal of a Gram matrix. If all cells may
        change, a second change is of every other cell.
        """
        query, size = self.query, self.query.size
        one = query.change_of_one
        if query.structure == "histogram" and query.adjacency == "replace":
            return [spikes(size, {size // 4: one, 3 * size // 4: -one})]
        if query.gram_change is not None:
            middle = (query.shape[0] + 1) * (query.shape[0] // 2)  # on the diagonal
            place = int(np.flatnonzero(self._order == middle)[0])
            return [spikes(size, {place: one})]
        changed = [spikes(size, {size // 2: one})]
        if query.one_column or query.structure == "histogram":
            return changed
        count = -(-size // 2)
        each = min(query.l1_sensitivity / count, query.l2_sensitivity / math.sqrt(count), one)
        return [*changed, every_other(size, each)]


def hilbert_order(shape: tuple[int, int]) -> np.ndarray:
    """Return the flat indices of a matrix's cells along the Hilbert curve, (m n,)."""
    row, column = (axis.ravel() for axis in np.indices(shape))
    place = np.zeros(row.shape, dtype=np.int64)
    side = 1 << (max(shape) - 1).bit_length()
    half = side >> 1
    while half:
        down, right = (row & half) > 0, (column & half) > 0
        place += half * half * ((3 * down) ^ right)
        # In the left half the curve is transposed; in the lower left quarter it is turned first.
        mirrored = down & ~right
        row = np.where(mirrored, side - 1 - row, row)
        column = np.where(mirrored, side - 1 - column, column)
        row, column = np.where(right, row, column), np.where(right, column, row)
        half >>= 1
    return np.argsort(place, kind="stable")
