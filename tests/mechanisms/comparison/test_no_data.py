"""The distance to no data against closed forms and sums over a grid."""

import math

import numpy as np
import pytest
import scipy

from mechanisms import Budget, Query, Unsupported, distance_to_no_data, get_mechanism
from mechanisms.catalogue.mvg import precision_bound
from mechanisms.comparison.no_data import changes_from_centre, distance_at_precision

BUDGET = Budget(epsilon=0.9, delta=1e-5)


def box(shape, low, high, **fields):
    size = math.prod(shape)
    width = high - low
    return Query(
        shape=shape,
        l2_sensitivity=width,
        l1_sensitivity=width,
        linf_sensitivity=width,
        element_range=(low, high),
        adjacency="replace",
        **({"frobenius_bound": max(-low, high) * size**0.5} | fields),
    )


@pytest.mark.parametrize(("shape", "low", "high"), [((3,), -1, 1), ((4, 5), 0, 1), ((2,), 3, 7)])
def test_gaussian_noise_has_the_distance_of_two_normal_laws(shape, low, high):
    mechanism = get_mechanism("gaussian").calibrate(box(shape, low, high), BUDGET)
    sigma = mechanism.parameters()["sigma"]
    distance = (high - low) / 2 * math.sqrt(math.prod(shape))
    expected = 2 * scipy.special.ndtr(distance / (2 * sigma)) - 1
    assert distance_to_no_data(mechanism) == pytest.approx(expected, rel=1e-9)
    assert distance_to_no_data(mechanism) >= expected * (1 - 1e-12)


def test_laplace_noise_on_one_number_has_the_distance_of_two_laplace_laws():
    mechanism = get_mechanism("laplace").calibrate(box((1,), 0, 1), Budget(epsilon=0.7))
    [scale] = mechanism.parameters().values()
    expected = -math.expm1(-0.5 / (2 * scale))
    assert distance_to_no_data(mechanism) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("zeta", ["published", "sqrt"])
def test_all_noise_of_mvgs_condition_is_at_most_as_far_as_the_bound(zeta):
    query = box((3, 8), -1, 1)
    bound = precision_bound(query, BUDGET, zeta)
    # With Psi = I, Sigma^-1 alone has norm bound / sqrt(n).
    most = distance_at_precision(query.frobenius_bound, bound / math.sqrt(8))
    rng = np.random.default_rng(1)
    found = []
    shares = [*rng.dirichlet(np.full(3, 0.2), 20), np.array([1 - 2e-6, 1e-6, 1e-6])]
    for precision in shares:
        options = {"zeta": zeta, "precision": precision, "directions": np.eye(3)}
        noise = get_mechanism("mvg").calibrate(query, BUDGET, **options).noise
        # All corners of the box have the same distance from zero, the sum of x^2 / std^2.
        far = math.sqrt(8 * np.sum(noise.row_std**-2.0))
        found.append(2 * scipy.special.ndtr(far / 2) - 1)
    assert max(found) <= most * (1 + 1e-9)
    # One direction with all the precision, and a value along it, attain the norm.
    along = distance_at_precision(math.sqrt(8), bound / math.sqrt(8))
    assert max(found) >= along * (1 - 1e-5)


def test_the_centre_is_the_middle_of_the_range():
    changes = changes_from_centre(box((4,), 2, 6))
    assert changes.l2_sensitivity == 4.0
    assert changes.linf_sensitivity == 2.0
    symmetric = changes_from_centre(box((4,), -1, 1, frobenius_bound=1.5))
    assert symmetric.l2_sensitivity == 1.5


def test_unbounded_distances_give_the_reason():
    gram = {"frobenius_bound": 2.0, "structure": "gram", "record_bound": 1.0}
    for key, fields, words in (
        ("gaussian", {}, "element_range or frobenius_bound"),
        ("gaussian", {"element_range": (-9e11, 9e11)}, "l2_sensitivity must be a number from"),
        ("wishart", gram, "whose profile is known"),
        ("ppca", gram, "only adds noise"),
    ):
        query = Query(shape=(2, 2), l2_sensitivity=1.0, **fields)
        with pytest.raises(Unsupported, match=words):
            distance_to_no_data(get_mechanism(key).calibrate(query, BUDGET))
