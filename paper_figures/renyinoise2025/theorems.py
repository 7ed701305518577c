"""renyinoise2025: delta by the formula of its published accountant, against a plain sum.

The noise is even: bin i has probability p[|i|] up to N, and p[N] ratio^(|i| - N) beyond. Shifts are
whole numbers of bins, up to the sensitivity.
"""

import math
from typing import Annotated

import numpy as np
import scipy
from pydantic import BaseModel, Field

from claims.comparisons import universal
from claims.judges import STRICT, Count, Epsilon, Positive, judge
from claims.verdicts import Finding


class Binned(BaseModel):
    """A Gaussian in bins, from which the optimiser starts: `bins` to one unit, N = `last`.

    The sensitivity is `shifts` bins, one unit unless it is given.
    """

    model_config = STRICT

    variance: Positive
    bins: Count
    last: Count
    ratio: Annotated[float, Field(gt=0, lt=1)]
    shifts: Count | None = None
    epsilons: list[Epsilon]

    @property
    def sensitivity(self) -> int:
        return self.shifts or self.bins

    def __str__(self) -> str:
        shifts = f"shifts up to {self.shifts}, " if self.shifts else ""
        return f"{self.bins} bins, {shifts}N = {self.last}, ratio {self.ratio:g}"

    def masses(self) -> np.ndarray:
        """p[0], ..., p[N]; the tail beyond bin N - 1/2 keeps its probability."""
        edges = (np.arange(self.last + 1) - 0.5) / (self.bins * math.sqrt(self.variance))
        beyond = scipy.special.ndtr(-edges)
        return np.append(-np.diff(beyond), beyond[-1] * (1 - self.ratio))


@judge
def accountant_delta(*, noises: list[Binned], tolerance: float) -> Finding:
    """Whether the accountant's delta is that of its noise."""
    parts = []
    for noise in noises:
        masses, shifts = noise.masses(), range(1, noise.sensitivity + 1)
        cases, shown = [], []
        for epsilon in noise.epsilons:
            truth = max(exact_delta(masses, noise.ratio, each, epsilon) for each in shifts)
            stated = max(published_delta(masses, noise.ratio, each, epsilon) for each in shifts)
            cases.append(abs(stated - truth) <= tolerance * truth)
            shown.append(f"{stated:.4g} for {truth:.4g}")
        parts.append(universal(str(noise), cases, ", ".join(shown)))
    return Finding(
        parts=parts,
        detail=(
            "By sums over all bins, the largest delta of all shifts up to the sensitivity; epsilon "
            f"{'; '.join(', '.join(f'{each:g}' for each in noise.epsilons) for noise in noises)}."
        ),
        calibration="published",
    )


def published_delta(masses: np.ndarray, ratio: float, shift: int, epsilon: float) -> float:
    """The five terms of `get_delta_for_epsilon_shift`; the last is never positive and left out."""
    last, factor, end = masses.size - 1, math.exp(epsilon), masses[-1]
    both_left = 0.0
    if -shift * math.log(ratio) > epsilon:
        both_left = end * (ratio - factor * ratio ** (shift + 1)) / (1 - ratio)
    one_left = masses[last - shift + 1 :] - factor * end * np.arange(1, shift + 1)
    left = masses[1 : last - shift + 1] - factor * masses[shift + 1 :]
    middle = masses[:shift][::-1] - factor * masses[1 : shift + 1]
    right = masses[shift:last] - factor * masses[: last - shift]
    one_right = end * np.arange(shift) - factor * masses[last - shift : last]
    sums = (one_left, left, middle, right, one_right)
    return float(both_left + sum(np.maximum(each, 0).sum() for each in sums))


def exact_delta(masses: np.ndarray, ratio: float, shift: int, epsilon: float) -> float:
    """sum_i (p_i - e^epsilon p_(i - shift))_+, over bins to N + shift and the tail left of it."""
    end = masses[-1]
    half = np.append(masses, end * ratio ** np.arange(1.0, 2 * shift + 1))
    noise = np.append(half[:0:-1], half)
    inner = np.maximum(noise[shift:-shift] - math.exp(epsilon) * noise[: -2 * shift], 0).sum()
    tail = end * ratio ** (shift + 1) / (1 - ratio)
    return float(inner + tail * max(1 - math.exp(epsilon) * ratio**shift, 0))
