"""Reports on foreign noise and on hostile files: true words, and one clear line for a failure.

These are a few of each; `make soak` tries all of them.
"""

import re

import pytest
from foreign_noises import TRUTH
from hostile_files import MISBEHAVING, REFUSED
from report_trials import hostile_cell, of_foreign_noise, written

from mechanisms.__main__ import main
from mechanisms.report.page import _ranked_row, page
from mechanisms.report.report import NoReport, report_on
from mechanisms.report.subject import program, subject_of
from mechanisms.report.words import cell_words, summary
from mechanisms.verification.verification import HOLDS, LOOSE, REFUTED


def test_a_false_claim_is_refuted_by_its_profile():
    report = of_foreign_noise("WrongNormLaplace")
    assert {cell["verdict"] for cell in report.cells.values()} == TRUTH["WrongNormLaplace"][3]
    shown = page(report, "a command")
    assert "the true epsilon is at least 2 at that delta" in shown
    assert "check_certificate.py knows the formulas of the suite" in shown


def test_a_delta_is_rounded_towards_what_the_verdict_needs():
    cell = {"true_epsilon": (1.2, 1.2), "true_delta": (1.45e-5, 1.45e-5)}
    assert cell_words(cell | {"verdict": REFUTED}).endswith("delta at least 1.4e-05")
    assert cell_words(cell | {"verdict": LOOSE}).endswith("delta at most 1.5e-05")
    assert cell_words(cell | {"verdict": HOLDS}) == "true epsilon 1.2 at the claimed delta"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("laplace", "The claim has delta 0 and is judged there; errors are compared at the delta "
         "of the budget, 1e-05."),
        ("gaussian-analytic", "The claim has delta 1e-05."),
    ],
)  # fmt: skip
def test_the_delta_of_the_claim_is_told_from_that_of_the_budget(key, words):
    stated = {"shape": (4,), "l1_sensitivity": 1.0, "l2_sensitivity": 1.0}
    report = report_on(subject_of(key, {}), stated=stated, epsilon=1.0, others=False)
    assert words in summary(report) and words in page(report, "a command")


def test_a_ranked_row_tells_that_the_published_noise_is_refuted():
    row = {"rank": 1, "title": "TLDP-L", "own": False, "calibration": "exact", "rmse": 1.4142}
    row |= {"times_best": 1.0, "of_limit": None, "verdict": ""}
    told = {refuted: _ranked_row(row | {"refuted": refuted}) for refuted in (False, True)}
    assert "<td>rescaled</td>" in told[False]
    assert "<td>rescaled, refuted as published</td>" in told[True]


def test_the_page_needs_no_other_file():
    report = of_foreign_noise("ZCDPGaussian")
    shown = page(report, "python -m mechanisms report x.py:Mine --option 'a=<b>'")
    assert "<span>--option</span> &#x27;a=&lt;b&gt;&#x27;" in shown
    assert not re.search(r"https?:|src=|href=|<script|@import|url\(", shown)
    assert summary(report)[0].startswith("loose at 1 of 1 settings: the claim is true")


def test_a_program_is_audited(tmp_path):
    sampler = tmp_path / "sampler.awk"
    sampler.write_text(
        'BEGIN { getline value < "-"; srand(substr(ARGV[2], 1, 9) + 0); '
        "for (i = 0; i < ARGV[1]; i++) "
        "print value + (rand() < 0.5 ? -1 : 1) * 0.1 * log(1 - rand()) }"
    )
    subject = program(f"awk -f {sampler}", text=True)
    report = report_on(
        subject, stated={"shape": (1,), "linf_sensitivity": 1.0}, epsilon=1.0, others=False
    )
    (cell,) = report.cells.values()
    assert report.delta == 0
    assert cell["verdict"] == "refuted"
    assert cell["audit"]["epsilon_lower"] > 3


def test_a_class_with_an_epsilon_alone_has_the_usual_delta():
    stated = {"shape": (4,), "l2_sensitivity": 1.0}
    report = report_on(subject_of("r1smg", {}), stated=stated, epsilon=1.0, others=False)
    assert report.delta == 1e-5 and report.count("refuted") == 1


@pytest.mark.parametrize("what", ["a syntax error", "more parameters", "another's key"])
def test_a_hostile_file_is_refused_in_one_line(what, tmp_path, capsys):
    source, name, words = REFUSED[what]
    path = written(tmp_path, source)
    assert main(["report", f"{path}:{name}", "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ") and words in told and told.count("\n") == 1
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.slow
@pytest.mark.parametrize("what", ["much memory", "an endless loop"])
def test_a_hostile_noise_is_told_from_a_false_one(what, tmp_path, monkeypatch):
    monkeypatch.setattr("mechanisms.report.report.CELL", 3.0)
    _, verdicts, words = MISBEHAVING[what]
    cell = hostile_cell(tmp_path, what)
    assert cell["verdict"] in verdicts
    assert words in cell["why"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("nowhere.py:Mine", "there is no file nowhere.py"),
        ("noise.py", "must be followed by the name of a class or function"),
        ("README.md", "README.md is not a Python file: report takes FILE.py:NAME, .* 'README.md'"),
        ("docs/tour.ipynb:X", "docs/tour.ipynb is not a Python file: .*, got 'docs/tour.ipynb:X'"),
    ],
)
def test_a_file_that_cannot_be_named(given, words):
    with pytest.raises(ValueError, match=words):
        subject_of(given, {})


@pytest.mark.parametrize(
    ("given", "words"),
    [([], "neither"), (["laplace", "--program", "mine"], "laplace and --program")],
)
def test_a_report_is_about_one_thing(given, words, capsys):
    assert main(["report", *given]) == 2
    assert capsys.readouterr().err == (
        f"error: report needs one of FILE.py:NAME and --program, got {words}\n"
    )


def test_a_file_with_the_name_of_another_module(tmp_path):
    (tmp_path / "numpy.py").write_text("")
    with pytest.raises(ValueError, match=r"numpy.py has the name of another module"):
        subject_of(f"{tmp_path}/numpy.py:Mine", {})


def test_a_function_must_be_told_its_claim(tmp_path):
    path = written(tmp_path, "def mine(value, rng):\n    return value\n")
    with pytest.raises(NoReport, match="state what it answers and claims, such as --shape 1"):
        report_on(subject_of(f"{path}:mine", {}))


def test_the_hostile_are_at_least_twenty():
    assert len(REFUSED) + len(MISBEHAVING) >= 20
    assert len(TRUTH) == 10
