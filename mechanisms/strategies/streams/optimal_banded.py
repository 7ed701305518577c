"""The banded factorisation of least mean error for a participation, with a certificate.

X = C^T C with at most 2b bands, b the separation, has a sensitivity that is known exactly (see
`chains`). The best such X solves the convex program

    minimise  log tr(V X^-1)   subject to   S_c(X) <= 1 for every signed chain c,

with V = A^T A and S_c(X) = u^T X u. It is solved by the exponential method of multipliers
(Tseng and Bertsekas 1993): repeat

    X      <- the minimum of  log tr(V X^-1) + tau log sum_c exp(Theta_c + S_c(X) / tau),
    Theta  <- Theta + X / tau,

where Theta_c = <Theta, u u^T> stays a sum over the steps of a chain. L-BFGS finds each minimum, in
the lower-triangular C, which keeps X positive definite. The weights of the chains, normalised, are
the dual. With M = E[u u^T] every factorisation, banded or not, has sens(C)^2 >= <M, X>, so that

    sens(C)^2 tr(V X^-1) >= ||X^1/2 M^1/2||_F^2 ||A X^-1/2||_F^2 >= tr((A M A^T)^1/2)^2,

the square of the nuclear norm of A M^1/2. With at most b bands this is BandMF over all banded C
(Choquette-Choo et al. 2023, arXiv:2306.08153), where that paper makes all columns equally long and
here any lengths are allowed.
"""

from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy

from mechanisms.query.query import Unsupported
from mechanisms.query.supremum import Supremum
from mechanisms.strategies.streams.chains import Chains, SignedChains
from mechanisms.strategies.streams.optimal_stream import OptimalFactorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stepwise import forward_substitution
from mechanisms.strategies.streams.stream_workload import StreamWorkload

LARGEST = 512
# The largest S_c(X) above 1 at which the search stops.
TOLERANCE = 2e-7
_ROUNDS, _ITERATIONS, _MEMORY = 40, 100, 30
# The first tau, its factor from round to round, and the last: below, exp(X / tau) is not accurate.
_TAU, _SHRINK, _LAST_TAU = 3e-3, 0.7, 1e-5
# How far rounding errors may lift the bound: log weights of up to 1e7 are known to about 1e-9.
_ROUNDING = 1e-8
# Below this, the probability of a pair of steps is nothing.
_LEAST = 1e-100
# A logarithm that no error has.
_OVERFLOWN = 1e3


@dataclass(frozen=True, kw_only=True, eq=False)
class BandedFactorisation(OptimalFactorisation):
    """C lower-triangular with `bands` bands, and what no factorisation can go below.

    Args:
        bands: p; X_ij = 0 where |i - j| >= p.
        participation: What it is found for, and the bound holds for.
    """

    bands: int
    participation: Participation

    def certified(self, participation):
        return participation == self.participation

    def sensitivity(self, participation):
        chained = Chains.holds(self.steps, participation)
        if chained and self.bands <= 2 * participation.separation:
            chains = Chains(steps=self.steps, separation=participation.separation)
            root = float(np.sqrt(chains.largest(self.gram)))
            return Supremum(root, root)
        return super().sensitivity(participation)

    def stepwise(self, draws):
        return forward_substitution(islice(draws, self.steps), self.lower, self.bands)

    @property
    def memory(self):
        return self.bands - 1


def optimal_banded(
    workload: StreamWorkload, bands: int | None, participation: Participation
) -> BandedFactorisation:
    """The best factorisation with that many bands.

    Args:
        bands: p, or None for as many as have an exact sensitivity: 2b, or n if that is less.

    Returns:
        The factorisation at which the search stops: within a few 1e-6 of the least error with that
        many bands, unless the last round comes first. The gap to the best of all, whatever their
        bands, is certified. With 256 steps the search takes one or two minutes; an iteration takes
        O(n^3).

    Raises:
        Unsupported: More than 2b bands; fewer participations than the separation allows, but more
            than one; more than 512 steps.
    """
    steps = workload.steps
    once = participation.most(steps) == 1
    apart = steps if once else participation.separation
    bands = min(2 * apart if bands is None else bands, steps)
    if bands > 2 * apart:
        raise Unsupported(
            f"knows the sensitivity of at most 2 x separation = {2 * apart} bands, got {bands}"
        )
    if not once and not Chains.holds(steps, participation):
        raise Unsupported(
            "needs one participation, or as many as the separation allows: participations x "
            f"separation >= {steps} steps, got {participation.times} x {participation.separation}"
        )
    if steps > LARGEST:
        raise Unsupported(f"optimises over at most {LARGEST} steps, got {steps}")
    chains = Chains(steps=steps, separation=apart)
    lower, weights = _searched(workload, bands, chains)
    gram = lower.T @ lower
    square = chains.largest(gram)
    return BandedFactorisation(
        gram=gram / square,
        least_error=_total_error(workload, lower) * square / steps,
        lower_bound=_lower_bound(workload, _with_agreement_outside(workload, lower, bands, weights))
        / steps,
        bands=bands,
        participation=participation,
    )


