"""Evaluation and the files of the ledger, on made-up claims and measurements."""

import pandas as pd
import pytest

from paper_figures import ledger
from paper_figures.ledger import (
    CannotJudge,
    Finding,
    Judge,
    LedgerError,
    evaluate,
    findings,
    to_markdown,
    write_ledger,
)
from runs.rows import to_table, write_table


def entry(name, **more):
    return {
        "id": name, "where": "Section 1", "kind": "value", "statement": f"{name} | stated.",
        "expected": "1",
    } | more  # fmt: skip


def refuse(claim, results):
    raise CannotJudge("The data are not there")


def as_told(claim, results):
    return Finding(ours="2", verdict=claim.arguments["verdict"], detail="Counted.", trials=3)


MEASUREMENTS = {
    "refuse": Judge("refuse", (), (), refuse),
    "as_told": Judge("as_told", (), (), as_told),
    "read": Judge("read", ("study",), ("study",), as_told),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run whose ledger holds these claims."""

    def make(*entries):
        claims = tmp_path / "claims"
        claims.mkdir(exist_ok=True)
        (claims / "paper2020.yaml").write_text("\n".join(f"- {e}" for e in entries))
        monkeypatch.setattr(ledger, "CLAIMS", claims)
        monkeypatch.setattr(ledger, "all_judges", lambda: MEASUREMENTS)
        return tmp_path

    return make


def test_what_is_missing_is_not_run_with_its_reason(run):
    folder = run(
        entry("waits", waits_for="the moon"),
        entry("refused", measure="refuse"),
        entry("unread", measure="read", arguments={"verdict": "reproduced"}),
    )
    found = evaluate(folder)
    assert list(found["verdict"]) == ["not run"] * 3
    assert found["detail"][0] == "Waits for the moon."
    assert found["detail"][1] == "The data are not there."
    assert found["detail"][2] == "This run has no study.parquet, study.timings.parquet."


def test_results_are_read_once_they_are_there(run):
    folder = run(entry("unread", measure="read", arguments={"verdict": "reproduced"}))
    for name in ("study.parquet", "study.timings.parquet"):
        write_table(to_table([]), folder / "experiments" / name)
    assert list(evaluate(folder)["verdict"]) == ["reproduced"]


def test_an_unknown_measurement_or_verdict_is_an_error(run):
    with pytest.raises(LedgerError, match="no measurement 'count'"):
        evaluate(run(entry("a", measure="count")))
    with pytest.raises(LedgerError, match="unknown verdict 'maybe'"):
        evaluate(run(entry("a", measure="as_told", arguments={"verdict": "maybe"})))


@pytest.fixture
def verdicts(run):
    """A run with one claim of every verdict."""
    return run(
        entry("yes", measure="as_told", arguments={"verdict": "reproduced"}),
        entry(
            "no",
            measure="as_told",
            arguments={"verdict": "contradicted"},
            meaning={"contradicted": "It is two.", "reproduced": "It is one."},
        ),
        entry("open", measure="as_told", arguments={"verdict": "not reproduced"}),
        entry("waits", waits_for="the moon"),
    )


def test_the_meaning_is_that_of_the_verdict(verdicts):
    found = evaluate(verdicts).set_index("claim")["meaning"]
    assert found["no"] == "It is two."
    assert found["yes"] == "Our numbers agree."


def test_markdown_counts_and_keeps_its_columns(verdicts):
    text = to_markdown(evaluate(verdicts))
    assert "1 reproduced, 1 not reproduced, 1 contradicted, 1 not run." in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 4
    assert {row.replace("\\|", "").count("|") for row in rows} == {8}


def test_findings_list_what_does_not_hold(verdicts):
    text = findings(evaluate(verdicts))
    assert text.startswith("## What we found\n\nOf 4 claims of the papers: 1 reproduced,")
    assert "It is two." in text
    contradicted, open_ = text.index("### Contradicted"), text.index("### Not reproduced")
    assert contradicted < text.index("no \\| stated.") < open_ < text.index("open \\| stated.")
    assert "yes \\| stated." not in text
    assert "waits" not in text


def test_findings_can_be_made_from_the_file(verdicts):
    write_ledger(verdicts)
    read = pd.read_csv(verdicts / "claims.csv", keep_default_na=False)
    assert findings(read) == findings(evaluate(verdicts))


def test_the_same_results_give_the_same_bytes(verdicts):
    def written():
        write_ledger(verdicts)
        return [(verdicts / name).read_bytes() for name in ("claims.csv", "claims.md")]

    assert written() == written()


def test_findings_without_anything_to_say(run):
    text = findings(evaluate(run(entry("waits", waits_for="the moon"))))
    assert "###" not in text
