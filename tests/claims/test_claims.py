"""Claims are validated when they are read, match their judges, and are judged by any rows."""

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from claims import claim as reading
from claims import ledger
from claims.claim import all_claims, claims_in
from claims.judges import Delta, Shape, all_judges, judge
from claims.paper import differences
from claims.verdicts import Finding
from papers import r1smg2024
from runs.results import read_results
from studies.base.yaml_file import ConfigError

STUDIES = Path("results/reference/studies")


def test_the_five_papers_have_claims():
    papers = {claim.paper for claim in all_claims()}
    assert papers >= {"mvg2018", "mgm2021", "imgm2022", "r1smg2024", "tldp2025"}


def test_every_judge_has_a_claim():
    assert {claim.judge for claim in all_claims()} == set(all_judges())


def test_a_sentence_on_the_committed_numbers_is_on_the_committed_verdict():
    committed = pd.read_csv("results/reference/claims.csv", index_col="claim")["verdict"]
    about = {claim.id: list(claim.in_reference) for claim in all_claims() if claim.in_reference}
    assert about and about == {name: [committed[name]] for name in about}


@judge
def same_noise(*, metric: str, shape: Shape, delta: Delta = 0.0, tolerance: float) -> Finding:
    """A judge without a finding."""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Returns a function that reads the claims of a file with this text."""

    def claims(text, paper="r1smg2024"):
        (tmp_path / "paper_figures" / paper).mkdir(parents=True, exist_ok=True)
        (tmp_path / "paper_figures" / paper / "claims.yaml").write_text(text)
        monkeypatch.setattr(reading, "HOMES", tmp_path / "paper_figures")
        path = tmp_path / "paper_figures" / paper / "claims.yaml"
        return list(claims_in(path, {"same_noise": same_noise.judge}).values())

    return claims


ENTRY = """\
- read: full
- id: a-b
  where: w
  kind: value
  statement: It holds.
  expected: e
  judge: same_noise
  arguments:
    metric: loss
    shape: [2, 3]
  tolerance: 0.1
  reason: Rounding.
