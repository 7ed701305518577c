"""Events that distinguish two sides, chosen on some scores and judged by others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.check.audit_statistics import (
    hockey_stick,
    largest_probability,
    least_probability,
)

# The probability of a false alarm in all checks of one mechanism; of a thousand it is 0.1%.
ERROR = 1e-6
# One-sided bounds that share it: for the means and variances of up to eight samples of the loss,
# fifteen and nine changes at two multiples, a grid, nine directions of two values, atoms, pairs of
# releases of five samples, norms of eight, signs, and the losses of the profile.
TAIL = ERROR / 400
# The tail of the bounds that only choose an event; no verdict rests on them.
CHOICE = 0.01
# The epsilons at which a delta is compared with the claimed one; counts show less at larger ones.
EPSILONS = np.array([0.0, 1.0])
# Relative excess over a claim that is put down to rounding.
ROUNDING = 1e-6
# Elements up to which a covariance is computed, and draws needed for each.
LARGEST_COVARIANCE, DRAWS_PER_ELEMENT = 64, 4
# Eigenvalues below this share of the largest are rounding errors.
FLOOR = 1e-12
# Share of the noise of one element that another one leaves where both have the same.
ALIKE = 1e-6
# Quantiles of the scores between which an event may begin.
QUANTILES = (0.01, 0.03, 0.1, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.9, 0.97, 0.99)
# The quantiles are those of this many scores of either side: those of all would take most of the
# time.
PLACING = 1 << 12


@dataclass(frozen=True)
class Event:
    """Scores beyond a threshold; delta >= A(event) - e^epsilon B(event) of sides (A, B) `order`.

    gain: By how much that exceeded `claim` where the event was chosen.
    paired: See `event_bounds`.
    """

    gain: float
    order: tuple[int, int]
    threshold: float
    above: bool
    epsilon: float
    claim: float
    paired: bool

    def contradiction(self, tested: Sequence[np.ndarray]) -> str | None:
        """How other scores (n,) of each side contradict the claim; a bound errs by `TAIL` at most.

        None where they do not.
        """
        thresholds = np.array([self.threshold])
        lower, upper = event_bounds(
            tested, self.order, thresholds, above=self.above, paired=self.paired
        )
        proved = float(hockey_stick(lower, upper, self.epsilon)[0])
        if proved <= self.claim * (1 + ROUNDING):
            return None
        return (
            f"delta({self.epsilon:g}) of at least {proved:.4g}; the profile states at most "
            f"{self.claim:.4g}"
        )


def chosen_event(
    trained: Sequence[np.ndarray],
    claims: np.ndarray,
    epsilons: np.ndarray = EPSILONS,
    *,
    paired: bool = False,
) -> Event:
    """The event that stands out in `trained`, of all thresholds, directions and epsilons.

    Args:
        trained: The scores (n,) of either side.
        claims: The largest delta that is claimed at each of `epsilons`.
        paired: See `event_bounds`.
    """
    placing = np.concatenate([side[:PLACING] for side in trained])
    ends = np.unique(np.quantile(placing, QUANTILES))
    # Between scores, which rounding may move: where noise cancels all of them are alike.
    thresholds = (ends[1:] + ends[:-1]) / 2 if len(ends) > 1 else ends
    found = []
    for order in ((0, 1), (1, 0)):
        for above in (True, False):
            lower, upper = event_bounds(
                trained, order, thresholds, above=above, paired=paired, tail=CHOICE
            )
            for epsilon, claim in zip(epsilons, claims, strict=True):
                gains = hockey_stick(lower, upper, epsilon) - claim
                best = int(np.argmax(gains))
                event = (float(gains[best]), order, float(thresholds[best]), above)
                found.append(Event(*event, float(epsilon), float(claim), paired))
    return max(found, key=lambda event: event.gain)


def event_bounds(
    scores: Sequence[np.ndarray],
    order: tuple[int, int],
    thresholds: np.ndarray,
    *,
    above: bool,
    paired: bool = False,
    tail: float = TAIL,
) -> tuple[np.ndarray, np.ndarray]:
    """A lower bound of A(event) and an upper one of B(event) for scores beyond each threshold.

    paired: The two sides are one sample, and the same moved. Then the event of one side contains
    that of the other, and A(event) is B(event) and the probability of what lies between: one bound,
    for which chance allows less than for two.
    """
    beyond = np.greater if above else np.less
    hits = [
        np.array([np.count_nonzero(beyond(scores[side], each)) for each in thresholds])
        for side in order
    ]
    upper = largest_probability(hits[1], len(scores[order[1]]), tail)
    more = np.maximum(hits[0] - hits[1], 0) if paired else hits[0]
    lower = least_probability(more, len(scores[order[0]]), tail)
    return lower + upper if paired else lower, upper


def projected(draws: np.ndarray, direction: np.ndarray) -> np.ndarray:
    return draws.reshape(len(draws), -1) @ direction.ravel()


def pooled(draws: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Scores along a change, many of each draw (n, *shape) of noise whose elements are i.i.d.

    The change of k elements has the same law on every k of them.
    """
    part = change[change != 0]
    flat = draws.reshape(len(draws), -1)
    groups = flat.shape[1] // part.size
    return (flat[:, : groups * part.size].reshape(-1, part.size) @ part) / np.linalg.norm(part)


