"""The profile of Laplace noise on k components that change by one width, and one that changes less.

With tau = width / scale, the loss l of one component is tau with probability 1/2, -tau with
probability e^-tau / 2, and has the density e^((l - tau) / 2) / 4 between. In terms of
R = sqrt(P Q), with dP = e^(l / 2) dR, it is simpler: atoms e^(-tau / 2) / 2 at both ends and a
constant density e^(-tau / 2) / 4. Two lattices of m cells, with the spacing h = 2 tau / m, enclose
R. Each of them is a pair of distributions itself, so that the bounds survive composition:

- above: the mass of every cell moves to its two ends so that P and Q keep theirs (connect the dots,
  Doroshenko et al. 2022): R gets tanh(h/4) / 2 at each end, in units of e^(-tau / 2);
- below: every cell is merged, which is post-processing: R gets sinh(h/4) at its middle.

For each lattice, one FFT gives the sum of k losses under R, tilted by e^(theta l) so that it
centres near epsilon. The tilt keeps the relative accuracy of delta, however small delta is:

    delta(epsilon) = Z^k e^(-c epsilon) sum_{s > epsilon} g(s) e^(-c (s - epsilon))
                     (1 - e^(epsilon - s)),   c = theta - 1/2 > 0,

where Z is the mass of the tilted loss and g its k-fold convolution, normalised. The error in the
variance of a cell is twice as large above as below, so that (above + 2 below) / 3 has an error of
order h^4.

One more component of shift rest < tau needs no lattice. Given the sum s of the others, its own
profile at epsilon - s, in closed form for either sign, replaces (1 - e^(epsilon - s))_+:

    delta_rest(e) = 1 - e^((e - rest) / 2) for |e| < rest, and (1 - e^e)_+ beyond.
"""

import functools
import math
from typing import NamedTuple

import numpy as np
import scipy

from mechanisms.privacy.numerics import ULP, complex_power, falling_root
from mechanisms.privacy.profile import Bounds

# One component has _CELLS / sqrt(k) cells, or _FEWEST_CELLS: a lattice has up to some 75,000 points
# for k up to 65,536.
_CELLS = 4096
_FEWEST_CELLS = 16
# The FFT sees the sums within this many m sqrt(k) steps of their mean. By Hoeffding's inequality
# the other sums, which it wraps around, have probability 2 e^-41 at most.
_REACH = math.sqrt(2 * 41)
# Allowance for rounding and wrap-around in one value of g: a few times the largest error seen
# against closed forms.
_FFT_ERROR = 4 * ULP
# Tilts are rounded to this many per factor of e, so that nearby epsilons share a tilt. The rounding
# costs no accuracy.
_TILTS_PER_E = 16


class Losses(NamedTuple):
    """The largest losses: tau of each of `components`, and rest < tau of one more, if rest > 0."""

    components: int
    tau: float
    rest: float

    @property
    def largest_loss(self) -> float:
        """The largest loss of all components together."""
        return self.components * self.tau + self.rest


def log_delta(components: int, tau: float, epsilon: np.ndarray, rest: float = 0.0) -> Bounds:
    """Return log delta(epsilon) with bounds for `components` losses of tau and one of rest.

    epsilon: flat array, >= 0. The bounds are proven except for rounding, for which they include an
    estimate.
    """
    losses = Losses(components, tau, rest)
    result = np.full((3, epsilon.size), -np.inf)
    inside = np.flatnonzero(epsilon < losses.largest_loss)
    for index, tilt in zip(inside, _tilts(losses, epsilon[inside]), strict=True):
        result[:, index] = _log_delta(losses, float(epsilon[index]), float(tilt))
    return Bounds(*result)


def _log_delta(losses: Losses, epsilon: float, tilt: float) -> tuple[float, float, float]:
    lower, upper = (
        _on_lattice(losses, epsilon, tilt, lattice)
        for lattice in _lattices(losses.components, losses.tau, tilt)
    )
    # If the components are so many that the atoms underflow, only the upper bound is not -inf.
    value = float(np.logaddexp(lower[1] + math.log(2), upper[1])) - math.log(3)
    return lower[0], min(max(value, lower[0]), upper[2]), upper[2]


class _Lattice(NamedTuple):
    """The tilted sum of all losses of size tau on one lattice."""

    step: float
    # Index of the first sum, counted from the largest: the sum i is components * tau - step * i.
    first: int
    probabilities: np.ndarray
    # log of the mass Z of one tilted loss, less c tau.
    log_mass: float


