"""The contract of every release of every mechanism, which `guard` enforces."""

import copy
import os
import pickle
import threading
import time
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from mechanisms import Budget, Mechanism, Query, Unsupported, all_mechanisms, get_mechanism
from mechanisms.base import mechanism as mechanism_module
from mechanisms.base.guard import ReleaseError

BUDGET = Budget(epsilon=0.5, delta=1e-6)
SERVED = {
    "plain": Query(
        shape=(3, 3),
        l2_sensitivity=1.0,
        l1_sensitivity=3.0,
        element_range=(-1.0, 1.0),
        frobenius_bound=2.0,
    ),
    "gram": Query(
        shape=(3, 3),
        l2_sensitivity=1.0,
        l1_sensitivity=3.0,
        frobenius_bound=2.0,
        structure="gram",
        record_bound=1.0,
    ),
    "records": Query(
        shape=(3, 3),
        l2_sensitivity=1.0,
        l1_sensitivity=1.7,
        structure="records",
        record_bound=1.0,
    ),
    "local": Query(shape=(3, 3), l2_sensitivity=1.0, element_range=(0.0, 1.0), adjacency="local"),
    "tensor": Query(shape=(3, 3, 3), l2_sensitivity=1.0, element_range=(-1.0, 1.0)),
}
VALUE = np.diag([0.25, 0.5, 0.75])
VALUES = {"tensor": np.stack([VALUE] * 3)}
# Options with which a mechanism changes the value before it adds noise.
CHANGING = {"dphsgd": {"thresholds": np.full((3, 3), 0.25)}}
# Values that a query of each kind does not allow, and part of the error message.
OF_ANOTHER_KIND = [
    ([[1, 2]], "real numbers, got list; numpy.asarray makes one"),
    (np.ones((3, 3), bool), "bool"),
    (np.ones((3, 3), complex), "complex"),
    (np.ones((3, 3), np.float16), "float16"),
    (np.array([["a"]]), "<U1"),
    (np.ma.masked_array(np.zeros((3, 3)), mask=True), "must not be a masked array"),
]
REFUSED = {
    "plain": [
        (np.diag([0.5, 0.5, 1.1]), r"1.1 at index \(2, 2\), outside of element_range \[-1, 1\]"),
        (np.full((3, 3), 0.9), "norm 2.7, above frobenius_bound = 2"),
        (np.full((3, 3), np.nan), r"finite, got nan at index \(0, 0\)"),
        (np.ones(9), r"shape \(3, 3\), got \(9,\)"),
        (np.full((3, 3), np.inf), r"finite, got inf at index \(0, 0\)"),
    ],
    "gram": [(np.array([[1.0, 0.5, 0], [0, 1.0, 0], [0, 0, 0]]), "symmetric, got two entries")],
    "records": [(np.diag([0.5, 1.5, 0]), "norm at most record_bound = 1, got 1.5")],
    "local": [(-VALUE, "outside of element_range")],
    "tensor": [(np.full((3, 3, 3), 1.5), "outside of element_range")],
}


def calibrated(key, query, **options):
    """Calibrate as published, or exactly if that fails; None if neither is supported."""
    for calibration in ("published", "exact"):
        try:
            return get_mechanism(key).calibrate(query, BUDGET, calibration, **options)
        except Unsupported:
            continue
    return None


def first_supported(key, **options):
    """A mechanism for the first query that it supports, and a value of that query."""
    found = ((name, calibrated(key, query, **options)) for name, query in SERVED.items())
    name, mechanism = next(each for each in found if each[1] is not None)
    return mechanism, VALUES.get(name, VALUE)


@pytest.mark.parametrize("key", all_mechanisms())
def test_every_mechanism_refuses_what_its_query_does_not_allow(key):
    served = {name: calibrated(key, query) for name, query in SERVED.items()}
    assert any(served.values())
    for name, mechanism in served.items():
        if mechanism is None:
            continue
        for value, words in REFUSED[name] + OF_ANOTHER_KIND:
            for release in (mechanism.release, mechanism.release_with_diagnostics):
                with pytest.raises((TypeError, ValueError), match=words):
                    release(value, 1)


