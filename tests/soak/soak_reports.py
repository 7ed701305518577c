"""Reports on ten foreign noises and on all hostile files; `make soak` runs it, in five minutes."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "mechanisms" / "report"))

from foreign_noises import TRUTH
from hostile_files import MISBEHAVING, REFUSED
from report_trials import hostile_cell, of_foreign_noise, written

from mechanisms.report.report import NoReport, report_on
from mechanisms.report.subject import subject_of


@pytest.mark.parametrize("name", TRUTH)
def test_a_foreign_noise_is_judged_rightly(name):
    report = of_foreign_noise(name)
    assert {cell["verdict"] for cell in report.cells.values()} <= TRUTH[name][3]


@pytest.mark.parametrize("what", REFUSED)
def test_a_hostile_file_is_refused_in_one_line(what, tmp_path):
    source, name, words = REFUSED[what]
    with pytest.raises(NoReport) as refused:
        report_on(subject_of(f"{written(tmp_path, source)}:{name}", {}))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("what", MISBEHAVING)
def test_a_hostile_noise_is_told_from_a_false_one(what, tmp_path):
    _, verdicts, words = MISBEHAVING[what]
    cell = hostile_cell(tmp_path, what)
    assert cell["verdict"] in verdicts
    assert words in cell.get("why", "")
