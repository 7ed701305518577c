"""Product noise against the numbers of its published code, and its exact profile."""

import math

import mpmath
import pytest

from mechanisms import Budget, Query, get_mechanism, verify
from mechanisms.catalogue.product_noise import log_k_for, log_stated_delta

# (M, epsilon, k, stated delta to six digits, true delta): the output perturbation of the paper's
# code on MNIST and RCV1, small vectors, and a DP-SGD step. The stated numbers are of the formula in
# that code, the true ones of a quadrature of 50 digits.
SETTINGS = [
    (784, 1e-4, 1000, 4.03127e-5, 6.88706923692e-4),
    (784, 0.1, 1000, 4.12866e-5, 0.203790405311),
    (47236, 0.1, 1000, 5.27036e-6, 0.209516154694),
    (4, 1.0, 1000, 8.55979e-4, 0.010832897044),
    (64, 1.0, 1000, 3.03313e-4, 0.614079052791),
    (26010, 0.3, 40000, 1.97797e-7, None),
]


def calibrated(size, epsilon, delta=0.0, **options):
    query = Query(shape=(size,), l2_sensitivity=1.0)
    return get_mechanism("product-noise").calibrate(
        query, Budget(epsilon=epsilon, delta=delta), **options
    )


@pytest.mark.parametrize(("size", "epsilon", "k", "stated", "true"), SETTINGS)
def test_stated_and_true_delta(size, epsilon, k, stated, true):
    result = verify(calibrated(size, epsilon, k=k))
    assert result.claimed_delta == pytest.approx(stated, rel=2e-6)
    assert result.verdict == "refuted"
    if true is not None:
        assert result.true_delta.value == pytest.approx(true, rel=1e-9)


def delta_of_much_noise(size, epsilon, scale):
    """delta, in 40 digits, for noise far larger than the sensitivity 1.

    Near the answer the density is c |x|^(1 - M) / A, where A is the area of the sphere and
    c = 2 / (scale sqrt(pi)). The set P(x) > e^epsilon Q(x) is the ball |x - s| > kappa |x| with
    kappa = e^(epsilon / (M - 1)). In a direction of cosine u, its mass is c times the length of a
    ray inside it; the ray starts at the answer for P, and at the neighbour for Q.
    """
    with mpmath.workdps(40):
        kappa = mpmath.exp(mpmath.mpf(epsilon) / (size - 1))
        width = kappa**2 - 1
        centre, radius = 1 / width, kappa / width
        half = mpmath.mpf(size - 3) / 2

        def mean(length, low):
            """The mean over directions of cosine u, whose density is (1 - u^2)^half."""
            found = mpmath.quad(
                lambda u: length(u) * (1 - u**2) ** half, mpmath.linspace(low, 1, 9)
            )
            return found / mpmath.beta(mpmath.mpf(size - 1) / 2, mpmath.mpf(1) / 2)

        def from_inside(u):
            return mpmath.sqrt(radius**2 - centre**2 * (1 - u**2)) - centre * u

        far = centre + 1

        def from_outside(u):
            return 2 * mpmath.sqrt(max(radius**2 - far**2 * (1 - u**2), 0))

        seen = mpmath.sqrt(1 - (radius / far) ** 2)
        gain = mean(from_inside, -1) - mpmath.exp(epsilon) * mean(from_outside, seen)
        return float(2 / (scale * mpmath.sqrt(mpmath.pi)) * gain)


@pytest.mark.parametrize(
    ("size", "epsilon", "delta", "calibration"),
    [
        (7, 1.0, 1e-80, "published"),
        (7, 1e-6, 1e-100, "published"),
        (4, 1e-6, 1e-30, "exact"),
        (64, 1e-6, 1e-30, "exact"),
    ],
)
def test_very_much_noise_by_another_method(size, epsilon, delta, calibration):
    mechanism = calibrated(size, epsilon, delta, calibration=calibration)
    found = mechanism.profile().delta(epsilon)
    true = delta_of_much_noise(size, epsilon, mechanism.noise.scale)
    assert found.lower <= true <= found.upper
    if calibration == "exact":
        assert true == pytest.approx(delta, rel=1e-6)
    else:
        assert verify(mechanism).verdict == "refuted"


@pytest.mark.parametrize("size", [4, 10**6])
@pytest.mark.parametrize("epsilon", [1e-6, 30.0])
@pytest.mark.parametrize("delta", [1e-30, 0.5])
def test_k_from_delta_and_back(size, epsilon, delta):
    log_k = log_k_for(size, epsilon, delta)
    assert log_stated_delta(size, epsilon, log_k) == pytest.approx(math.log(delta), abs=1e-9)


def test_k_and_the_delta_that_it_states_give_one_mechanism():
    by_k = calibrated(784, 0.1, k=1000)
    by_delta = calibrated(784, 0.1, by_k.budget.delta)
    assert by_delta.parameters()["sigma_m"] == pytest.approx(by_k.parameters()["sigma_m"])
    assert calibrated(784, 0.1, by_k.budget.delta, k=1000).budget == by_k.budget
    # The length is that of one normal number of this scale.
    assert by_k.expected_loss() == pytest.approx(by_k.parameters()["sigma_m"] ** 2)