def _searched(
    workload: StreamWorkload, bands: int, chains: Chains
) -> tuple[np.ndarray, SignedChains]:
    """C, (n, n), up to its scale, and the weights of the chains."""
    steps = workload.steps
    index = np.arange(steps)
    distance = index[:, None] - index
    inside = (distance >= 0) & (distance < bands)
    lower = np.where(inside, scipy.linalg.toeplitz(workload.root(), np.zeros(steps)), 0.0)
    lower /= np.sqrt(chains.largest(lower.T @ lower))
    potential = np.zeros((steps, steps))

    def objective(free, tau, before):
        lower = np.zeros((steps, steps))
        lower[inside] = free
        if not lower.diagonal().all():
            return _OVERFLOWN, np.zeros_like(free)
        inverse = _inverse(lower)
        answering = workload.applied(inverse, axis=0)
        total = float(np.vdot(answering, answering))
        if not np.isfinite(total):
            return _OVERFLOWN, np.zeros_like(free)
        weights = chains.weighted(potential + lower.T @ lower / tau)
        by_error = (answering.T @ answering) @ inverse.T / total
        gradient = 2 * (lower @ weights.adjacent() - by_error)
        return float(np.log(total)) + tau * (weights.log_sum - before), gradient[inside]

    for tau in np.maximum(_TAU * _SHRINK ** np.arange(_ROUNDS), _LAST_TAU):
        found = scipy.optimize.minimize(
            objective,
            lower[inside],
            # What the weights start from, so that the objective stays of the size of a logarithm.
            args=(tau, chains.weighted(potential).log_sum),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _ITERATIONS, "maxcor": _MEMORY, "ftol": 1e-14, "gtol": 1e-8},
        )
        lower = np.zeros((steps, steps))
        lower[inside] = found.x
        gram = lower.T @ lower
        potential += gram / tau
        if found.success and chains.largest(gram) <= 1 + TOLERANCE:
            break
    return lower, chains.weighted(potential)


def _lower_bound(workload: StreamWorkload, weights: SignedChains) -> float:
    """The best bound over how often all signs of a chain are equal; any share bounds."""
    free, alike = weights.moment(), weights.moment_alike()

    def below(share: float) -> float:
        moment = (1 - share) * free + share * alike
        squares = scipy.linalg.eigvalsh(workload.applied(workload.applied(moment, axis=0)))
        # Values that are rounding errors are dropped: that can only lower the bound.
        rounding = len(squares) * np.finfo(float).eps * squares[-1]
        return float(np.sqrt(squares[squares > rounding]).sum() ** 2)

    best = scipy.optimize.minimize_scalar(
        lambda share: -below(share), bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-3}
    )
    return (1 - _ROUNDING) * max(below(0.0), -float(best.fun))


def _with_agreement_outside(
    workload: StreamWorkload, lower: np.ndarray, bands: int, weights: SignedChains
) -> SignedChains:
    """The same chains, whose signs agree outside the bands as the optimality of X = 0 there asks.

    Without the limit of the bands X is best where M is the slope of -log tr(V X^-1), as far as
    signs can agree.
    """
    inverse = _inverse(lower)
    answering = workload.applied(inverse, axis=0)
    slope = inverse @ (answering.T @ answering) @ inverse.T / np.vdot(answering, answering)
    index = np.arange(workload.steps)
    outside = index - index[:, None] >= bands
    asked = np.clip(slope / np.maximum(weights.follows, _LEAST), -1, 1)
    return weights._replace(agreement=np.where(outside, asked, weights.agreement))


def _total_error(workload: StreamWorkload, lower: np.ndarray) -> float:
    """tr(V X^-1)."""
    answering = workload.applied(_inverse(lower), axis=0)
    return float(np.vdot(answering, answering))


def _inverse(lower: np.ndarray) -> np.ndarray:
    return scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, check_finite=False)
