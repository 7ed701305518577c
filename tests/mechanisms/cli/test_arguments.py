"""Common behaviour of the command lines: negative values, one-line errors, closed pipes."""

import importlib
import subprocess
import sys

import pytest

from mechanisms.cli.arguments import (
    CLOSED_PIPE,
    INTERRUPTED,
    Parser,
    number,
    run,
    share,
    whole_number,
)


@pytest.fixture
def parser():
    parser = Parser(prog="program")
    parser.add_argument("name", nargs="?")
    parser.add_argument("--delta", type=number)
    parser.add_argument("--range")
    parser.add_argument("--share", type=share)
    parser.add_argument("--samples", type=whole_number(0, 10**9))
    parser.add_argument("--json", action="store_true")
    return parser


@pytest.mark.parametrize("value", ["-1e-5", "-5", "-.5", "-inf", "1e-5"])
def test_a_value_may_be_negative(parser, value):
    assert parser.parse_args(["--delta", value]).delta == float(value)
    assert parser.parse_args([f"--delta={value}", "x"]).name == "x"
    assert parser.parse_args(["--range", f"{value},1", "x"]).range == f"{value},1"


def test_whole_numbers_may_be_written_with_an_exponent(parser):
    assert parser.parse_args(["--samples", "1e5"]).samples == 100_000
    large = str(2**64 - 1)
    assert whole_number(0, 2**64 - 1)(large) == 2**64 - 1
    assert whole_number(0, 2**64 - 1)("9007199254740993.0") == 2**53 + 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--share", "7"], "argument --share: must be a number in (0, 1), got '7'"),
        (["--share", "half"], "must be a number in (0, 1), got 'half'"),
        (["--samples", "-4"], "--samples: must be a whole number from 0 to 1000000000, got '-4'"),
        (["--samples", "1.5"], "must be a whole number from 0 to 1000000000, got '1.5'"),
        (["--samples", "1e300"], "must be a whole number from 0 to 1000000000, got '1e300'"),
        (["--samples", "nan"], "must be a whole number from 0 to 1000000000, got 'nan'"),
        (["--delta", "small"], "must be a number such as 1e-5: 'small' is no number"),
        (["--delta", "1e-400"], "such as 1e-5: 1e-400 would be read as 0.0; write a number"),
        (["--samples", "0.99999999999999999999"], "got '0.99999999999999999999'"),
        (["--samples", "3.0000000000000000000001"], "got '3.0000000000000000000001'"),
        (["--share", "1e-400"], "must be a number in (0, 1), got '1e-400'"),
        (["--delta"], "argument --delta: expected one argument"),
        (["--detla", "1"], "unrecognized arguments: --detla"),
    ],
)
def test_an_error_is_one_line(parser, arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(arguments)
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and words in line
    assert line.endswith("; see program --help")


@pytest.mark.parametrize("end", ["return 0", "print(1, flush=True)"])
def test_a_closed_pipe_is_no_traceback(end):
    code = (
        "import sys, time; from mechanisms.cli.arguments import run\n"
        "def main():\n"
        "    for i in range(100_000): print('text')\n"
        f"    {end}\n"
        "sys.exit(run(main))"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    program.stdout.readline()
    program.stdout.close()
    assert program.wait(30) == CLOSED_PIPE
    assert program.stderr.read() == b""
    program.stderr.close()


@pytest.mark.parametrize("both", [True, False])
def test_a_full_disk_is_not_status_one(both):
    """Status 1 means that a mechanism contradicts itself."""
    code = (
        "import sys; from mechanisms.cli.arguments import run; sys.exit(run(lambda: print(1) or 0))"
    )
    with open("/dev/full", "w") as full:
        errors = full if both else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], stdout=full, stderr=errors, text=True)
    assert done.returncode == 2
    assert both or done.stderr == "error: [Errno 28] No space left on device\n"


def test_an_interrupt_is_one_line(capsys):
    def stopped():
        raise KeyboardInterrupt

    assert run(stopped) == INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("module", ["mechanisms describe", "runs check", "datasets fetch"])
def test_an_error_is_one_line_whatever_a_name_contains(module, capfd):
    """A line break or a terminal escape in a path is printed as it would be typed."""
    package, command = module.split()
    main = importlib.import_module(f"{package}.__main__").main
    assert main([command, "no\nsuch\x1b[31m.yaml"]) == 2
    error = capfd.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert r"no\nsuch\x1b[31m.yaml" in error


def test_a_mistyped_option_is_answered_with_the_nearest_one(capsys):
    """Python writes the option with underscores."""
    main = importlib.import_module("mechanisms.__main__").main
    with pytest.raises(SystemExit, match="2"):
        main(["calibrate", "laplace", "--shape", "3", "--epsilon", "1", "--l2_sensitivity", "1"])
    assert "did you mean --l2-sensitivity?; see" in capsys.readouterr().err
