"""Do elements that are stated to be independent have the stated noise in every direction?"""

from collections.abc import Iterator

import numpy as np

from mechanisms.check.events import DRAWS_PER_ELEMENT, TAIL
from mechanisms.check.moment_test import StatedMean, deviation
from mechanisms.query.query import Unsupported

# Elements of a column up to which the covariance of columns is computed.
LONGEST_COLUMN = 256


def vectors_of(draws: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Samples (k, size) of the columns, the rows and the whole of draws (n, *shape), with names.

    All columns are one sample, so that few draws suffice. Those whose covariance has too many
    elements, or too few draws, are left out.
    """
    samples = [("the answer", draws.reshape(len(draws), -1))]
    if draws.ndim == 3:
        samples = [
            ("a column", draws.transpose(0, 2, 1).reshape(-1, draws.shape[1])),
            ("a row", draws.reshape(-1, draws.shape[2])),
            *samples,
        ]
    for name, vectors in samples:
        count, size = vectors.shape
        if 1 < size <= LONGEST_COLUMN and count >= DRAWS_PER_ELEMENT * size:
            yield name, vectors


def find_dependent_elements(evidence) -> Iterator[str]:
    """Sentences on a direction in which the noise is not as large as that of one element.

    The directions of the least and of the largest noise in some draws are judged by others. The
    fourth moment along u is 3 v^2 + (E x^4 - 3 v^2) sum u^4, with v = E x^2.
    """
    noise = evidence.mechanism.noise
    try:
        mean, variance, *_ = noise.loss().cumulants
    except Unsupported:
        return
    square = mean / noise.size
    fourth = variance / noise.size + square**2
    samples = map(vectors_of, (evidence.training, evidence.test))
    for (name, chosen), (_, judged) in zip(*samples, strict=True):
        axes = np.linalg.eigh(chosen.T @ chosen)[1]
        for most, axis in (("least", axes[:, 0]), ("most", axes[:, -1])):
            along = 3 * square**2 + (fourth - 3 * square**2) * float(np.sum(axis**4))
            stated = StatedMean(square, along - square**2)
            found = deviation((judged @ axis) ** 2, stated, TAIL, rounding=1e-9)
            if found is not None:
                yield (
                    f"in the direction of {name} with the {most} noise, its mean square is "
                    f"{found.found:.4g} in {len(judged):,} draws; the noise states independent "
                    f"elements of {square:.4g}, for which chance allows [{found.lower:.4g}, "
                    f"{found.upper:.4g}]"
                )
