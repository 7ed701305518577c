"""How far one person moves C x: the sensitivity of a factorisation under participation.

One person contributes at most `times` steps of the stream, any two at least `separation` apart, and
moves each by a vector of norm at most 1. The sensitivity is the largest ||C D||_F over such D.
"""

from dataclasses import dataclass

import numpy as np

from mechanisms.query.supremum import Supremum, best_bounds


@dataclass(frozen=True, kw_only=True)
class Participation:
    """(k, b)-participation: at most `times` steps, at least `separation` apart.

    Raises:
        ValueError: A number below 1.
    """

    times: int = 1
    separation: int = 1

    def __post_init__(self) -> None:
        for name in ("times", "separation"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def most(self, steps: int) -> int:
        """How often one person can take part in that many steps."""
        return min(self.times, -(-steps // self.separation))

    def earliest(self, steps: int) -> np.ndarray:
        """The steps of a person who takes part as early and as often as possible."""
        return self.separation * np.arange(self.most(steps))


def toeplitz_sensitivity(column: np.ndarray, participation: Participation) -> Supremum:
    """The sensitivity of a lower-triangular Toeplitz C with this first column, (n,).

    - Nonnegative and nonincreasing: the earliest steps are the worst (Kalinin and Lampert 2024,
      Theorem 2). Exact.
    - At most `separation` bands: the columns of one person do not overlap, so their squares add.
      Exact.
    - Otherwise the least nonincreasing sequence above |c| bounds it from above. From below: the
      earliest steps, moved alike, or with the signs that add most.
    """
    steps = participation.earliest(len(column))
    squares = np.cumsum(column**2)[len(column) - 1 - steps].sum()
    lower = max(squares, _square_of_sum(column, steps))
    bands = len(np.trim_zeros(column, "b"))
    if bands <= participation.separation or len(steps) == 1:
        return _roots(squares, squares)
    above = np.maximum.accumulate(np.abs(column)[::-1])[::-1]
    return _roots(lower, _square_of_sum(above, steps))


def sum_of_columns(column: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """The sum of the Toeplitz matrix's columns at these steps, (n,)."""
    total = np.zeros(len(column))
    for step in steps:
        total[step:] += column[: len(column) - step]
    return total


def gram_sensitivity(gram: np.ndarray, participation: Participation) -> Supremum:
    """The sensitivity of any C with X = C^T C, (n, n).

    ||C D||^2 <= sum |X_ij| over the steps i, j of one person. From above: for each i the largest
    row sum of |X| over the other steps that go with it, then the largest sum of these over one
    person's steps. From below: equally spaced steps from any start, moved alike, and the sum of
    diagonal entries, which some signs attain. Exact for one participation.
    """
    size = len(gram)
    times, apart = participation.most(size), participation.separation
    diagonal = np.diag(gram)
    alone = largest_apart(diagonal, times, apart)
    if times == 1:
        return _roots(alone, alone)
    grids = (range(start, size, apart)[:times] for start in range(size))
    alike = max(float(gram[np.ix_(grid, grid)].sum()) for grid in grids)
    # Step i excludes the steps near it.
    others = np.abs(gram)
    index = np.arange(size)
    others[np.abs(index[:, None] - index) < apart] = 0.0
    rows = diagonal + largest_apart(others, times - 1, apart)
    return _roots(max(alone, alike), largest_apart(rows, times, apart))


def largest_apart(weights: np.ndarray, times: int, separation: int) -> np.ndarray:
    """The largest sum of at most `times` weights >= 0, any two `separation` apart, (..., n) -> ...

    Pass m finds, for every step, the largest sum of m weights up to it.
    """
    best = np.zeros_like(weights)
    for _ in range(times):
        total = weights.copy()
        total[..., separation:] += best[..., :-separation]
        best = np.maximum.accumulate(total, axis=-1)
    return best[..., -1]


def _square_of_sum(column: np.ndarray, steps: np.ndarray) -> float:
    total = sum_of_columns(column, steps)
    return float(total @ total)


def _roots(lower: float, upper: float) -> Supremum:
    return best_bounds([float(np.sqrt(lower))], [float(np.sqrt(upper))])