"""


def test_a_claim_has_the_arguments_of_its_judge(read):
    (claim,) = read(ENTRY)
    assert claim.paper == "r1smg2024"
    assert claim.arguments == {"metric": "loss", "shape": (2, 3), "delta": 0.0, "tolerance": 0.1}


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        *(
            ("id: a-b", f"id: {wrong}", 2, "1.id: String should match pattern")
            for wrong in ("<script>", "../a", "A-b", "a_b", "a b", '""', "a/b", '"a\\n"', "a" * 81)
        ),
        ("metric:", "metrc:", 9, "1.arguments.metrc: unknown name; did you mean 'metric'?"),
        ("where:", "wehre:", 3, "1.wehre: unknown name; did you mean 'where'?"),
        ("  expected: e\n", "", 2, "1.expected: Field required"),
        ("    metric: loss\n", "", 8, "1.arguments.metric: Field required"),
        (
            "kind: value",
            "kind: theorem",
            4,
            "1.kind: Input should be 'guarantee', .* 'theorem'",
        ),
        (
            "[2, 3]",
            "[2, -3]",
            10,
            "1.arguments.shape.1: Input should be greater than 0, got -3",
        ),
        ("judge: same_noise", "judge: same_nose", 7, "1.judge: there is no .* 'same_noise'?"),
        ("  judge: same_noise\n", "", 2, "1.judge: Field required"),
        ("  tolerance: 0.1\n", "", 2, "1.tolerance: Field required"),
        (
            "tolerance: 0.1",
            "margin: 0.1",
            11,
            "1.margin: unknown name; allowed here are metric",
        ),
        ("  reason: Rounding.\n", "", 11, "1.tolerance: it needs a reason"),
        ("It holds.", "It holds", 5, "1.statement: must end with a full stop"),
        (
            "It holds.",
            "It holds. " * 16,
            5,
            "1.statement: it has 32 words, at most 30 are allowed",
        ),
        ("- read: full\n", "", 1, "0.id: unknown name; allowed here are read"),
        ("read: full", "read: some", 1, "0.read: Input should be 'full', 'code', 'theorem' or"),
        (
            "read: full",
            "read: abstract",
            7,
            "1.judge: only the abstract was read; use the judge",
        ),
        (
            "read: full",
            "{read: full, open_choices: [{choice: c, ruled_out: [o]}]}",
            1,
            "0.open_choices.0: ruled_out and by, the paper's words, need each other",
        ),
        (
            "  expected",
            "  not_run: {f: No data.}\n  expected",
            6,
            "1.not_run.f: `expected` does",
        ),
        (
            "  reason",
            "  sizes: {rows: 3}\n  reason",
            12,
            "1.sizes.rows: unknown name; did you mean 'rounds'",
        ),
        (
            "  reason",
            "  meaning: {true: y.}\n  reason",
            12,
            "1.meaning.*: Input should be 'confirm",
        ),
        (
            "  reason",
            "  meaning: {partly: y}\n  reason",
            12,
            "1.meaning.partly: must end with a",
        ),
        ("- id: a-b", "- a-b\n- id: a-b", 2, "key 1: Input should be a valid dictionary"),
        ("[2, 3]", "!paper A.b.c", 10, "papers/r1smg2024.py has no A.b.c; add it"),
        ("expected: e", "kind: order", 6, "the key 'kind' appears twice, first in line 4"),
        ("where: w", "where: 2020-99-99", 3, "2020-99-99: month must be in 1..12"),
        ("- read: full\n", ENTRY, 13, "2.id: another claim has this id; rename one of them"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(read, old, new, line, problem):
    assert old in ENTRY
    with pytest.raises(ConfigError, match=problem) as error:
        read(ENTRY.replace(old, new))
    assert re.search(rf"paper_figures/r1smg2024/claims.yaml\b.*\bline {line}\b", str(error.value))


def test_a_file_that_is_no_list_of_claims_is_named(read):
    with pytest.raises(ConfigError, match=r"r1smg2024/claims\.yaml.* Input should be a valid list"):
        read(ENTRY.replace("- read: full", "claims:"))


def test_a_number_of_the_paper_stands_by_its_name(read):
    (claim,) = read(ENTRY.replace("[2, 3]", "[!paper PICKUPS, 1]"))
    assert claim.arguments["shape"] == (r1smg2024.PICKUPS, 1)


def test_a_paper_that_repeats_the_id_of_an_earlier_one_is_refused(monkeypatch):
    papers = {"mvg2018": {"b": 2}, "mgm2021": {"a": 1}, "r1smg2024": {"c": 3, "a": 4}}
    monkeypatch.setattr(reading, "claims_in", lambda path, _: papers.get(path.parent.name, {}))
    words = "paper_figures/r1smg2024/claims.yaml: another paper has the claim a too; rename it here"
    with pytest.raises(ConfigError, match=words):
        all_claims()


RUNS = [claim.decided_by for claim in all_claims() if claim.decided_by]


@pytest.mark.parametrize("run", RUNS)
def test_what_decides_a_claim_is_a_run_of_a_shipped_config(run):
    (named,) = set(re.findall(r"config/\w+\.yaml", run))
    assert Path(named).exists()


def test_our_method_differs_by_study_or_by_data_set():
    assert differences("mgm2021", ("federated_vertical", "noise_only")) == (
        "Adult: 5,000 test records (16,281). In brackets: the paper's."
    )
    # Two studies with the same differences.
    both = differences("mvg2018", ("regression", "covariance"))
    assert both == differences("mvg2018", ("regression",)) != ""
    assert differences("a paper without a home", ("regression",)) == ""


def half(table, column, rng):
    """The rows with a random half of the values of a column, and all rows without a value."""
    if column not in table:
        return table
    values = table[column].dropna().unique()
    kept = values[rng.random(len(values)) < 0.5]
    return table[table[column].isin(kept) | table[column].isna()]


def with_few_draws(claim):
    """The claim, judged by at most 1000 draws: they take most of the time, and read no rows."""
    draws = claim.arguments.get("draws")
    if draws is None:
        return claim
    few = {name: 1000 for name in draws} if isinstance(draws, dict) else min(draws, 1000)
    return claim.model_copy(update={"arguments": claim.arguments | {"draws": few}})


@pytest.mark.slow
def test_no_judge_fails_where_rows_are_missing(monkeypatch):
    """Every claim is judged or says why not; it loses rows by one column, another for each."""
    judges, rng = all_judges(), np.random.default_rng(0)
    columns = itertools.cycle(["mechanism", "dataset", "shape", "calibration", "epsilon"])
    for claim, column in zip(map(with_few_draws, all_claims()), columns, strict=False):
        judge = judges[claim.judge]
        if not judge.reads_results:
            continue
        # A study beside the claim's own may not have been run.
        files = (STUDIES / name for name in judge.tables(claim.arguments))
        whole = read_results(path for path in files if path.exists())
        cut = replace(
            whole, rows=half(whole.rows, column, rng), timings=half(whole.timings, column, rng)
        )
        monkeypatch.setattr(ledger, "read_results", lambda files, cut=cut: cut)
        ledger.finding_on(claim, judge, STUDIES)
