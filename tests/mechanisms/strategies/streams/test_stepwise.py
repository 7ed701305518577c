"""Noise made step by step is that of the whole stream, from the vectors that it says it keeps."""

import numpy as np
import pytest

from mechanisms.noise.stream_gaussian import StreamGaussian
from mechanisms.strategies.streams.designs import FAMILIES, Design, factorisation
from mechanisms.strategies.streams.participation import Participation
from mechanisms.strategies.streams.stepwise import moving_average, recursion
from mechanisms.strategies.streams.stream_workload import StreamWorkload

STEPS, SIZE = 24, 3
TWICE = Participation(times=2, separation=12)


def design(family, momentum=0.0, bands=None):
    return Design(
        family=family,
        workload=StreamWorkload(steps=STEPS, momentum=momentum),
        participation=TWICE,
        bands=bands,
        buffers=3,
    )


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("family", FAMILIES)
def test_steps_are_the_columns_of_the_whole(family, momentum):
    found = factorisation(design(family, momentum, bands=5))
    draws = np.random.default_rng(1).standard_normal((SIZE, STEPS))
    steps = list(found.stepwise(iter(draws.T)))
    assert pytest.approx(found.correlated(draws), abs=1e-11) == np.array(steps).T
    assert steps[0].dtype == draws.dtype


@pytest.mark.parametrize(
    ("family", "bands", "memory"),
    [
        ("identity", None, 0),
        ("bisr", 5, 4),
        ("bandmf", 5, 4),
        ("blt", None, 3),
        ("banded", 5, 4),
        ("dense", None, 23),
    ],
)
def test_the_memory_is_that_of_the_form(family, bands, memory):
    assert factorisation(design(family, bands=bands)).memory == memory


def test_each_step_needs_its_own_draw_alone():
    """No step waits for a later draw, and none comes after the last step."""
    for family in FAMILIES:
        asked = 0

        def draws():
            nonlocal asked
            while True:
                asked += 1
                yield np.ones(SIZE, np.float32)

        steps = factorisation(design(family, bands=5)).stepwise(draws())
        for step in range(1, STEPS + 1):
            assert next(steps).dtype == np.float32
            assert asked == step
        assert list(steps) == []


def test_series_longer_than_the_stream_and_of_one_term():
    draws = [np.array([1.0]), np.array([2.0]), np.array([3.0])]
    assert list(moving_average(draws, np.array([2.0]))) == [2.0, 4.0, 6.0]
    assert list(recursion(draws, np.array([2.0]))) == [0.5, 1.0, 1.5]
    assert list(moving_average(draws, np.array([1.0, 1.0, 0.0, 5.0, 7.0]))) == [1.0, 3.0, 5.0]


@pytest.mark.parametrize("family", ["bisr", "bandmf", "blt", "banded", "dense"])
def test_the_noise_of_a_training_has_the_stated_covariance(family):
    noise = StreamGaussian(
        shape=(1, STEPS),
        sigma=1.7,
        factorisation=factorisation(design(family, bands=5)),
        participation=TWICE,
    )
    size = 40_000
    drawn = np.array(list(noise.stepwise(np.random.default_rng(4), size)), dtype=float)
    stated = noise.sigma**2 * noise.factorisation.covariance()
    deviation = np.sqrt(np.outer(np.diag(stated), np.diag(stated)) + stated**2) / np.sqrt(size)
    # 300 different entries.
    assert np.abs((drawn @ drawn.T / size - stated) / deviation).max() < 5
