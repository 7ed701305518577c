"""The audit of a black box: what it certifies, and what it says about bad input."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mechanisms.__main__ import main
from mechanisms.audit.learned_scores import density_score
from mechanisms.audit.output_sources import load_pair
from mechanisms.audit.release_audit import audit_files, audit_release

ROOT = Path(__file__).resolve().parents[3]

CODE = '''
import os
import pathlib
import time

import numpy as np

AUDIT = os.getpid()


def laplace(value, rng):
    """epsilon = 2 for neighbours at l1 distance 1."""
    return value + rng.laplace(scale=0.5, size=value.shape)


def infinite(value, rng):
    return value / 0.0 * rng.random()


def number(value, rng):
    return float(value.sum() + rng.laplace())


def raises(value, rng):
    return {}["on purpose"]


def raising_score(outputs):
    raise AssertionError("two\\nlines")


def changing(value, rng):
    return np.zeros(1 + rng.integers(2))


def late(value, rng):
    """Fails rarely, and leaves a file where it did so in another process."""
    noise = rng.laplace(scale=0.5, size=value.shape)
    if noise[0] > 4.2:
        if os.getpid() != AUDIT:
            pathlib.Path("other.process").touch()
        raise OverflowError("rare")
    return value + noise


def dies(value, rng):
    noise = rng.laplace(scale=0.5, size=value.shape)
    if noise[0] > 3.2 and os.getpid() != AUDIT:
        os._exit(3)
    return value + noise


def slow(value, rng):
    """In another process a millisecond, and a file that tells of the process."""
    if os.getpid() != AUDIT:
        pathlib.Path(f"{os.getpid()}.worker").touch()
        time.sleep(0.001)
    return value + rng.laplace(scale=0.5, size=value.shape)


def in_place(value, rng):
    value += rng.laplace(size=value.shape)
    return value


def log_density(value, outputs):
    return -2 * np.abs(outputs - value).sum(axis=1)


def first_element(outputs):
    return -outputs[:, 0]


constant = 3.0
'''

# The same noise in a program: COUNT and SEED are its arguments.
PROGRAM = """
import io
import sys

import numpy as np

value = np.load(io.BytesIO(sys.stdin.buffer.read()))
count, seed = int(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(seed)
outputs = io.BytesIO()
np.save(outputs, value + rng.laplace(scale=0.5, size=(count, *value.shape)))
sys.stdout.buffer.write(outputs.getvalue())
"""


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
    assert "outputs for each value show it" in shown and "99.9% confidence" in shown


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
    rng = np.random.default_rng(7)
    for name, value in zip(("first", "second"), values, strict=True):
        np.save(f"{name}.npy", value + rng.laplace(scale=0.5, size=(3000, 3)))
    sources = (
        [f"{module}:laplace", "--pair", pair],
        ["--program", f"{sys.executable} noisy.py", "--pair", pair],
        ["--outputs", "first.npy", "second.npy"],
    )
    for source in sources:
        limits = ["--epsilon", "1", "--samples", "3000", "--whole-budget", "--json"]
        assert main(["audit", *source, *limits]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["verdict"] == "refuted" and found["samples"] == 3000
        assert 0.2 < found["delta_lower"] < 1 - np.exp(-0.5)
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


@pytest.mark.parametrize("score", [None, "spread"])
def test_the_number_of_processes_changes_nothing(score):
    """Long outputs: enough to choose by are held after the first epochs, and the rest is shared."""
    values = np.zeros((2, 50_000))
    values[0, 0] = 1.0

    def release(value, rng):
        return value + rng.standard_normal(value.shape)

    alone, shared = (
        audit_release(
            release, *values, 0.1, score=score, samples=1500, whole_budget=True, processes=count
        ).to_dict()
        for count in (1, 3)
    )
    assert alone == shared
    assert alone["samples"] == 1500


def test_a_classifier_takes_one_process():
    with pytest.raises(ValueError, match="in one process, got processes = 2"):
        audit_release(
            lambda value, rng: value + rng.laplace(size=value.shape),
            np.zeros(2), np.ones(2), 1.0, score="boosting", processes=2,
        )  # fmt: skip


def test_files_and_programs_take_one_process(black_box, capsys):
    for source in (["--outputs", "a.npy", "b.npy"], ["--program", "./none", "--pair", "pair.npz"]):
        assert main(["audit", *source, "--epsilon", "1", "--processes", "2"]) == 2
        assert "one process" in capsys.readouterr().err


def test_an_exception_in_another_process_is_told_alike(black_box, capsys):
    module, pair = black_box
    told = []
    for processes in ("1", "2"):
        arguments = ["--epsilon", "2", "--whole-budget", "--processes", processes]
        assert run(module, "late", pair, *arguments, samples=4000) == 2
        told += capsys.readouterr().err.splitlines()
    assert told[0] == told[1] and "in late): rare" in told[0]
    assert Path("other.process").exists()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_told(black_box, capsys):
    module, pair = black_box
    arguments = ["--epsilon", "2", "--whole-budget", "--processes", "2"]
    assert run(module, "dies", pair, *arguments, samples=4000) == 2
    assert "a process ended with status 3" in capsys.readouterr().err
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_audit(black_box, sign):
    module, pair = black_box
    command = [sys.executable, "-m", "mechanisms", "audit", f"{module}:slow", "--pair", pair]
    command += ["--epsilon", "1", "--samples", "4000", "--whole-budget", "--processes", "2"]
    env = os.environ | {"PYTHONPATH": f"{Path.cwd()}:{ROOT}"}
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as audit:
        wait_until(lambda: len(list(Path.cwd().glob("*.worker"))) == 2)
        audit.send_signal(sign)
    workers = [int(path.stem) for path in Path.cwd().glob("*.worker")]
    wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))


def wait_until(holds, seconds=30):
    """Wait for what must hold soon."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_files_have_no_more_outputs_than_rows(tmp_path):
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.zeros((40, 2)))
    paths = tmp_path / "a.npy", tmp_path / "b.npy"
    assert audit_files(*paths, 1.0).samples == 40
    with pytest.raises(ValueError, match="holds 40 outputs"):
        audit_files(*paths, 1.0, samples=50)


