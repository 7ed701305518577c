"""Speed limits, relative to the least work that computes the same numbers in plain numpy.

`make bench` runs this file; a plain `pytest` does not collect it. Times are CPU seconds of this
process, the least of several repetitions. Tasks that are compared run alternately, so that a slow
machine affects both. Limits in milliseconds are for one core of a current machine.
"""

import itertools
import math
import time

import numpy as np
import pytest

from mechanisms import (
    Budget,
    Query,
    get_mechanism,
)
from mechanisms.audit.audit import audit_release
from mechanisms.privacy.gaussian_profile import mu_for

REPETITIONS = 9


def least_seconds(*tasks):
    """CPU seconds of each task. The tasks run alternately; the first round only warms up."""
    least = [math.inf] * len(tasks)
    for repetition in range(REPETITIONS + 1):
        for i, task in enumerate(tasks):
            clock = time.process_time()
            task()
            if repetition:
                least[i] = min(least[i], time.process_time() - clock)
    return least


def milliseconds(**seconds):
    """Format the parts of a measurement."""
    return ", ".join(f"{name} {1e3 * value:.4g} ms" for name, value in seconds.items())


def show_and_check(name, measured, limit, unit, details=""):
    """Print one line of the table of `make bench`, then check the limit."""
    verdict = "ok" if measured <= limit else "MISSED"
    print(f"\n{name:<46} {measured:7.3f} {unit:<2} limit {limit:g} {verdict:<6} {details}", end="")
    assert measured <= limit, f"{name}: {measured:.3f} {unit}, the limit is {limit:g} {unit}"


def calibrated(key, query, budget, **options):
    """Calibrate a mechanism, possibly outside the range of its theorem."""
    return get_mechanism(key).calibrate(query, budget, **options)


@pytest.mark.parametrize(
    "key", ["gaussian", "gaussian-analytic", "gaussian-per-element", "idn", "imgm", "r1smg"]
)
def test_a_thousand_draws_against_raw_normals(key):
    """1000 draws at 89 x 89 against rng.standard_normal((1000, 89, 89)), both float64."""
    query = Query(
        shape=(89, 89),
        l2_sensitivity=math.sqrt(2),
        element_range=(0.0, math.sqrt(2) / 89),
        adjacency="replace",
    )
    mechanism = calibrated(key, query, Budget(epsilon=0.5, delta=1e-7))
    rng = np.random.default_rng(0)
    normals, draws = least_seconds(
        lambda: rng.standard_normal((1000, 89, 89)), lambda: mechanism.sample(rng, 1000)
    )
    details = milliseconds(draws=draws, normals=normals)
    show_and_check(f"1000 draws at 89 x 89: {key}", draws / normals, 1.3, "x", details)


@pytest.mark.parametrize("mode", ["unimodal", "equimodal"])
def test_directional_draws_against_two_matrix_products(mode):
    """16 draws of mvg at 512 x 512 against the two products U1 N U2^T of a full MVG draw.

    A draw also needs m x n normal numbers, which cost about 0.6 of a product. Equi-modal noise
    computes both products. Unimodal noise has U2 = I and computes one; its limit is the separate
    cost of the normal numbers and one product.
    """
    trials, size = 16, 512
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((size, size)))[0]
    query = Query(shape=(size, size), l2_sensitivity=1.0, frobenius_bound=1.0)
    options = {"mode": mode, "directions": directions}
    mechanism = calibrated("mvg", query, Budget(epsilon=0.5, delta=1e-7), **options)
    factor, inputs = 2 * directions, rng.standard_normal((trials, size, size))
    normals, product, products, draws = least_seconds(
        lambda: rng.standard_normal((trials, size, size)),
        lambda: factor @ inputs,
        lambda: (factor @ inputs) @ factor.T,
        lambda: mechanism.sample(rng, trials),
    )
    parts = {"draws": draws, "normals": normals, "one product": product, "two products": products}
    details = milliseconds(**{name: seconds / trials for name, seconds in parts.items()})
    name = f"draw at 512 x 512: mvg, {mode}"
    show_and_check(f"{name}, two products", draws / products, 1.5, "x", details)
    if mode == "unimodal":
        least = normals + product
        show_and_check(f"{name}, normals and product", draws / least, 1.2, "x")


