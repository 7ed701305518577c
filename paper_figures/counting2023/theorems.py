"""counting2023: the error of the square-root factorisation of prefix sums, by closed forms.

A stream has n numbers; one person changes one of them by at most 1. Errors are variances at mu = 1.
"""

import math

from claims.comparisons import number, universal
from claims.judged_rows import listed
from claims.judges import judge
from claims.verdicts import Finding
from mechanisms.query.words import rounded_up
from mechanisms.strategies.streams.closed_forms import binary_tree, square_root
from mechanisms.strategies.streams.factorisation import StreamError
from mechanisms.strategies.streams.lower_bounds import least_mean_error, sum_of_singular_values
from mechanisms.strategies.streams.optimal_stream import optimal_factorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stream_workload import StreamWorkload

ONCE = Participation()


@judge
def root_max_error(*, largest_power: int, most: float) -> Finding:
    """How far the root of the largest error lies above a lower bound of every factorisation's."""
    distances = [
        math.sqrt(_root_error(steps).maximal) - sum_of_singular_values(steps) / steps
        for steps in _powers(largest_power)
    ]
    cases = [distance <= most for distance in distances]
    found = f"at most {rounded_up(max(distances))}"
    return Finding(
        parts=[universal("distance", cases, found)],
        detail=(
            f"n = 2, 4, ..., 2^{largest_power}. The square root's largest variance at mu = 1 "
            "is the square of sum_k (binom(2k, k) / 4^k)^2, k < n; the factorisation norm is at "
            "least the mean of the singular values, in closed form."
        ),
    )


@judge
def root_mean_error(*, largest_power: int, optimal_at: list[int], tolerance: float) -> Finding:
    """The slope in ln n of the root mean error and of its lower bound, and the ratio of both."""
    sizes = _powers(largest_power)
    errors = [_root_error(steps).mean for steps in sizes[-2:]]
    bounds = [least_mean_error(steps, 1) for steps in sizes[-2:]]
    parts = [
        number(name, _slope(values), 1 / math.pi, tolerance)
        for name, values in (("slope of the square root", errors), ("of the bound", bounds))
    ]
    above = {}
    for steps in optimal_at:
        optimum = optimal_factorisation(StreamWorkload(steps=steps))
        above[steps] = _root_error(steps).mean / optimum.least_error - 1
    shown = listed(f"{excess:.1%} at n = {steps}" for steps, excess in above.items())
    return Finding(
        parts=parts,
        detail=(
            f"Slopes in ln n from n = 2^{largest_power - 1} to 2^{largest_power}, where "
            f"the square root's mean squared error is {errors[-1] / bounds[-1]:.4g} times the "
            f"lower bound. Above the optimum, which its dual certifies: {shown}."
        ),
    )


@judge
def binary_mechanism(*, factor: float, powers: list[int], tolerance: float) -> Finding:
    """The mean error of the binary mechanism over that of the square root.

    The binary mechanism gives a prefix sum as the sum of the nodes of the binary expansion of its
    end, each with noise of its own. One person is in L + 1 nodes of 2^L steps.
    """
    limit = math.pi**2 / (2 * math.log(2) ** 2)
    parts = [number("in the limit", limit, factor, tolerance)]
    for power in powers:
        steps = 1 << power
        # The mean number of ones in the binary digits of 1 to 2^L is L / 2 + 2^-L.
        error = (power + 1) * (power / 2 + 1 / steps)
        ratio = error / _root_error(steps).mean
        parts.append(number(f"at n = 2^{power}", ratio, factor, tolerance))
    steps = 1 << powers[0]
    workload = StreamWorkload(steps=steps)
    tree = binary_tree(workload).error(workload, ONCE).mean / _root_error(steps).mean
    return Finding(
        parts=parts,
        detail=(
            "Both with Gaussian noise at the same mu, in closed form. With least squares over all "
            f"nodes the binary tree has {tree:.3g} times the square root's error at n = {steps}."
        ),
    )


def _root_error(steps: int) -> StreamError:
    workload = StreamWorkload(steps=steps)
    return square_root(workload).error(workload, ONCE)


def _powers(largest: int) -> list[int]:
    return [1 << power for power in range(1, largest + 1)]


def _slope(errors: list[float]) -> float:
    """The growth of the root of the error from n to 2n, over ln 2."""
    first, second = (math.sqrt(error) for error in errors)
    return (second - first) / math.log(2)
