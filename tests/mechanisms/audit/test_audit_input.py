"""The output of the command `audit`, and its one-line errors on bad input."""

import json

import numpy as np
import pytest

from mechanisms.__main__ import main
from mechanisms.audit import outputs
from mechanisms.audit.audit import audit_release
from mechanisms.audit.outputs import from_file, load_pair

CODE = """
import sys

import numpy as np


def raises(value, rng):
    return {}["on purpose"]


def raising_score(outputs):
    raise AssertionError("two\\nlines")


def in_place(value, rng):
    value += rng.laplace(size=value.shape)
    return value


# epsilon = 2 for neighbours at l1 distance 1.
laplace = lambda value, rng: value + rng.laplace(scale=0.5, size=value.shape)
batches = lambda value, rng, count: value + rng.laplace(scale=0.5, size=(count, *value.shape))
number = lambda value, rng: float(value.sum() + rng.laplace())
first_element = lambda outputs: -outputs[:, 0]
wide = lambda value, rng, scale: value
infinite = lambda value, rng: value / 0.0 * rng.random()
changing = lambda value, rng: np.zeros(1 + rng.integers(2))
leaves = lambda value, rng: sys.exit(3)
ragged = lambda value, rng: [1.0, [2.0, 3.0]]
nothing = lambda value, rng: value[:0]
large = lambda value, rng: value + 1e200
constant = 3.0
"""


@pytest.fixture(autouse=True)
def _module(tmp_path, monkeypatch):
    """Write the module above and a file with a pair at l1 distance 1."""
    (tmp_path / "audited_module.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    np.savez("pair.npz", first=np.zeros(3), second=np.eye(3)[0])


def audit(*words):
    return main(["audit", *words, "--epsilon", "1"])


def function_arguments(name, *words):
    return audit(f"audited_module:{name}", "--pair", "pair.npz", "--samples", "3000", *words)


def only_line(capsys):
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    "words",
    [
        ["laplace"],
        ["batches", "--batch"],
        ["laplace", "--score", "mean"],
        ["laplace", "--score", "distance"],
        ["laplace", "--score", "audited_module:first_element"],
    ],
)
def test_a_false_claim_is_refuted(capsys, words):
    assert function_arguments(*words) == 0
    shown = capsys.readouterr().out
    assert "refuted: (1, 0)-differential privacy is false" in shown
    assert "99.9% confidence" in shown and "counted      1,000 outputs for each value" in shown
    assert function_arguments(*words, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "refuted" and found["samples"] == 3000
    assert 0.1 < found["delta_lower"] < 1 - np.exp(-0.5) and 1 < found["epsilon_lower"] < 2


def test_a_true_claim_is_undecided(capsys):
    assert function_arguments("number") == 0
    shown = capsys.readouterr().out
    assert "undecided: these samples do not contradict (1, 0)" in shown and "holds" not in shown


def test_files_are_audited_up_to_the_end_of_the_shorter_one(capsys):
    rng = np.random.default_rng(7)
    values = np.load("pair.npz").values()
    for name, value, rows in zip(("a.npy", "b.npy"), values, (3000, 3100), strict=True):
        np.save(name, value + rng.laplace(scale=0.5, size=(rows, 3)))
    assert audit("--outputs", "a.npy", "b.npy") == 0
    shown = capsys.readouterr().out
    assert "refuted" in shown and shown.startswith("a.npy and b.npy, 3,000 outputs")
    for option, value, words in (
        ("--score", "distance", "files of outputs have none"),
        ("--samples", "4600", "holds 3000 outputs and b.npy 3100, and 4600 of each are needed"),
        ("--seed", "0", "--seed is not for --outputs: leave it out"),
        ("--adjacency", "local", "--adjacency is not for --outputs: leave it out"),
    ):
        assert audit("--outputs", "a.npy", "b.npy", option, value) == 2
        assert words in only_line(capsys)


@pytest.mark.parametrize(
    ("words", "wrong", "told"),
    [
        (["raises"], "raises", ("KeyError", "'on purpose'")),
        (["laplace", "--score", "audited_module:raising_score"], "raising_score",
         ("AssertionError", "two lines")),
    ],
)  # fmt: skip
def test_an_exception_in_audited_code_is_reported_with_its_line(capsys, words, wrong, told):
    assert function_arguments(*words) == 2
    number = CODE[: CODE.index(f"def {wrong}(")].count("\n") + 2
    line = only_line(capsys)
    assert line.startswith(f"error: {told[0]} (")
    assert line.endswith(f"audited_module.py, line {number}, in {wrong}): {told[1]}")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("missing", "audited_module defines no 'missing'"),
        ("constant", "must be a function, got float"),
        ("wide", "wide must take (value, rng), and it takes (value, rng, scale); give a function"),
        ("infinite", "the release must give finite numbers, at most"),
        ("large", "at most 1e+70 in absolute value, got 1e+200"),
        ("changing", "one shape"),
        ("in_place", "read-only"),
        ("leaves", "must return an output, but it called sys.exit(3)"),
        ("ragged", "arrays of numbers of one shape"),
        ("nothing", "at least one number, got shape (0,)"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_functions_are_named(capsys, function, words):
    assert function_arguments(function) == 2
    assert words in only_line(capsys)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["audited_module:laplace", "--delta", "1.5"], "0 <= delta < 1, got 1.5"),
        (["audited_module:laplace", "--delta", "-1e-301"], "0 <= delta < 1, got -1e-301"),
        (["audited_module:laplace", "--samples", "15"], "samples must be at least 16, got 15"),
        (["audited_module:laplace", "--score", "trees"], "one of mean, spread, bits, distance"),
        ([], "or --outputs, got none"),
        (["audited_module:laplace", "--outputs", "a", "b"], "or --outputs, got both"),
        (["--outputs", "a.npy", "b.npy"], "--pair is not for --outputs: leave it out"),
        (["m:f", "--l1-sensitivity", "0"], "--l1-sensitivity is for a mechanism, with --shape"),
        (["m:f", "--adjacency", "nonsense"], "--adjacency is for a mechanism, with --shape"),
        (["laplace", "--shape", "3"], "--pair is not for a mechanism with --shape"),
        (["nowhere"], "a function is named MODULE:FUNCTION"),
        (["nowhere:at_all"], "PYTHONPATH"),
        (["nowhere.py:at_all"], "name the module in place of the file: nowhere:at_all"),
    ],
)
def test_bad_options_are_named(capsys, words, told):
    assert audit("--pair", "pair.npz", *words) == 2
    assert told in only_line(capsys)