def telling_direction(change: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """The direction along which a change stands out from draws (n, *shape) of noise.

    Noise that elements have in common is taken out: a score is the number along the change, less
    what other elements tell of it. For few elements that is Fisher's discriminant, the inverse
    covariance times the change; for many, one partner of those that change is used. For independent
    elements it is nearly the change itself.
    """
    flat, wanted = draws.reshape(len(draws), -1), change.ravel() / np.linalg.norm(change)
    size = wanted.size
    if size <= LARGEST_COVARIANCE and len(flat) >= DRAWS_PER_ELEMENT * size:
        squares, axes = np.linalg.eigh(flat.T @ flat)
        squares = np.maximum(squares, FLOOR * squares[-1])
        found = axes @ ((axes.T @ wanted) / squares) if squares[-1] else wanted
        return (found / np.linalg.norm(found)).reshape(change.shape)
    sizes = np.einsum("ij,ij->j", flat, flat)
    # An element of a move shows it without any noise if another element has the same noise.
    moved = np.flatnonzero(wanted)
    for place in moved if moved.size == 2 else ():
        alone = np.zeros(size)
        alone[place] = wanted[place]
        found, left = _less_its_partner(alone, flat, sizes, wanted == 0)
        if left < ALIKE:
            return found.reshape(change.shape)
    return _less_its_partner(wanted, flat, sizes, wanted == 0)[0].reshape(change.shape)


def _less_its_partner(
    wanted: np.ndarray, flat: np.ndarray, sizes: np.ndarray, others: np.ndarray
) -> tuple[np.ndarray, float]:
    """A direction (k,) less what the best one of `others` tells, and the share that is left.

    flat: draws (n, k); sizes: their sums of squares.
    """
    scores = flat @ wanted
    products = scores @ flat
    shares = np.divide(products**2, sizes, out=np.zeros(len(sizes)), where=(sizes > 0) & others)
    partner = int(np.argmax(shares))
    found, square = wanted.copy(), float(scores @ scores)
    if not shares[partner] or not square:
        return found, 1.0
    found[partner] = -products[partner] / sizes[partner]
    return found, 1 - shares[partner] / square


def scores_of(change: np.ndarray) -> list[Callable[[np.ndarray], np.ndarray]]:
    """Scores that distinguish answers to two values: along the change, and across it squared."""
    unit = change / np.linalg.norm(change)
    scores = [lambda draws: projected(draws, unit)]
    if change.ndim == 2:
        scores.append(lambda draws: squared_products(unit, draws))
    return scores


def squared_products(unit: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """||unit^T A||^2 of every draw A, by products of the size of the shorter axis."""
    rows, columns = unit.shape
    if rows >= columns:
        return np.sum((unit.T @ draws) ** 2, axis=(1, 2))
    return np.sum((unit @ unit.T) * (draws @ draws.transpose(0, 2, 1)), axis=(1, 2))
