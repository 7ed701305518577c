"""The checks of other libraries on a correct sampler and on planted faults, without a library."""

import csv
from pathlib import Path

import pytest

from library_trials import __main__ as command
from library_trials import compositions, trial
from library_trials.checks import (
    AGREES,
    COLUMNS,
    DIFFERS,
    FRESH,
    NOT_RUN,
    OBSERVED,
    REPEATS,
    findings,
    table,
)

PLANTED = str(Path(__file__).with_name("planted.py"))
# What a fault changes so little that few draws seldom prove it.
EITHER = "agrees or differs"
FAULTS = {
    "right": {},
    "small": {"law": DIFFERS, "scale": DIFFERS, "sensitivity": EITHER},
    "shifted": {"law": DIFFERS, "bias": DIFFERS, "scale": EITHER},
    "one stream": {"instances": REPEATS, "processes": REPEATS},
    "wrong norm": {"sensitivity": DIFFERS},
    "cast to floats": {"large": DIFFERS},
    "added to floats": {"bits": DIFFERS, "large": OBSERVED},
}
USUAL = {
    **dict.fromkeys(("law", "scale", "bias", "bits", "sensitivity", "large"), AGREES),
    **dict.fromkeys(("instances", "processes"), FRESH),
    # A generator is copied by a fork, and a seed repeats.
    **dict.fromkeys(("seeds", "forks"), REPEATS),
}


@pytest.fixture
def same_process(monkeypatch):
    """A new process takes half a second; here its noise is that of a new instance."""

    def fresh(driver, name, folder):
        release, _ = trial.runpy.run_path(driver)["NOISES"][name]()
        return trial.draws(release, [0] * trial.SIZE, trial.FEW, int)

    monkeypatch.setattr(trial, "in_process", fresh)


@pytest.mark.slow
@pytest.mark.parametrize("noise", FAULTS)
def test_the_checks_find_the_planted_fault_alone(noise, tmp_path, same_process):
    trial.main(PLANTED, noise, tmp_path, "2000")
    found = {check: outcome for check, outcome, _, _ in findings(tmp_path) if check in USUAL}
    for check, expected in (USUAL | FAULTS[noise]).items():
        allowed = (AGREES, DIFFERS) if expected == EITHER else (expected,)
        assert found[check] in allowed, check


def test_a_table_keeps_the_rows_of_other_libraries(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "RESULTS", tmp_path)
    for key in ("dp-recorder", "dp-accounting-0.6.0", "dp-recorder"):
        command.write(key, list(command.trials(key)))
    with (tmp_path / "trials.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == COLUMNS
    assert [row["library"] for row in rows] == ["dp-accounting", "dp-recorder"]
    assert "## dp-accounting 0.6.0" in (tmp_path / "trials.md").read_text()


def test_a_library_that_cannot_be_installed_is_a_row(monkeypatch):
    error = command.subprocess.CalledProcessError(1, "uv", stderr="first\nno wheel\n")

    def failing(key):
        raise error

    monkeypatch.setattr(command, "environment", failing)
    (row,) = command.trials("opendp-0.3.0")
    assert (row.outcome, row.found) == (NOT_RUN, "cannot be installed: no wheel")


def test_an_unknown_library_is_told_with_the_allowed_ones(capsys):
    with pytest.raises(SystemExit):
        command.main(["nope"])
    told = capsys.readouterr().err
    assert told.startswith("error: unknown library 'nope'; allowed are opendp-0.16.0, ")
    assert told.count("\n") == 1


def test_the_committed_table_is_that_of_the_libraries():
    folder = Path(command.HERE.parent, "results/library_trials")
    with (folder / "trials.csv").open(newline="") as stream:
        rows = [command.Row(**each) for each in csv.DictReader(stream)]
    assert {row.command for row in rows} == {command.command(key) for key in command.LIBRARIES}
    assert (folder / "trials.md").read_text() == table(rows)


def test_drivers_compile_and_pins_have_hashes_and_no_index():
    trials = {key: each.driver for key, each in command.LIBRARIES.items() if not each.absent}
    for key, name in {**trials, compositions.KEY: compositions.DRIVER.stem}.items():
        driver = command.HERE / f"drivers/{name}.py"
        compile(driver.read_text(), driver, "exec")
        pins = (command.HERE / f"requirements/{key}.txt").read_text()
        assert key.replace("-", "==", 1) in pins or key.rpartition("-")[0] in pins
        assert pins.count("--hash") and "://" not in pins