def test_a_number_is_an_output(black_box, capsys):
    module, pair = black_box
    assert run(module, "number", pair, "--epsilon", "1") == 0
    assert "undecided" in capsys.readouterr().out


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


@pytest.mark.parametrize(
    ("function", "arguments", "wrong", "error", "message"),
    [
        ("raises", [], "raises", "KeyError", "'on purpose'"),
        (
            "laplace",
            ["--score", "black_box_under_audit:raising_score"],
            "raising_score",
            "AssertionError",
            "two lines",
        ),
    ],
)
def test_an_exception_of_named_code_is_told_with_its_line(
    black_box, capsys, function, arguments, wrong, error, message
):
    module, pair = black_box
    assert run(module, function, pair, "--epsilon", "1", *arguments) == 2
    lines = CODE.splitlines()
    number = 2 + next(i for i, text in enumerate(lines) if text.startswith(f"def {wrong}("))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {error} (")
    assert line.endswith(f"{module}.py, line {number}, in {wrong}): {message}")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("missing", "black_box_under_audit defines no 'missing'"),
        ("constant", "must be a function, got float"),
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
    assert main(["audit", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "one of MODULE:FUNCTION, --program and --outputs, got none" in capsys.readouterr().err
    assert main(["audit", "nowhere:at_all", "--epsilon", "1"]) == 2
    assert "PYTHONPATH" in capsys.readouterr().err
    assert main(["audit", "nowhere", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "must be named MODULE:FUNCTION, got 'nowhere'" in capsys.readouterr().err
    assert main(["audit", "nowhere:at_all", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "PYTHONPATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit('no noise today')", "ended with status 1: no noise today"),
        ("print('text')", "must write a .npy file"),
        (PROGRAM.replace("count, *", "3, *"), "must write 16 outputs, one per row"),
        (PROGRAM.replace("value +", "np.nan * value +"), "got nan"),
    ],
)
def test_bad_programs_are_named(black_box, capsys, code, words):
    Path("noisy.py").write_text(code)
    program = f"{sys.executable} noisy.py"
    assert main(["audit", "--program", program, "--pair", "pair.npz", "--epsilon", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
    assert main(["audit", "--program", "./none", "--pair", "pair.npz", "--epsilon", "1"]) == 2
    assert "cannot start the program ./none" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"first": np.zeros(2)}, "must hold the arrays first and second, got"),
        ({"first": np.zeros(2), "second": np.zeros(3)}, "one shape, got"),
        ({"first": np.array(["a"]), "second": np.zeros(1)}, "must hold numbers"),
        ({"first": np.array([None]), "second": np.zeros(1)}, "numpy.savez"),
        (
            {"first": np.zeros((2, 2)), "second": np.array([[0.0, 1.0], [np.nan, 0.0]])},
            r"finite numbers, got nan at index \(1, 0\) of second",
        ),
        ({"first": np.array(np.inf), "second": np.array(0)}, r"got inf at index \(\) of first"),
        ({"first": np.zeros(2), "second": np.zeros(2, int)}, "two different values, got first eq"),
    ],
)
def test_bad_pairs_are_named(tmp_path, arrays, words):
    np.savez(tmp_path / "pair.npz", **arrays)
    with pytest.raises(ValueError, match=words):
        load_pair(tmp_path / "pair.npz")


@pytest.mark.parametrize(
    ("second", "words"),
    [(0.0, "the pair must hold two different values"), (np.nan, "got nan at index .0,. of second")],
)
def test_a_pair_that_shows_nothing_is_refused_before_the_release_is_called(
    black_box, capsys, second, words
):
    def release(value, rng):
        pytest.fail("the release was called")

    with pytest.raises(ValueError, match=words):
        audit_release(release, np.zeros(1), np.full(1, second), 1.0)
    module, pair = black_box
    np.savez(pair, first=np.zeros(1), second=np.full(1, second))
    assert run(module, "laplace", pair, "--epsilon", "1") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: pair.npz must hold")


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04 damaged"])
def test_files_that_hold_no_pair_are_named(tmp_path, content):
    (tmp_path / "pair.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"it must be an \.npz file"):
        load_pair(tmp_path / "pair.npz")
    with pytest.raises(ValueError, match="missing"):
        load_pair(tmp_path / "missing.npz")
