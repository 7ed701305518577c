"""The audit of a black box: what it certifies, and what it says about bad input."""

import json

import numpy as np
import pytest

from mechanisms.__main__ import main
from mechanisms.audit.release_audit import audit_release, load_pair

CODE = '''
import numpy as np


def laplace(value, rng):
    """epsilon = 2 for neighbours at l1 distance 1."""
    return value + rng.laplace(scale=0.5, size=value.shape)


def infinite(value, rng):
    return value / 0.0 * rng.random()


def number(value, rng):
    return float(value.sum() + rng.laplace())


def changing(value, rng):
    return np.zeros(1 + rng.integers(2))


def in_place(value, rng):
    value += rng.laplace(size=value.shape)
    return value


constant = 3.0
'''


@pytest.fixture
def black_box(tmp_path, monkeypatch):
    """The module's name and the file of a pair at l1 distance 1."""
    (tmp_path / "black_box_under_audit.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    np.savez("pair.npz", first=np.zeros(3), second=np.eye(3)[0])
    return "black_box_under_audit", "pair.npz"


def run(module, function, pair, *arguments, samples=1000):
    return main(
        ["audit", f"{module}:{function}", "--pair", pair, "--samples", f"{samples}", *arguments]
    )


def test_a_false_claim_is_refuted(black_box, capsys):
    module, pair = black_box
    assert run(module, "laplace", pair, "--epsilon", "1") == 0
    shown = capsys.readouterr().out
    assert "refuted: (1, 0)-differential privacy is false" in shown
    assert "1,000 outputs for each value, 99.9% confidence" in shown


def test_a_true_claim_is_not_refuted_and_not_called_proven(black_box, capsys):
    module, pair = black_box
    assert run(module, "laplace", pair, "--epsilon", "2") == 0
    assert "not refuted" in capsys.readouterr().out


def test_bounds_stay_below_the_truth(black_box, capsys):
    module, pair = black_box
    assert (
        run(module, "laplace", pair, "--epsilon", "1", "--delta", "0.1", "--json", samples=4000)
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    # delta(1) = 1 - e^((1 - 2) / 2) for Laplace noise of epsilon 2.
    assert 0.25 < found["delta_lower"] < 1 - np.exp(-0.5)
    assert 1 < found["epsilon_lower"] < 2
    assert (found["refuted"], found["claimed_delta"], found["samples"]) == (True, 0.1, 4000)


def test_a_number_is_an_output(black_box, capsys):
    module, pair = black_box
    assert run(module, "number", pair, "--epsilon", "1") == 0
    assert "not refuted" in capsys.readouterr().out


def test_a_score_of_ones_own_sees_outputs_in_their_shape():
    shapes = set()

    def corner(outputs):
        shapes.add(outputs.shape[1:])
        return outputs[:, 0, 0]

    pair = np.zeros((2, 3)), np.pad([[1.0]], ((0, 1), (0, 2)))
    result = audit_release(
        lambda value, rng: value + rng.laplace(size=value.shape),
        *pair, 0.1, score=corner, samples=4000,
    )  # fmt: skip
    assert shapes == {(2, 3)}
    assert 0.1 < result.delta_lower < 1 - np.exp(-0.45)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("missing", "has no attribute 'missing'"),
        ("constant", "must be a function of (value, rng), got float"),
        ("infinite", "must return finite numbers"),
        ("changing", "one shape"),
        ("in_place", "read-only"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bad_releases_are_named(black_box, capsys, function, words):
    module, pair = black_box
    assert run(module, function, pair, "--epsilon", "1") == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--epsilon", "1", "--delta", "1.5"], "0 <= delta < 1, got 1.5"),
        (["--epsilon", "-1"], "epsilon must be finite and >= 0"),
    ],
)
def test_bad_arguments_are_named(black_box, capsys, arguments, words):
    module, pair = black_box
    assert run(module, "laplace", pair, *arguments) == 2
    assert words in capsys.readouterr().err


def test_a_name_without_a_function_is_refused(black_box, capsys):
    assert main(["audit", "nowhere", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "must be MODULE:FUNCTION, got 'nowhere'" in capsys.readouterr().err
    assert main(["audit", "nowhere:at_all", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "PYTHONPATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"first": np.zeros(2)}, "must hold the arrays first and second, got"),
        ({"first": np.zeros(2), "second": np.zeros(3)}, "one shape, got"),
        ({"first": np.array(["a"]), "second": np.zeros(1)}, "must hold numbers"),
        ({"first": np.array([None]), "second": np.zeros(1)}, "numpy.savez"),
    ],
)
def test_bad_pairs_are_named(tmp_path, arrays, words):
    np.savez(tmp_path / "pair.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        load_pair(tmp_path / "pair.npz")


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 damaged"])
def test_files_that_hold_no_pair_are_named(tmp_path, content):
    (tmp_path / "pair.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"it must be an \.npz file"):
        load_pair(tmp_path / "pair.npz")
    with pytest.raises(ValueError, match="missing"):
        load_pair(tmp_path / "missing.npz")
