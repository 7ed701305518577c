"""Profiles of a loss with few values: randomised response, caps, one event, moving supports."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, log1mexp, written, written_above
from mechanisms.privacy.profile import (
    Bounds,
    PrivacyProfile,
    check_count,
    check_positive,
    check_target,
)


class FiniteProfile(PrivacyProfile):
    """Profile of a loss L with finitely many values.

    delta(e) is the sum of P(L = l) (1 - e^(e - l)) over the losses l > e. Subclasses state `atoms`:
    the losses, and the logarithms of their probabilities under P. The largest loss comes first. The
    last loss is at most 0 and has the probability that the others leave. Bounds: rounding only,
    unless the pair is known from one side alone (`bounded`).
    """

    # Whether delta has a lower and an upper bound other than 0 and 1.
    bounded: ClassVar[tuple[bool, bool]] = (True, True)

    atoms: tuple[np.ndarray, np.ndarray]

    @property
    def _rounding(self) -> tuple[float, float]:
        """Rounding of a loss, and of the logarithm of a probability."""
        return 8 * ULP * (1 + self._reach), 8 * ULP * (1 + abs(self.atoms[1][0]))

    @property
    def _reach(self) -> float:
        """The largest finite |loss|."""
        sizes = np.abs(self.atoms[0])
        return float(sizes[np.isfinite(sizes)].max())

    def sample_losses(
        self, rng: np.random.Generator, n: int, *, reverse: bool = False
    ) -> np.ndarray:
        losses, log_masses = (part[:-1] for part in self.atoms)
        shares = np.cumsum(np.exp(log_masses - (losses if reverse else 0.0)))
        return self.atoms[0][np.searchsorted(shares, rng.random(check_count("n", n)), side="right")]

    def _log_sum(self, epsilon: np.ndarray) -> np.ndarray:
        losses, log_masses = self.atoms
        gap = np.minimum(epsilon[..., None] - losses, 0.0)
        return np.logaddexp.reduce(log_masses + log1mexp(gap), axis=-1)

    def _log_delta(self, epsilon: np.ndarray) -> Bounds:
        of_loss, of_mass = self._rounding
        of_loss += 4 * ULP * epsilon
        # From the largest loss on, delta is 0, whatever the rounding of the loss.
        of_loss = np.where(epsilon < self.largest_loss, of_loss, 0.0)
        lower, value, upper = (
            self._log_sum(np.maximum(epsilon + sign * of_loss, 0.0)) for sign in (1, 0, -1)
        )
        # The logarithm of the sum rounds as well.
        upper = np.minimum(upper * (1 - 4 * ULP) + of_mass, 0.0)
        bounds = Bounds(lower * (1 + 4 * ULP) - of_mass, np.minimum(value, upper), upper)
        return self._known(bounds, -np.inf, 0.0)

    def _survival(self, epsilon: np.ndarray) -> np.ndarray:
        if not all(self.bounded):
            return super()._survival(epsilon)
        losses, log_masses = self.atoms
        return np.where(losses > epsilon[..., None], np.exp(log_masses), 0.0).sum(axis=-1)

    def _epsilon(self, delta: np.ndarray) -> Bounds:
        losses, log_masses = self.atoms
        if np.count_nonzero(losses > 0) > 1:
            found = super()._epsilon(delta)
        else:
            of_loss, of_mass = self._rounding
            ends = []
            for sign in (-1, 0, 1):
                with np.errstate(divide="ignore"):
                    share = np.log(delta) - log_masses[0] - sign * of_mass
                part = np.where(share < 0, log1mexp(np.minimum(share, 0.0)), 0.0)
                epsilon = np.maximum(losses[0] + sign * of_loss + part, 0.0)
                ends.append(np.where(share < 0, np.minimum(epsilon, self.largest_loss), 0.0))
            found = Bounds(*ends)
        return self._known(found, 0.0, np.inf)

    def _known(self, found: Bounds, least: float, most: float) -> Bounds:
        """Return `found` with `least` or `most` in place of a bound that is not known.

        Without an upper bound, the value is the lower bound.
        """
        lower, value, upper = found
        below, above = self.bounded
        if not above:
            return Bounds(lower, lower, np.full(lower.shape, most))
        return found if below else Bounds(np.full(lower.shape, least), value, upper)


@dataclass(frozen=True, kw_only=True)
class PureProfile(FiniteProfile):
    """Upper bound on the profile of any epsilon-DP release, epsilon = `largest`.

    Any epsilon-DP pair is a post-processing of the two output distributions of randomised
    response, whose loss is +epsilon with probability p = 1 / (1 + e^-epsilon) and -epsilon
    otherwise (Kairouz, Oh and Viswanath 2015, Theorem 2.5). Hence

        delta(e) <= (e^epsilon - e^e) / (e^epsilon + 1)   for e < epsilon, and 0 from there on.

    For `times` independent releases, as many randomised responses give the bound; their composed
    loss is (2 K - times) epsilon with K binomial (Theorem 3.3 there). The value is this bound, and
    the upper bound adds an allowance for rounding. The lower bound is 0, because the release may
    reveal less. Sampled losses are those of randomised response.

    Args:
        largest: epsilon of one release, finite and > 0.
        times: Independent releases, >= 1.
    """

    largest: float
    times: int = 1

    slack = "of a release that is epsilon-DP, nothing else is known"
    bounded = (False, True)
    # The release may have a smaller epsilon than it claims.
    attains_largest_loss = False

    def __post_init__(self) -> None:
        check_positive("largest", self.largest)
        check_count("times", self.times)

    @property
    def largest_loss(self) -> float:
        """`times * largest`, rounded up."""
        return written_above(self.times * written(self.largest))

    @cached_property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        count, k = self.times, np.arange(self.times, -1, -1)
        log_choices = -np.log(count + 1.0) - scipy.special.betaln(k + 1.0, count - k + 1.0)
        log_truth = -np.log1p(np.exp(-self.largest))
        return (
            np.minimum((2.0 * k - count) * self.largest, self.largest_loss),
            log_choices + count * log_truth - (count - k) * self.largest,
        )

    @property
    def _rounding(self) -> tuple[float, float]:
        log_choices = scipy.special.gammaln(self.times + 1)
        return 4 * ULP * self._reach, ULP * (16 + 4 * (log_choices + self._reach))

    def compose(self, times: int) -> Self:
        return replace(self, times=self.times * check_count("times", times))

    def _scaled(self, factor: float) -> Self:
        """Scale noise whose epsilon is inversely proportional to its scale."""
        return replace(self, largest=self.largest / factor)


@dataclass(frozen=True, kw_only=True)
class CapProfile(FiniteProfile):
    """Profile of the loss +epsilon with probability m, -epsilon with m e^-epsilon, 0 otherwise.

    An output that falls into one of two disjoint regions, or into neither, has this loss. So
    delta(e) = m (1 - e^(e - epsilon)) below epsilon, and 0 from there on; the pair is symmetric.

    Args:
        largest: epsilon, finite and > 0.
        mass: m in (0, 1 / (1 + e^-epsilon)]; the right end is randomised response.
    """

    largest: float
    mass: float

    def __post_init__(self) -> None:
        check_positive("largest", self.largest)
        check_positive("mass", self.mass)
        if self.mass * (1 + np.exp(-self.largest)) > 1 + 16 * ULP:
            raise ValueError(f"mass must be at most 1 / (1 + e^-largest), got {self.mass}")

    @property
    def largest_loss(self) -> float:
        return self.largest

    @cached_property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        log_mass, neither = np.log(self.mass), 1 - self.mass * (1 + np.exp(-self.largest))
        masses = [log_mass, log_mass - self.largest, np.log(max(neither, ULP))]
        return np.array([self.largest, -self.largest, 0.0]), np.array(masses)

    def _scaled(self, factor: float) -> PrivacyProfile:
        """Raise ValueError, because there is no noise to rescale."""
        raise ValueError("a randomiser of directions adds no noise that could be rescaled")

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Raise ValueError, as `scaled` does."""
        return self.scaled(1.0)