def test_a_thousand_analytic_calibrations():
    """One call of mu_for with 1000 (epsilon, delta) pairs, from easy to extreme."""
    epsilon = np.tile(np.geomspace(1e-3, 100, 40), 25)
    delta = np.repeat(np.geomspace(1e-15, 0.1, 25), 40)
    (seconds,) = least_seconds(lambda: mu_for(epsilon, delta))
    show_and_check("1000 analytic calibrations", 1e3 * seconds, 50, "ms")


@pytest.mark.parametrize("claimed", [1e-5, 1.0, 30.0])
@pytest.mark.parametrize("size", [3, 12, 64, 784, 7921, 26_010, 10**6])
def test_true_delta_of_r1smg(size, claimed):
    """delta(epsilon) of R1SMG from scratch, at an epsilon that is not cached."""
    query = Query(shape=(size,), l2_sensitivity=1.0)
    profile = calibrated("r1smg", query, Budget(epsilon=claimed, delta=1e-7)).noise.profile(query)
    # Results are cached: the same epsilon again would cost nothing.
    new = itertools.count()
    tasks = [lambda e=e: profile.delta(e * (1 + 1e-9 * next(new))) for e in (1e-5, 1.0, 10.0, 30.0)]
    seconds = max(least_seconds(*tasks))
    name = f"true delta of r1smg at M = {size:g}, epsilon {claimed:g}"
    show_and_check(name, 1e3 * seconds, 2, "ms")


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 100, 2126, 10**5])
def test_true_delta_of_jl(rows, adjacency):
    """delta(epsilon) of the Johnson-Lindenstrauss transform from scratch, near its own budget."""
    query = Query(
        shape=(21, 21),
        l2_sensitivity=1.0,
        adjacency=adjacency,
        structure="gram",
        record_bound=1.0,
    )
    budget = Budget(epsilon=1.0, delta=1e-7)
    mechanism = calibrated("jl", query, budget, calibration="exact", rows=rows)
    tasks = [lambda e=e: mechanism.profile().delta(e) for e in (0.0, 1.0, 10.0)]
    seconds = max(least_seconds(*tasks))
    show_and_check(f"true delta of jl, {adjacency}, r = {rows}", 1e3 * seconds, 20, "ms")


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 1e4])
def test_release_of_the_exponential_mechanism(epsilon):
    """One release at 21 x 2126, nearly uniform as in mvg2018, or close to the value."""
    query = Query(shape=(21, 2126), l2_sensitivity=2 * math.sqrt(21), element_range=(-1.0, 1.0))
    mechanism = calibrated("exponential", query, Budget(epsilon=epsilon))
    value = np.random.default_rng(0).uniform(-1, 1, query.shape)
    (seconds,) = least_seconds(lambda: mechanism.release(value, np.random.default_rng(1)))
    show_and_check(f"exponential at 21 x 2126, epsilon {epsilon:g}", seconds, 1, "s")


def gaussian_release(value, rng):
    return value + 4 * rng.standard_normal(value.shape)


def gaussian_batch(value, rng, count):
    return value + 4 * rng.standard_normal((count, *value.shape))


def cpu_seconds(task):
    clock = time.process_time()
    task()
    return time.process_time() - clock


def test_an_audit_of_long_outputs():
    """12,000 outputs of 89 x 89 elements for each of two values, against only drawing them."""
    values, samples = np.stack([np.zeros((89, 89)), np.full((89, 89), 1 / 89)]), 12_000

    def drawing():
        rng = np.random.default_rng(0)
        for _ in range(2 * samples):
            gaussian_release(values[1], rng)

    def audit():
        audit_release(gaussian_release, *values, 1.0, 1e-5, samples=samples)

    alone, audited = cpu_seconds(drawing), cpu_seconds(audit)
    details = milliseconds(drawing=alone, audit=audited)
    show_and_check("audit at 89 x 89 against its drawing", audited / alone, 6, "x", details)


def test_batches_of_short_outputs():
    """200,000 outputs of one element for each of two values, drawn singly and in batches."""
    values, samples = np.array([[0.0], [1.0]]), 200_000
    one = cpu_seconds(lambda: audit_release(gaussian_release, *values, 1.0, 0.01, samples=samples))
    many = cpu_seconds(
        lambda: audit_release(gaussian_batch, *values, 1.0, 0.01, samples=samples, batch=True)
    )
    details = milliseconds(**{"one at a time": one, "in batches": many})
    show_and_check("audit of batches at 1 element", many / one, 0.7, "x", details)