@pytest.mark.parametrize("key", all_mechanisms())
def test_releases_keep_shape_precision_value_and_seed(key):
    mechanism, example = first_supported(key)
    for dtype in (np.float32, np.float64):
        value = example.astype(dtype)
        before = value.copy()
        answer = mechanism.release(value, 3)
        assert (answer.shape, answer.dtype) == (value.shape, dtype)
        assert np.array_equal(value, before)
        assert value.flags.writeable
        assert not np.shares_memory(answer, value)
        assert answer.tobytes() == mechanism.release(value, 3).tobytes()
        several = mechanism.releases(value, 3, 2)
        assert (several.shape, several.dtype) == ((2, *value.shape), dtype)
        for given in (answer, several, mechanism.release_with_diagnostics(value, 3)[0]):
            assert type(given) is np.ndarray and given.base is None
            assert given.flags.owndata and given.flags.c_contiguous


@pytest.mark.parametrize("key", all_mechanisms())
def test_whether_only_noise_is_added_is_declared(key):
    """One seed gives the same error at every value if and only if noise is only added."""
    mechanism, value = first_supported(key, **CHANGING.get(key, {}))
    values = value, np.zeros_like(value)
    released = np.array([[mechanism.release(v, seed) for v in values] for seed in range(16)])
    errors = released - np.array(values)
    differ = np.abs(errors[:, 0] - errors[:, 1]).max() > 1e-12 * np.abs(released).max()
    assert differ == (not mechanism.only_adds_noise)


def test_a_release_of_its_own_needs_a_declaration():
    with pytest.raises(TypeError, match="Silent overrides _release or prepared"):
        type("Silent", (get_mechanism("gaussian"),), {"_release": lambda self, value, rng: value})


@pytest.mark.parametrize(
    "name", ["release", "releases", "release_all", "release_with_diagnostics", "timed_release"]
)
def test_the_methods_that_check_are_not_overridden(name):
    instead = "_release" if name == "timed_release" else f"_{name}"
    with pytest.raises(TypeError, match=f"Unchecked overrides {name}, .* define {instead} instead"):
        type("Unchecked", (get_mechanism("gaussian"),), {name: lambda self, *given: given[0]})


@pytest.mark.parametrize("key", all_mechanisms())
def test_calibrated_mechanisms_can_be_copied_and_pickled(key):
    mechanism, value = first_supported(key)
    released = mechanism.release(value, 3)
    for twin in (
        pickle.loads(pickle.dumps(mechanism)),
        copy.copy(mechanism),
        copy.deepcopy(mechanism),
    ):
        assert np.array_equal(twin.release(value, 3), released)
        assert (twin.query, twin.budget, twin.calibration) == (
            mechanism.query,
            mechanism.budget,
            mechanism.calibration,
        )
        assert twin.settings.keys() == mechanism.settings.keys()
        with pytest.raises(TypeError, match="does not support item assignment"):
            twin.settings["another"] = 1