@dataclass(frozen=True, kw_only=True)
class EventProfile(FiniteProfile):
    """Lower bound from an event of probability p for one input and q < p for its neighbour.

    delta(epsilon) >= p - e^epsilon q, and epsilon(0) >= log(p / q). The values and the lower bounds
    are these bounds, with an allowance for rounding; the upper bounds are 1 and inf. Sampled losses
    are those of an observer who sees only whether the event happened.

    Args:
        log_p, log_q: Logarithms of the two probabilities, which may underflow; log_q < log_p <= 0.
    """

    log_p: float
    log_q: float

    slack = "one event bounds its profile from below, and nothing is known from above"
    bounded = (True, False)
    symmetric = False
    # The largest loss is not known.
    attains_largest_loss = False

    @cached_property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        missed_p, missed_q = log1mexp(np.array([self.log_p, self.log_q]))
        losses = np.array([self.log_p - self.log_q, missed_p - missed_q])
        return losses, np.array([self.log_p, missed_p])

    @property
    def _rounding(self) -> tuple[float, float]:
        """Rounding of the logarithms, which are sums of many terms."""
        return 128 * ULP * (1 - self.log_q), 64 * ULP * (1 - self.log_q)

    def compose(self, times: int) -> Self:
        """Return the profile of the event that happens in all releases."""
        check_count("times", times)
        return replace(self, log_p=times * self.log_p, log_q=times * self.log_q)

    def _scaled(self, factor: float) -> Self:
        """Raise ValueError, because the event says nothing about other noise."""
        raise ValueError("a lower bound from one event does not say what more noise would do")


