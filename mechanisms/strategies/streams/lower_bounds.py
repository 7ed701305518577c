"""Lower bounds on the error of any factorisation of prefix sums, without an optimiser.

With u the signed steps of one person, drawn at random, M = E[u u^T] and X = C^T C,

    sens(C)^2 >= <M, X>  and so  sens(C)^2 tr(V X^-1) >= ||A M^1/2||_*^2,

where ||.||_* is the sum of the singular values (see `optimal_banded`). With one participation and a
uniform step, M = I / n: the bound of Henzinger, Upadhyay and Upadhyay 2023 (arXiv:2211.05006).
"""

import numpy as np
import scipy

from mechanisms.strategies.streams.stream_workload import StreamWorkload


def sum_of_singular_values(steps: int) -> float:
    """||A||_* of the prefix sums of n steps: sum_j 1 / (2 sin((2j - 1) pi / (4n + 2))).

    The inverse of A^T A is the tridiagonal matrix of second differences, whose eigenvalues are
    4 sin^2((2j - 1) pi / (4n + 2)), j = 1..n.
    """
    angles = (2 * np.arange(1, steps + 1) - 1) * np.pi / (4 * steps + 2)
    return float((0.5 / np.sin(angles)).sum())


def least_mean_error(steps: int, times: int) -> float:
    """A number that sens(C)^2 mean ||B_t||^2 of prefix sums exceeds for every factorisation.

    One person takes part `times` times, n / times steps apart or more. The larger of two bounds:
    equally spaced steps from a uniform start, moved with independent signs, or all alike.

    Args:
        steps: n.
        times: k, a divisor of n.

    Raises:
        ValueError: `times` does not divide `steps`.
    """
    if steps % times:
        raise ValueError(f"times must divide steps, got {times} and {steps}")
    apart = steps // times
    independent = sum_of_singular_values(steps) ** 2
    if times == 1:
        return independent / steps**2
    # Column s holds A u for the person who starts at step s.
    starts = np.tile(np.eye(apart), (times, 1))
    answers = StreamWorkload(steps=steps).applied(starts, axis=0)
    squares = scipy.linalg.eigvalsh(answers.T @ answers)
    alike = float(np.sqrt(np.maximum(squares, 0.0)).sum()) ** 2
    return max(independent, alike) / (apart * steps)
