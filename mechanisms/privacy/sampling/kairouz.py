"""Composition by a formula (Kairouz, Oh and Viswanath 2015) and the sampling lemma of mgm2021.

Papers calibrate by these bounds, which depend on the (epsilon, delta) of a mechanism alone. The
modules `mechanisms.privacy.composition` and `poisson_sampling` compute the true privacy of a
composition. The formula holds for any adjacency that all uses share.
"""

import math

import scipy

from mechanisms.query.query import Budget


def share(total: Budget, times: int) -> Budget:
    """Return the largest budget of each of `times` uses at which Theorem 3.4 gives `total`.

    The theorem leaves the split of delta open. Here delta~ is half of it, and the uses share what
    (1 - delta~) leaves of the other half. A single use has the whole budget. With delta = 0 only
    basic composition remains: epsilon / times.
    """
    if times == 1:
        return total
    slack = total.delta / 2
    each = -math.expm1((math.log1p(-total.delta) - math.log1p(-slack)) / times)
    # The least of the three is at most k epsilon, and at delta~ <= 1/2 at least epsilon.
    epsilon = scipy.optimize.brentq(
        lambda x: _least(x, times, slack) - total.epsilon,
        total.epsilon / times * (1 - 1e-9),
        total.epsilon * (1 + 1e-9),
        xtol=1e-300,
        rtol=1e-14,
    )
    return Budget.of_part(epsilon=epsilon, delta=each)


def _least(epsilon: float, times: int, slack: float) -> float:
    """Return epsilon~ of Theorem 3.4 for `times` adaptive uses at delta~ = slack."""
    if slack == 0:
        return times * epsilon
    # (e^epsilon - 1) / (e^epsilon + 1) = tanh(epsilon / 2).
    drift = times * epsilon * math.tanh(epsilon / 2)
    logs = math.log(math.e + math.sqrt(times) * epsilon / slack), -math.log(slack)
    return min(times * epsilon, *(drift + epsilon * math.sqrt(2 * times * log) for log in logs))


def before_sampling(epsilon: float, rate: float) -> float:
    """Return epsilon* of mgm2021 Theorem 6: a sample of this rate makes epsilon*-DP epsilon-DP.

    f(epsilon, epsilon*) = rate, solved for x = e^epsilon*: x^2 - b x - e^epsilon = 0 with
    b = (e^epsilon - 1) (1 - rate) / rate.

    Adjacency: the lemma holds if epsilon* compares a record with its absence (the paper's bottom),
    and then gives exactly epsilon for one record that changes its value: at rate 1, epsilon* is
    epsilon / 2. If epsilon* already covers a change of value, absence included, the usual
    ln(1 + (e^epsilon - 1) / rate) holds, which is up to twice as large (the limit at small epsilon)
    and larger by ln(1 / (1 - rate)) in the limit of large epsilon.

    Args:
        epsilon: After sampling, > 0.
        rate: Sampling probability in (0, 1].
    """
    # With x = e^(epsilon / 2) y, c = sinh(epsilon / 2) (1 - rate) / rate: y^2 - 2 c y - 1 = 0.
    if epsilon < 600:
        return epsilon / 2 + math.asinh(math.sinh(epsilon / 2) * (1 - rate) / rate)
    if rate == 1:
        return epsilon / 2
    return epsilon + math.log((1 - rate) / rate)