@dataclass(frozen=True, kw_only=True)
class WishartProfile(FiniteProfile):
    """Profile of a Gram matrix plus W ~ Wishart_d(d + 1, c I): delta(e) = 1 - e^-kappa, e >= 0.

    kappa = B^2 / (2 c), where a record has norm at most B. The density of W is a constant times
    e^(-tr W / (2 c)) on the positive semidefinite cone, and nothing else is needed. Because
    tr(W' + x x^T) = tr W' + |x|^2,

        P(W >= x x^T) = e^(-|x|^2 / (2 c))   (>= in the order of the cone; shift W by x x^T).

    Without a record x of norm B the output is W, with it x x^T + W. Only W can lie outside the cone
    at x x^T, with probability 1 - e^-kappa; inside, the loss of W against x x^T + W is -kappa. So
    delta is 1 - e^-kappa for e >= 0. In the other direction the loss is always kappa, and delta is
    (1 - e^(e - kappa))_+, which is no more.

    Replacing x by y is no worse for any |x|, |y| <= B. Let a = |x|^2 / (2 c), b = |y|^2 / (2 c)
    and s = P(W + x x^T >= y y^T), the mass of the first output that the second can have. The loss
    there is a - b, hence delta(e) = 1 - s min(1, e^(e - a + b)). W + x x^T >= W implies s >= e^-b,
    and s min(1, e^(e - a + b)) >= min(e^-b, e^(e - a)) >= e^-kappa. x = 0 and |y| = B attain it.

    For T releases s becomes s^T and the loss T (a - b), so that kappa becomes T kappa by the same
    argument.

    The pair is not symmetric: P is the law without the record, the direction with the infinite
    loss and the larger delta. Bounds: rounding only.

    kappa: finite, > 0.
    """

    kappa: float

    symmetric = False

    def __post_init__(self) -> None:
        check_positive("kappa", self.kappa)

    @cached_property
    def atoms(self) -> tuple[np.ndarray, np.ndarray]:
        masses = [log1mexp(np.array(-self.kappa)), -self.kappa]
        return np.array([np.inf, -self.kappa]), np.array(masses)

    def compose(self, times: int) -> Self:
        return replace(self, kappa=self.kappa * check_count("times", times))

    def _scaled(self, factor: float) -> Self:
        return replace(self, kappa=self.kappa / factor)

    def scale_factor(self, epsilon: float, delta: float) -> float:
        """Return the factor at which kappa is -log(1 - delta); raise ValueError for delta = 0."""
        check_target(epsilon, delta)
        if delta == 0:
            raise ValueError(
                "the support of this noise moves with the data at any scale; choose delta > 0"
            )
        return float(self.kappa / -np.log1p(-delta))
