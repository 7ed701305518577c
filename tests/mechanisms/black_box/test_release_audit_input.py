"""What the audit of a black box says about bad releases, programs, pairs and files."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from black_boxes import CODE, PROGRAM, run

from mechanisms.__main__ import main
from mechanisms.black_box.output_sources import from_file, load_pair
from mechanisms.black_box.release_audit import audit_release


@pytest.mark.parametrize(
    "release",
    [
        lambda value, rng: 2**53 + np.asarray(value, dtype=np.int64) + 1,
        lambda value, rng: np.uint64(2**64 - 1) - np.asarray(value, dtype=np.uint64),
        lambda value, rng: [2**53 + 1 + int(each) for each in value],
    ],
    ids=("int64", "uint64", "python"),
)
def test_integers_that_double_precision_does_not_tell_apart_are_refused(release):
    """They would all be one number, and noise-free answers pass."""
    first, second = np.array([0.0]), np.array([1.0])
    with pytest.raises(ValueError, match=r"integers of at most 2\^53 in size"):
        audit_release(release, first, second, epsilon=1.0, delta=1e-5, samples=100)


@pytest.mark.parametrize("score", ["mean", "bits"])
def test_integers_less_a_constant_are_refuted(score):
    """The remedy of the refusal, at numbers near 2^64."""
    least = np.uint64(2**64 - 2)

    def release(value, rng):
        return least + value.astype(np.uint64)

    pair = np.zeros(1), np.ones(1)
    with pytest.raises(ValueError, match="subtract a constant that does not depend on the data"):
        audit_release(release, *pair, 1.0, score=score)
    found = audit_release(lambda *given: release(*given) - least, *pair, 1.0, score=score)
    assert found.verdict == "refuted"


@pytest.mark.parametrize(
    ("option", "given", "write"),
    [
        ([], "np.load(io.BytesIO(sys.stdin.buffer.read()))", "np.save(out, rows)"),
        (["--text"], "np.array(input().split(), float)", "np.savetxt(out, rows, '%d')"),
    ],
)
def test_programs_of_integers_that_double_precision_does_not_tell_apart(
    black_box, capsys, option, given, write
):
    Path("noisy.py").write_text(
        f"import io, sys\nimport numpy as np\nout, value = io.BytesIO(), {given}\n"
        "rows = np.uint64(2**53 + 1) + np.tile(value.astype(np.uint64), (int(sys.argv[1]), 1))\n"
        f"{write}\nsys.stdout.buffer.write(out.getvalue())\n"
    )
    program = ["--program", f"{sys.executable} noisy.py", "--pair", "pair.npz", *option]
    assert main(["audit", *program, "--epsilon", "1", "--score", "bits"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "9007199254740993" in line or "9007199254740994" in line


def test_files_of_integers_that_double_precision_does_not_tell_apart(tmp_path):
    path = tmp_path / "outputs.npy"
    np.save(path, np.array([[2**53 + 1]] * 5))
    draw, (rows, *_) = from_file(path)
    with pytest.raises(ValueError, match=r"outputs.npy must hold integers of at most 2\^53"):
        draw(np.random.default_rng(0), rows)


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
        ("wide", "wide must take (value, rng), and it takes (value, rng, scale); give a function"),
        ("infinite", "must return finite numbers"),
        ("changing", "one shape"),
        ("in_place", "read-only"),
        ("leaves", "must return an output, but it called sys.exit(3)"),
        ("ragged", "got a list that is not one"),
        ("nothing", "at least one number, got shape (0,)"),
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
    assert main(["audit", "nowhere.py:at_all", "--epsilon", "1"]) == 2
    assert "name the module in place of the file: nowhere:at_all" in capsys.readouterr().err
    assert main(["audit", f"{black_box[0]}:laplace", "--shape", "3", "--epsilon", "1",
                 "--l1-sensitivity", "1"]) == 2  # fmt: skip
    assert "is a function: `audit` takes it with --pair" in capsys.readouterr().err
    assert main(["audit", "nowhere", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "a function is named MODULE:FUNCTION" in capsys.readouterr().err
    assert main(["audit", "nowhere:at_all", "--pair", black_box[1], "--epsilon", "1"]) == 2
    assert "PYTHONPATH" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise SystemExit('no noise today')", "ended with status 1: no noise today"),
        (
            "print('text')",
            r"must write a .npy file to its standard output and nothing else; it wrote 'text\n'",
        ),
        ("pass", "it wrote nothing"),
        (PROGRAM.replace("write(", "write(b'x' + "), "nothing else; it wrote"),
        (PROGRAM.replace("getvalue()", "getvalue()[:90]"), "wrote a damaged .npy file"),
        (PROGRAM.replace("count, *", "3, *"), "must write 16 outputs, one per row"),
        (PROGRAM.replace("value +", "np.nan * value +"), "got nan"),
        (PROGRAM.replace("rng(seed)", "rng(7)"), "wrote the same outputs for two seeds"),
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
    ("code", "words"),
    [
        ("echo one two", "must write one line of numbers per output, as many in each; it wrote"),
        ("seq $1; echo 1 2", "as many in each"),
        ("seq 3", "must write 16 outputs, one per row; got shape (3, 1)"),
        ("true", "must write 16 outputs, one per row; got shape (0,)"),
        ("yes nan | head -n $1", "got nan"),
        ("yes '' | head -n $1", "at least one number"),
    ],
)
def test_bad_text_of_programs_is_named(black_box, capsys, code, words):
    Path("noisy.sh").write_text(code)
    program = ["--program", "sh noisy.sh", "--text"]
    assert main(["audit", *program, "--pair", "pair.npz", "--epsilon", "1"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (["--program", ""], "must be the words of a command, got none"),
        (
            ["--program", "a 'b"],
            """must be a command of a shell, got "a 'b": No closing quotation""",
        ),
        (["black_box_under_audit:laplace", "--text"], "--text is for a --program: leave it out"),
        (
            ["black_box_under_audit:laplace", "--time-limit", "5"],
            "--time-limit is for a --program: leave it out",
        ),
        (["--program", "./none", "--batch"], "--batch is for a function: leave it out"),
        (["--outputs", "first.npy", "second.npy"], "of both values: leave out --pair"),
    ],
)
def test_sources_that_make_no_sense_are_named(black_box, capsys, source, words):
    assert main(["audit", *source, "--pair", "pair.npz", "--epsilon", "1"]) == 2
    assert words in capsys.readouterr().err


def test_options_of_the_other_kind_are_refused():
    pair = np.zeros(1), np.ones(1)
    with pytest.raises(ValueError, match="text is for a program"):
        audit_release(lambda value, rng: value, *pair, 1.0, text=True)
    with pytest.raises(ValueError, match="batch is for a function"):
        audit_release(["./none"], *pair, 1.0, batch=True)


def test_a_program_that_hangs_is_ended_with_all_that_it_started(black_box, capsys):
    """A shell that waits for another program: both are gone, in the time that was given."""
    Path("hangs.sh").write_text("sleep 600 & echo $! > sleeper; echo $$ > shell; wait")
    program = ["--program", "sh hangs.sh", "--pair", "pair.npz", "--epsilon", "1"]
    clock = time.monotonic()
    assert main(["audit", *program, "--time-limit", "1"]) == 2
    assert time.monotonic() - clock < 20
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "error: the program sh hangs.sh was given 1 s for 16 outputs and did not end; check that "
        "it ends by itself, or give it a longer --time-limit"
    )
    for name in ("sleeper", "shell"):
        state = Path(f"/proc/{Path(name).read_text().strip()}/stat")
        wait = time.monotonic() + 10
        # What nobody waits for may stay in the list, ended.
        while state.exists() and state.read_text().split()[2] != "Z":
            assert time.monotonic() < wait
            time.sleep(0.05)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), 10**7])
def test_a_time_limit_has_limits(limit):
    with pytest.raises(ValueError, match=r"must lie in \(0, 1000000\] seconds, got"):
        audit_release(["./none"], np.zeros(1), np.ones(1), 1.0, time_limit=limit)


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (lambda rng, count: rng.laplace(size=(2, 3)), "must return 128 outputs, one per row"),
        (lambda rng, count: "text", "must return finite numbers"),
        (lambda rng, count: np.full((count, 3), np.nan), "must return finite numbers: got nan"),
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
            "drawn with rng; two generators give the same 128 outputs, of which 128 differ",
        ),
    ],
)
def test_bad_batches_are_named(noise, words):
    def release(value, rng, count):
        made = noise(rng, count)
        return made if isinstance(made, str) else value + made

    with pytest.raises(ValueError, match=words):
        audit_release(release, np.zeros(3), np.eye(3)[0], 1.0, batch=True)


def test_batches_of_equal_or_few_different_rows_are_no_mistake():
    """A constant, and a bit that is rarely set: whole batches come again by chance."""

    def rare(value, rng, count):
        return (rng.random((count, 1)) < 1e-4 * (1 + value)).astype(float)

    for release in (lambda value, rng, count: np.zeros((count, 1)), rare):
        for seed in range(3):
            found = audit_release(
                release, np.zeros(1), np.ones(1), 1.0, batch=True, samples=200, seed=seed
            )
            assert found.verdict == "undecided"


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
    for load, name in ((load_pair, "missing.npz"), (from_file, "missing.npy")):
        with pytest.raises(ValueError, match=rf"{name}: it does not exist; check the path"):
            load(tmp_path / name)
        (tmp_path / name).mkdir()
        with pytest.raises(ValueError, match=rf"{name}: it is not a file; check the path"):
            load(tmp_path / name)