def test_integers_that_are_equal_in_double_precision_are_refused():
    """In double precision they would be equal, and answers without noise would pass."""

    def release(value, rng):
        return np.uint64(2**64 - 1) - value.astype(np.uint64)

    with pytest.raises(ValueError, match=r"integers of at most 2\^53 .* subtract a constant"):
        audit_release(release, np.zeros(1), np.ones(1), 1.0, 1e-5, samples=100)
    np.save("outputs.npy", np.array([[2**53 + 1]] * 5))
    with pytest.raises(ValueError, match=r"outputs.npy must hold integers of at most 2\^53"):
        from_file("outputs.npy")[0](np.random.default_rng(0), 5)


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (lambda rng, count: rng.laplace(size=(2, 3)), "must return 128 outputs, one per row"),
        (lambda rng, count: np.full((count, 3), np.nan), "must give finite numbers, .* got nan"),
        (
            lambda rng, count: np.repeat(rng.laplace(size=(count // 2, 3)), 2, axis=0),
            "rows of a batch must be independent: .* that of the release before",
        ),
        (
            lambda rng, count: np.concatenate([half := rng.laplace(size=(count // 2, 3)), -half]),
            "rows of a batch must be independent: .* half of them before",
        ),
        (
            lambda rng, count: np.random.default_rng(0).laplace(size=(count, 3)),
            "drawn with rng: two generators give the same 128 outputs",
        ),
    ],
)
def test_bad_batches_are_named(noise, words):
    with pytest.raises(ValueError, match=words):
        audit_release(
            lambda value, rng, count: value + noise(rng, count),
            np.zeros(3), np.eye(3)[0], 1.0, batch=True,
        )  # fmt: skip


def test_batches_with_few_distinct_rows_are_accepted():
    """A bit is rarely set, so that whole batches repeat by chance."""

    def rare(value, rng, count):
        return (rng.random((count, 1)) < 1e-4 * (1 + value)).astype(float)

    found = audit_release(rare, np.zeros(1), np.ones(1), 1.0, batch=True, samples=200)
    assert found.verdict == "undecided"


def test_more_numbers_than_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(outputs, "LARGEST_NUMBERS", 3 * 8 * 100)

    def release(value, rng, count):
        return value + rng.laplace(size=(count, 8))

    pair = np.zeros(8), np.eye(8)[0]
    with pytest.raises(ValueError, match="an output has 8: ask for at most 300 samples"):
        audit_release(release, *pair, 1.0, batch=True, samples=303)
    assert audit_release(release, *pair, 1.0, batch=True, samples=300).samples == 300


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"first": np.zeros(2)}, "must hold the arrays first and second, got"),
        ({"first": np.zeros(2), "second": np.zeros(3)}, "one shape, got"),
        ({"first": np.array(["a"]), "second": np.zeros(1)}, "one shape|finite numbers, got <U1"),
        ({"first": np.array([None]), "second": np.zeros(1)}, "numpy.savez"),
        ({"first": np.zeros(2), "second": np.full(2, np.nan)}, "second of pair.npz .* got nan"),
        ({"first": np.zeros(2), "second": np.zeros(2, int)}, "two different values, got first eq"),
    ],
)
def test_bad_pairs_are_named(arrays, words):
    np.savez("pair.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        load_pair("pair.npz")


def test_files_of_another_kind_are_named(tmp_path):
    for load, name, kind in ((load_pair, "x.npz", ".npz file"), (from_file, "x.npy", ".npy file")):
        with pytest.raises(ValueError, match=f"{name}: No such file or directory"):
            load(name)
        (tmp_path / name).write_bytes(b"PK\x03\x04 damaged")
        for path, words in (
            (name, f"must be a {kind}"),
            (tmp_path, "Is a directory"),
            # The system refuses to read it, as it does without permission.
            ("/proc/self/mem", "/proc/self/mem: Input/output error"),
        ):
            with pytest.raises(ValueError, match=words):
                load(path)
