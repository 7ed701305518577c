"""lap2026: Laplace noise on a gradient clipped to an l2 norm against Gaussian noise."""

import math

from claims.comparisons import number, universal
from claims.judges import Delta, Epsilon, judge
from claims.verdicts import NOT_RUN, Finding, Part
from mechanisms.noise.gamma_mixture import GAUSSIAN_COVER
from mechanisms.privacy.fisher import laplace_mu
from mechanisms.privacy.gaussian_profile import mu_for
from mechanisms.query.words import rounded_up


@judge
def laplace_noise(*, parameters: int, noise_multiplier: float) -> Finding:
    """What Laplace noise of a Gaussian's variance reveals; the accuracies are not run."""
    mu = laplace_mu(parameters, math.sqrt(2) / noise_multiplier)
    more = mu * noise_multiplier
    return Finding(
        parts=[Part("accuracies", NOT_RUN)],
        detail=(
            f"A gradient of {parameters:,} elements is clipped to l2 norm C, and a record is "
            f"added or removed. Laplace noise of standard deviation {noise_multiplier:g} C in each "
            "element "
            "reveals a gradient that is spread over all elements as much as Gaussian noise of "
            f"mu = {mu:.4f} does. Gaussian noise of the same standard deviation has "
            f"mu = {1 / noise_multiplier:g}. So Laplace noise needs at least {more:.3f} times the "
            f"standard deviation, {more**2:.2f} times the variance, to be as private. Sampling the "
            "records of a step mixes the same two distributions and does not change this."
        ),
        calibration="published",
    )


@judge
def clipped_noise(
    *, parameters: list[int], epsilon: Epsilon, delta: Delta, tolerance: float
) -> Finding:
    """How the scale of Laplace noise grows with the number of elements under either clipping."""
    scales = [scale_in_l1_ball(math.sqrt(size), epsilon, delta) for size in parameters]
    most = scale_in_l2_ball(1.0, epsilon, delta)
    power = math.log(scales[-1] / scales[0]) / math.log(parameters[-1] / parameters[0])
    return Finding(
        parts=[
            number("l1 norm: power of n", power, 0.5, tolerance),
            universal(
                f"l2 norm: less noise at n = {' and '.join(f'{n:,}' for n in parameters)}",
                [most < scale for scale in scales],
                f"scale at most {rounded_up(most / scales[-1], 2)} times at the latter",
            ),
        ],
        detail=(
            f"One release, epsilon {epsilon:g} and delta {delta:g}, of a gradient whose l2 norm "
            "is at most C. Clipped to an l1 norm of sqrt(n) C, which changes none of them, Laplace "
            f"noise has the least scale {scales[0]:.4g} C at n = {parameters[0]:,} and "
            f"{scales[-1]:.4g} C at n = {parameters[-1]:,}: the worst change moves one element. "
            f"Clipped to the l2 norm C, a scale of {rounded_up(most)} C suffices for every n, by "
            "a Gaussian bound that may not be tight."
        ),
        calibration="exact",
    )


def scale_in_l1_ball(radius: float, epsilon: float, delta: float) -> float:
    """The least scale b of Laplace noise for all changes of at most this l1 norm.

    The worst moves one element: delta = 1 - e^((epsilon - radius / b) / 2).
    """
    return radius / (epsilon - 2 * math.log1p(-delta))


def scale_in_l2_ball(radius: float, epsilon: float, delta: float) -> float:
    """A scale of Laplace noise that suffices for all changes of at most this l2 norm.

    An element that moves by D_i has no loss above D_i / b, which gives mu_i <= sqrt(pi / 2) D_i / b
    (`mechanisms.noise.gamma_mixture`).
    """
    return GAUSSIAN_COVER * radius / float(mu_for(epsilon, delta))