# A search for epsilon asks for one pair of lattices again and again; a pair takes about 1 MB.
@functools.lru_cache(maxsize=8)
def _lattices(components: int, tau: float, tilt: float) -> tuple[_Lattice, _Lattice]:
    """Return the lattices that bound delta from below and from above."""
    cells = max(_FEWEST_CELLS, math.ceil(_CELLS / math.sqrt(components)))
    quarter = tau / (2 * cells)  # h / 4
    # Ends and middles of the cells alternate.
    below, above = np.full((2, 2 * cells + 1), -np.inf)
    below[[0, -1]] = math.log(0.5)
    below[1::2] = quarter + math.log(-math.expm1(-2 * quarter) / 2)  # log sinh(h / 4)
    above[2:-1:2] = math.log(math.tanh(quarter))
    above[[0, -1]] = math.log((1 + math.tanh(quarter)) / 2)
    return tuple(_lattice(components, tau, tilt, log_weights) for log_weights in (below, above))


def _lattice(components: int, tau: float, tilt: float, log_weights: np.ndarray) -> _Lattice:
    """Sum losses with log_weights, log of R over e^(-tau / 2) at tau (1 - i / m), i = 0..2m."""
    cells = log_weights.size // 2
    step = tau / cells
    places = np.arange(log_weights.size)
    # The tilt is relative to the largest loss, so that weights are at most one.
    weights = np.exp(log_weights - (tilt + 0.5) * step * places)
    total = weights.sum()
    weights /= total
    reach = math.ceil(_REACH * cells * math.sqrt(components))
    first = max(0, math.floor(components * (weights @ places)) - reach)
    last = min(first + 2 * reach, 2 * cells * components)
    length = scipy.fft.next_fast_len(last - first + 1, real=True)
    sums = scipy.fft.irfft(complex_power(scipy.fft.rfft(weights, length), components), length)
    return _Lattice(step, first, np.maximum(np.roll(sums, -first), 0.0), math.log(total))


def _on_lattice(
    losses: Losses, epsilon: float, tilt: float, lattice: _Lattice
) -> tuple[float, float, float]:
    """Return log delta of one lattice, with bounds for its rounding."""
    gap = losses.largest_loss - epsilon
    # The number of sums s with s + rest > epsilon, rest being the largest value of the last loss.
    count = min(max(math.ceil(gap / lattice.step) - lattice.first, 0), lattice.probabilities.size)
    above = gap - lattice.step * (lattice.first + np.arange(count))
    payoff = np.exp(-tilt * above) * -np.expm1(-np.maximum(above - losses.rest, above / 2))
    mean = payoff @ lattice.probabilities[:count]
    exponent = losses.components * lattice.log_mass + tilt * gap
    error = payoff.sum() * _FFT_ERROR
    rounding = ULP * (8 + 4 * losses.components + abs(exponent))
    with np.errstate(divide="ignore"):
        logs = np.log([max(mean - error, 0.0), mean, mean + error])
    return tuple(exponent + logs + rounding * np.array([-1, 0, 1]))


def _tilts(losses: Losses, epsilon: np.ndarray) -> np.ndarray:
    """Return c > 0 near the saddle point of M(z)^k e^(-z epsilon) / (z (z + 1)); any c is valid.

    M(z) = e^(-tau / 2) (cosh(w tau) + sinh(w tau) / (2 w)), w = z + 1/2, is the moment generating
    function of one loss under P. The component of shift `rest` has its own factor.
    """
    components, tau, rest = losses
    kinds = [(components, tau)] + [(1, rest)] * (rest > 0)

    def excess(log_tilt: np.ndarray, gap: np.ndarray) -> np.ndarray:
        tilt = np.exp(log_tilt)
        w = tilt + 0.5
        total = 1 / tilt + 1 / (1 + tilt)
        for count, shift in kinds:
            slope = np.tanh(w * shift)
            # 1 - K'(z) / shift, K = log M, without cancellation.
            below_largest = (2 / (np.exp(np.minimum(2 * w * shift, 700.0)) + 1)) * (1 - 0.5 / w)
            below_largest = (below_largest + slope / (2 * w**2 * shift)) / (1 + slope / (2 * w))
            total = total + count * shift * below_largest
        return np.log(total) - np.log(gap)

    log_tilt = falling_root(
        excess,
        np.full(epsilon.shape, -math.log(tau * math.sqrt(components))),
        np.ones(epsilon.shape),
        floor=-300.0,
        ceiling=300.0,
        args=(losses.largest_loss - epsilon,),
        tolerance=1e-2,
    )
    return np.exp(np.round(_TILTS_PER_E * log_tilt) / _TILTS_PER_E)
