"""Random numbers of the operating system, in numpy's generators and in releases."""

import copy
import os
import pickle

import numpy as np
import pytest
from scipy import stats

from mechanisms import Budget, Query, get_mechanism
from mechanisms.base import secure_bits
from mechanisms.base.guard import generator
from mechanisms.base.secure_bits import SecureBits, secure_generator

BUDGET = Budget(epsilon=1.0, delta=1e-5)


@pytest.fixture
def known_words(monkeypatch):
    """The operating system gives these words, the last one first."""
    words = np.array([1 << 63, 3 << 62, 1 << 61, (7 << 32) + 5], np.uint64)
    monkeypatch.setattr(secure_bits.os, "urandom", lambda count: words.tobytes())
    return words


def test_numbers_are_made_of_the_words_of_the_operating_system(known_words):
    rng = secure_generator()
    assert rng.integers(1 << 32, dtype=np.uint32) == 7
    assert list(rng.random(3)) == [0.125, 0.75, 0.5]


def test_numbers_have_their_distributions():
    rng = secure_generator()
    draws = {
        "norm": rng.standard_normal(20_000),
        "uniform": rng.random(20_000),
        "laplace": rng.laplace(size=20_000),
        "expon": rng.standard_exponential(20_000),
    }
    for name, drawn in draws.items():
        assert stats.kstest(drawn, name).pvalue > 1e-9
    dice = np.bincount(rng.integers(6, size=20_000), minlength=6)
    assert stats.chisquare(dice).pvalue > 1e-9
    assert 0 <= rng.random(1000, dtype=np.float32).min() < 0.1


@pytest.mark.parametrize(
    ("key", "query"),
    [
        ("gaussian-analytic", Query(shape=(3, 4), l2_sensitivity=1.0)),
        ("spherical-gamma", Query(shape=(3, 4), l2_sensitivity=1.0)),
        (
            "discrete-gaussian",
            Query(shape=(5,), l2_sensitivity=1.0, linf_sensitivity=1.0, structure="counts"),
        ),
    ],
)
def test_releases_with_secure_numbers(key, query):
    mechanism = get_mechanism(key).calibrate(query, BUDGET)
    value = np.zeros(query.shape)
    first, second = (mechanism.release(value, "secure") for _ in range(2))
    assert not np.array_equal(first, second)
    many = mechanism.releases(value, "secure", 400)
    squares = np.sum(many.reshape(400, -1) ** 2, axis=1)
    moments = mechanism.loss()
    assert abs(squares.mean() - moments.mean) < 8 * (moments.variance / 400) ** 0.5


def test_what_is_no_source_of_numbers_is_named():
    with pytest.raises(TypeError, match="a seed >= 0, 'secure' or None, got 'safe'"):
        generator("safe")


def test_a_secure_generator_has_nothing_to_copy():
    for copied in (copy.deepcopy, copy.copy, pickle.dumps):
        for source in (SecureBits(), secure_generator()):
            with pytest.raises(TypeError, match="no state to copy or pickle"):
                copied(source)
    with pytest.raises(TypeError, match="independent without being spawned"):
        secure_generator().spawn(2)


def test_a_fork_draws_other_numbers():
    rng = secure_generator()
    rng.random()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, rng.bytes(16))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 16) != rng.bytes(16)