def test_a_generator_is_all_that_numpy_takes():
    mechanism = calibrated("gaussian", SERVED["plain"])
    value = np.zeros((3, 3))
    expected = mechanism.release(value, np.random.default_rng(42))
    for rng in (42, np.int64(42), np.random.SeedSequence(42), np.random.PCG64(42)):
        assert np.array_equal(mechanism.release(value, rng), expected)
    assert np.array_equal(mechanism.sample(42, 1)[0], expected)
    assert not np.array_equal(mechanism.release(value, None), mechanism.release(value, None))
    old = np.random.RandomState(42)
    assert not np.array_equal(mechanism.release(value, old), mechanism.release(value, old))
    for wrong, error in (("42", TypeError), (-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match=r"rng must be a numpy\.random\.Generator, a seed"):
            mechanism.release(value, wrong)


class Custom(Mechanism):
    """Releases whatever `answer` is."""

    key, title, paper, theorem, guarantee = "custom", "Custom", "test", "none", "none"
    answer = None

    def _release(self, value, rng):
        return self.answer(value, rng)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda self, value, rng: value.tolist(), "must be an array of shape .*, got list"),
        (lambda self, value, rng: value[:2], r"shape \(3, 3\), got \(2, 3\)"),
        (lambda self, value, rng: value.astype(np.float32), "precision of the value, float64"),
        (lambda self, value, rng: value * np.inf + 1, "must be finite"),
        (lambda self, value, rng: value.sort(), "writes into the value"),
        (lambda self, value, rng: np.ma.masked_array(value, mask=True), "a plain array .* Masked"),
        (lambda self, value, rng: value.view(np.matrix), "must be a plain array .*, got matrix"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_answer_of_the_wrong_kind_is_an_error_of_the_mechanism(answer, words):
    mechanism = type("Broken", (Custom,), {"answer": answer}).calibrate(SERVED["plain"], BUDGET)
    with pytest.raises(ReleaseError, match=words):
        mechanism.release(np.zeros((3, 3)), 1)
    with pytest.raises(ReleaseError, match=words):
        mechanism.releases(np.zeros((3, 3)), 1, 2)


@pytest.mark.parametrize(
    "answer",
    [
        lambda self, value, rng: value,
        lambda self, value, rng: value[::-1],
        lambda self, value, rng: value.copy(order="F"),
        lambda self, value, rng: value.view(),
        lambda self, value, rng: value.astype(np.dtype(float, metadata={"value": value.tolist()})),
    ],
)
def test_an_answer_carries_its_numbers_and_nothing_else(answer):
    """It carries no value as its base or in its dtype, and no hint in its memory order."""
    mechanism = type("Carrier", (Custom,), {"answer": answer}).calibrate(SERVED["plain"], BUDGET)
    released = mechanism.release(VALUE, 1)
    assert released.base is None and released.flags.owndata and released.flags.c_contiguous
    assert released.dtype.metadata is None
    assert released.flags.writeable and not np.shares_memory(released, VALUE)


@pytest.mark.parametrize(("released", "given"), [([1.0], "list"), ((1.0,), "tuple")])
def test_a_release_with_diagnostics_is_a_pair(released, given):
    described = {"_release_with_diagnostics": lambda self, value, rng: released}
    mechanism = type("Alone", (Custom,), described).calibrate(SERVED["plain"], BUDGET)
    with pytest.raises(ReleaseError, match=f"must return an array and a dictionary, got {given}"):
        mechanism.release_with_diagnostics(VALUE, 1)


def test_the_seconds_of_a_release_leave_the_checks_out(monkeypatch):
    class Slow(get_mechanism("gaussian")):
        only_adds_noise = True

        def _release(self, value, rng):
            time.sleep(0.02)
            return super()._release(value, rng)

    def slowly_checked(value, query, check=mechanism_module.checked_value):
        time.sleep(0.5)
        return check(value, query)

    mechanism = Slow.calibrate(SERVED["plain"], BUDGET)
    monkeypatch.setattr(mechanism_module, "checked_value", slowly_checked)
    answer, _, seconds = mechanism.timed_release(np.zeros((3, 3)), 0)
    assert 0.02 <= seconds < 0.5
    assert np.array_equal(answer, mechanism.release(np.zeros((3, 3)), 0))


def test_noise_of_another_shape_is_an_error_and_not_broadcast():
    class Narrow(get_mechanism("gaussian")):
        @classmethod
        def noise_for(cls, query, budget):
            return super().noise_for(Query(shape=(1, 3), l2_sensitivity=1.0), budget)

    mechanism = Narrow.calibrate(SERVED["plain"], BUDGET)
    with pytest.raises(ReleaseError, match=r"1 draws of noise must have shape \(1, 3, 3\)"):
        mechanism.release(np.zeros((3, 3)), 1)


def run_in_fork(work):
    """Run a function in a forked process and return its result as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            said = str(work())
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        return pipe.read().decode()


def test_a_generator_used_before_a_fork_is_refused_inside_it():
    mechanism = get_mechanism("laplace").calibrate(SERVED["plain"], BUDGET)
    shared, fresh = (np.random.default_rng(0) for _ in range(2))
    mechanism.release(VALUE, shared)
    told = run_in_fork(lambda: mechanism.release(VALUE, shared))
    assert told.startswith(f"RuntimeError: this generator released in process {os.getpid()}, of ")
    assert "SeedSequence(seed).spawn(n)" in told
    # This generator may release: only one process knows its state.
    assert run_in_fork(lambda: mechanism.release(VALUE, fresh).shape) == "(3, 3)"
    mechanism.release(VALUE, shared)


def test_threads_that_share_a_generator_draw_different_numbers():
    mechanism = get_mechanism("laplace").calibrate(SERVED["plain"], BUDGET)
    rng, found = np.random.default_rng(0), []

    def release():
        found.extend(mechanism.release(VALUE, rng).tobytes() for _ in range(300))

    threads = [threading.Thread(target=release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == len(found) == 1200


def test_a_calibrated_mechanism_is_one_of_its_kind_and_never_changes():
    one, other = (get_mechanism("gaussian").calibrate(SERVED["plain"], BUDGET) for _ in range(2))
    assert one != other and len({one, other}) == 2
    with pytest.raises(FrozenInstanceError):
        one.budget = Budget(epsilon=0.1)
