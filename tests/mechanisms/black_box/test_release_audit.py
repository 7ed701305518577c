"""The audit of a black box: what it certifies."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from black_boxes import AWK, PROGRAM, run

from mechanisms.__main__ import main
from mechanisms.black_box.learned_scores import density_score
from mechanisms.black_box.output_sources import load_pair
from mechanisms.black_box.release_audit import audit_files, audit_release


def test_a_false_claim_is_refuted(black_box, capsys):
    module, pair = black_box
    assert run(module, "laplace", pair, "--epsilon", "1") == 0
    shown = capsys.readouterr().out
    assert "refuted: (1, 0)-differential privacy is false" in shown
    assert "stopped after " in shown and "99.9% confidence" in shown
    assert "refuted the claim; --whole-budget draws all, for tighter bounds" in shown
    assert "at least 0 at epsilon" not in shown and "at least 1 at delta" not in shown


def test_a_true_claim_is_undecided(black_box, capsys):
    module, pair = black_box
    assert run(module, "laplace", pair, "--epsilon", "2") == 0
    shown = capsys.readouterr().out
    assert "undecided: these samples do not contradict (2, 0)" in shown and "holds" not in shown


def test_bounds_stay_below_the_truth(black_box, capsys):
    module, pair = black_box
    arguments = ["--epsilon", "1", "--delta", "0.1", "--json", "--whole-budget"]
    assert run(module, "laplace", pair, *arguments, samples=4000) == 0
    found = json.loads(capsys.readouterr().out)
    # delta(1) = 1 - e^((1 - 2) / 2) for Laplace noise of epsilon 2.
    assert 0.25 < found["delta_lower"] < 1 - np.exp(-0.5)
    assert 1 < found["epsilon_lower"] < 2
    assert (found["verdict"], found["claimed_delta"], found["samples"]) == ("refuted", 0.1, 4000)
    assert found["refuted_after"] < 4000
    # The trade-off curve of Laplace noise: 1 - e^(-2) / (4 alpha) beyond alpha = e^-2 / 2.
    rate = found["true_positive_rate_at"]["0.1"]
    truth = 1 - np.exp(-2) / 0.4
    assert 0.3 < rate["at_least"] < truth and abs(rate["estimate"] - truth) < 0.05


def test_function_program_and_files_are_audited_alike(black_box, capsys):
    module, pair = black_box
    values = load_pair(pair)
    Path("noisy.py").write_text(PROGRAM)
    Path("noisy.sh").write_text(AWK)
    rng = np.random.default_rng(7)
    for name, value in zip(("first", "second"), values, strict=True):
        np.save(f"{name}.npy", value + rng.laplace(scale=0.5, size=(3000, 3)))
    sources = (
        [f"{module}:laplace", "--pair", pair],
        ["--program", f"{sys.executable} noisy.py", "--pair", pair],
        ["--program", "sh noisy.sh", "--text", "--pair", pair],
        ["--outputs", "first.npy", "second.npy"],
    )
    for source in sources:
        limits = ["--epsilon", "1", "--samples", "3000", "--whole-budget", "--json"]
        assert main(["audit", *source, *limits]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["verdict"] == "refuted" and found["samples"] == 3000
        assert 0.15 < found["delta_lower"] < 1 - np.exp(-0.5)
        assert 1 < found["epsilon_lower"] < 2
        assert 0 < found["refuted_after"] < 3000


@pytest.mark.parametrize(
    "score", [["--log-density", ":log_density"], ["--score", ":first_element"], ["--score", "mean"]]
)
def test_scores_are_chosen_by_name(black_box, capsys, score):
    module, pair = black_box
    option, name = score
    chosen = f"{module}{name}" if name.startswith(":") else name
    assert run(module, "laplace", pair, "--epsilon", "1", option, chosen) == 0
    assert "refuted" in capsys.readouterr().out


def test_an_audit_repeats_and_depends_on_its_seed():
    pair = np.zeros(2), np.array([1.0, 0.0])

    def release(value, rng):
        return value + rng.laplace(scale=0.5, size=2)

    results = [
        audit_release(release, *pair, 1.0, samples=600, seed=seed).to_dict() for seed in (3, 3, 4)
    ]
    assert results[0] == results[1] != results[2]


def test_an_exact_density_beats_a_wrong_score():
    """Laplace noise in eight elements that all move: one element shows an eighth of it."""

    def release(value, rng):
        return value + rng.laplace(scale=4.0, size=8)

    def log_density(value, outputs):
        return -np.abs(outputs - value).sum(axis=1) / 4

    pair = np.zeros(8), np.ones(8)
    exact = audit_release(
        release, *pair, 0.5, 0.02, score=density_score(log_density, *pair), samples=4000
    )
    one = audit_release(release, *pair, 0.5, 0.02, score=lambda x: -x[:, 0], samples=4000)
    assert exact.verdict == "refuted" and exact.refuted_after < 2000
    assert one.verdict == "undecided"


def test_a_density_does_not_see_the_last_bits():
    """Laplace noise that claims exactly its epsilon: the ratio is 1 for half of the outputs."""

    def release(value, rng):
        return value + rng.laplace(size=1)

    def log_density(value, outputs):
        return -np.abs(outputs - value).sum(axis=1)

    pair = np.zeros(1), np.ones(1)
    score = density_score(log_density, *pair)
    rng = np.random.default_rng(1)
    for value, share in zip(pair, (0.5, 0.5 / np.e), strict=True):
        ratios = score(value + rng.laplace(size=(100_000, 1)))
        assert np.mean(ratios == 1) == pytest.approx(share, abs=0.01)
    claim = {"score": score, "samples": 6000, "confidence": 0.95}
    for seed in range(3):
        assert audit_release(release, *pair, 1.0, seed=seed, **claim).verdict == "undecided"
        assert audit_release(release, *pair, 0.8, seed=seed, **claim).verdict == "refuted"


def test_a_density_may_be_zero():
    score = density_score(
        lambda value, outputs: np.where(np.abs(outputs - value) < 1, 0.0, -np.inf)[:, 0],
        np.zeros(1), np.ones(1),
    )  # fmt: skip
    assert score(np.array([[-0.5], [0.5], [1.5], [9.0]])).tolist() == [np.inf, 0.0, -np.inf, 0.0]


def test_files_have_no_more_outputs_than_rows(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.zeros((40, 2)))
    paths = tmp_path / "a.npy", tmp_path / "b.npy"
    assert audit_files(*paths, 1.0).samples == 40
    with pytest.raises(ValueError, match="holds 40 outputs"):
        audit_files(*paths, 1.0, samples=50)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((5, 2), (5, 3), r"one shape, got \(2,\) in .*a.npy and \(3,\) in .*b.npy$"),
        ((40, 2), (5, 2), r"at least 16 rows, .*, got 40 in .*a.npy and 5 in .*b.npy$"),
    ],
)
def test_files_that_do_not_fit_together_are_named(first, second, words, tmp_path):
    for name, shape in (("a.npy", first), ("b.npy", second)):
        np.save(tmp_path / name, np.zeros(shape))
    with pytest.raises(ValueError, match=words):
        audit_files(tmp_path / "a.npy", tmp_path / "b.npy", 1.0)


def test_a_number_is_an_output(black_box, capsys):
    module, pair = black_box
    assert run(module, "number", pair, "--epsilon", "1") == 0
    assert "undecided" in capsys.readouterr().out


def test_batches_are_audited_as_single_outputs_are(black_box, capsys):
    module, pair = black_box
    limits = ["--epsilon", "1", "--delta", "0.1", "--json", "--whole-budget"]
    for function, option in (("laplace", []), ("batches", ["--batch"])):
        assert run(module, function, pair, *limits, *option, samples=4000) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["verdict"] == "refuted"
        assert 0.25 < found["delta_lower"] < 1 - np.exp(-0.5)


def test_a_batch_of_long_outputs_is_drawn_a_few_at_a_time():
    counts = []

    def release(value, rng, count):
        counts.append(count)
        return value + rng.laplace(scale=0.5, size=(count, *value.shape))

    pair = np.zeros(20_000), np.eye(1, 20_000)[0]
    audit_release(release, *pair, 1.0, samples=600, batch=True, whole_budget=True)
    assert max(counts[8:]) * 20_000 <= 1 << 18


def test_a_score_of_ones_own_sees_outputs_in_their_shape():
    shapes = set()

    def corner(outputs):
        shapes.add(outputs.shape[1:])
        return outputs[:, 0, 0]

    pair = np.zeros((2, 3)), np.pad([[1.0]], ((0, 1), (0, 2)))
    result = audit_release(
        lambda value, rng: value + rng.laplace(size=value.shape),
        *pair, 0.1, score=corner, samples=4000, whole_budget=True,
    )  # fmt: skip
    assert shapes == {(2, 3)}
    assert 0.1 < result.delta_lower < 1 - np.exp(-0.45)
