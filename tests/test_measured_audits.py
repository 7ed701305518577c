"""The tables of docs/audit_self_tests.md: a small version, and rows that are computed again."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "benchmarks"))

import measure_audits
import measure_self_check


@pytest.fixture(scope="module")
def committed():
    """The cells of every row of the page."""
    lines = measure_audits.PAGE.read_text().splitlines()
    rows = [tuple(line.strip("| ").split(" | ")) for line in lines if line.startswith("| ")]
    return [row for row in rows if "---" not in row]


def test_errors_stay_within_what_is_allowed(committed):
    small = measure_audits.error_rows(20)
    measured = {row[0]: row for row in committed if len(row) == 4}
    assert {row[0] for row in small} < set(measured)
    for name, *_, share in small:
        assert float(share.rstrip("%")) <= 15, name
        _, runs, _, committed_share = measured[name]
        assert runs == "2,000" and float(committed_share.rstrip("%")) <= 5


def test_known_faults_fall_and_controls_stay_undecided(committed):
    small = measure_audits.sample_rows(1, 0.01)
    longer = [row for row in committed if len(row) == 6 and row[0] != "mechanism"]
    assert [row[:3] for row in small] == [row[:3] for row in longer]
    controls = {
        (name, audit)
        for name, _, audit, *_ in longer
        if name in ("Gaussian, sigma x 1", "Curator: reveals once in a million")
        or (name.startswith("Naive") and "bits" not in audit)
    }
    for name, _, audit, _, _, median in longer:
        assert (median == "undecided") == ((name, audit) in controls), name
    for name, _, audit, _, _, median in small:
        if (name, audit) in controls:
            assert median == "undecided"


@pytest.mark.parametrize("name", ["R1SMG, 8 x 8", "TLDP-L, 28 x 28"])
def test_a_row_repeats(committed, name, monkeypatch):
    """The rows by losses, with all of their runs."""
    rows = {row[0]: row for row in committed if len(row) == 6 and row[2] == "losses"}
    for other in ("by_release", "by_outputs"):
        monkeypatch.setattr(measure_audits, other, lambda *arguments: None)
    wanted, by_losses = name, measure_audits.by_losses
    monkeypatch.setattr(
        measure_audits,
        "by_losses",
        lambda name, *arguments: by_losses(name, *arguments) if name == wanted else None,
    )
    (found,) = [row for row in measure_audits.sample_rows(11, 1.0) if row]
    assert found == rows[name]


def test_what_a_mechanism_finds_in_itself(committed):
    """Every planted mistake has a row, and one of them is found again."""
    rows = {row[0]: row[1:] for row in committed if len(row) == 7 and row[0] != "mistake"}
    assert list(rows) == list(measure_self_check.MISTAKES)
    mistake = measure_self_check.MISTAKES["two rows share it up to sign"]
    assert rows["two rows share it up to sign"][0] == "6 of 6"
    assert measure_self_check.caught(mistake, 8, measure_self_check.QUICK, 2) == "2 of 2"
