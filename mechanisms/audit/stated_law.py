"""Does noise follow its stated distribution beyond the moments: its symmetry, and its norm?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mechanisms.audit.audit_statistics import clopper_pearson
from mechanisms.audit.events import TAIL, projected


def of_signs(noise, training: np.ndarray, test: np.ndarray, where: str) -> Iterator[str]:
    """Sentences on draws (n, *shape) of noise that states symmetry and leans to one side.

    Along any fixed direction symmetric noise is as often positive as negative, however its elements
    depend on each other; draws orthogonal to it say nothing. One direction weighs all elements
    alike. The other is that to which `training` leans, each element in units of its own size.

    Args:
        noise: A `mechanisms.noise.distribution.Noise`.
        where: Which releases `test` is from, in words.
    """
    if not noise.symmetric:
        return
    mean, square = np.mean(training, axis=0), np.mean(training**2, axis=0)
    leaning = np.divide(mean, square, out=np.zeros(mean.shape), where=square > 0)
    for name, direction in (
        ("all elements alike", np.ones(mean.shape)),
        ("the mean of other releases", leaning),
    ):
        scores = projected(test, direction)
        hits, trials = int(np.count_nonzero(scores > 0)), int(np.count_nonzero(scores))
        if not trials:
            continue
        lower, upper = clopper_pearson(hits, trials, TAIL)
        if not lower <= 0.5 <= upper:
            yield (
                f"the noise leans to one side: along {name}, {hits} of {trials} releases {where} "
                "are positive; the noise states that it is symmetric, which gives half"
            )


def of_norms(noise, draws: np.ndarray, rounding: float, where: str) -> Iterator[str]:
    """A sentence on draws (n, *shape) whose squared norm does not follow `loss_survival`.

    By the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, as in
    `fresh_noise.of_two_values`.

    Args:
        rounding: How far rounding may have moved a norm.
        where: Which releases these are, in words.
    """
    flat = draws.reshape(len(draws), -1)
    norms = np.sort(np.linalg.norm(flat, axis=1))
    above = noise.loss_survival((norms + rounding) ** 2)
    if above is None:
        return
    reached = noise.loss_survival(np.maximum(norms - rounding, 0.0) ** 2)
    ranks = np.arange(len(norms) + 1) / len(norms)
    distance = float(np.maximum(ranks[1:] - (1 - above), (1 - reached) - ranks[:-1]).max())
    reach = math.sqrt(math.log(2 / TAIL) / (2 * len(norms)))
    if distance > reach:
        yield (
            f"the norm of the noise of {len(norms)} releases {where} has a distribution that "
            f"differs by {distance:.2g} from the stated one, where chance allows {reach:.2g}"
        )
