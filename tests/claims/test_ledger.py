"""The evaluation of claims and the pages of the ledger, on made-up claims and judges."""

import re
from pathlib import Path

import pytest

from claims import ledger
from claims.claim import Claim
from claims.intervals import TooFewTrials
from claims.judges import CannotJudge, judge
from claims.ledger import evaluate, read_ledger, write_ledger
from claims.ledger_pages import MOST_WORDS, claim_lines, claims_page
from claims.verdicts import Finding, Outcome, Part, Sizes
from runs.result_table import DamagedTable, to_table, write_table
from studies.base.yaml_file import ConfigError


def entry(name, judge="as_given", **more):
    return {
        "id": name, "paper": "paper2020", "where": "Section 1", "kind": "value",
        "statement": f"{name} | stated.", "expected": "1, x", "judge": judge,
        "about": {"read": "full", "open_choices": [{"choice": "the kernel"}]},
    } | more  # fmt: skip


@judge
def refuse():
    raise CannotJudge("The data are not there")


@judge
def one_trial():
    raise TooFewTrials("An interval needs two trials, there are 1")


@judge
def as_given(*, verdicts, because=""):
    parts = tuple(Part(f"part {i}", verdict, "2") for i, verdict in enumerate(verdicts))
    return Finding(parts=parts, because=because, sizes=Sizes(records=1000, trials=3))


@judge(studies=["study"], timings=["study"])
def read(results, *, verdicts):
    return as_given(verdicts=verdicts)


@judge
def chosen(results, *, study, verdicts, beside=()):
    return as_given(verdicts=verdicts)


@judge
def swept(*, verdicts):
    outcomes = [
        Outcome(choice=choice, parts=(Part("error", verdict, "0.1"),))
        for choice, verdict in verdicts.items()
    ]
    return Finding(choice="the kernel", outcomes=outcomes, because="A linear kernel confirms it.")


JUDGES = {
    function.__name__: function.judge
    for function in (refuse, one_trial, as_given, swept, read, chosen)
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run whose ledger holds these claims."""

    def make(*entries):
        monkeypatch.setattr(ledger, "all_claims", lambda: [Claim(**each) for each in entries])
        monkeypatch.setattr(ledger, "all_judges", lambda: JUDGES)
        folder = tmp_path / ledger.REFERENCE
        folder.mkdir(exist_ok=True)
        return folder

    return make


def given(*verdicts, **more):
    return {"arguments": {"verdicts": list(verdicts), **more}}


def test_what_is_missing_is_not_run_with_its_reason(run):
    of_one = {"study": "other", "verdicts": ["confirmed"]}
    judged = evaluate(
        run(
            entry("refused", "refuse", decided_by="config/paper.yaml"),
            entry("unread", "read", **given("confirmed")),
            entry("unread-one", "chosen", arguments=of_one),
            entry("single", "one_trial"),
        )
    )
    assert list(judged["verdict"]) == ["not run"] * 3 + ["inconclusive"]
    assert list(judged["sentence"]) == [
        "The data are not there.",
        "This run has no study.parquet, study.timings.parquet.",
        "This run has no other.parquet.",
        "An interval needs two trials, there are 1.",
    ]
    assert list(judged["decided by"]) == ["config/paper.yaml", "", "", ""]


def test_only_the_reference_run_judges_what_needs_no_rows(run):
    folder = run(entry("elsewhere", **given("confirmed")))
    (judged,) = evaluate(folder).to_dict("records")
    (left,) = evaluate(folder.with_name("mine")).to_dict("records")
    assert (judged["verdict"], left["verdict"]) == ("confirmed", "not run")
    assert left["sentence"] == "It needs no rows: the reference run judges it."


def test_results_are_read_once_they_are_there_and_one_beside_may_be_absent(run):
    of_two = {"study": "study", "beside": ["other"], "verdicts": ["confirmed"]}
    folder = run(
        entry("both", "chosen", arguments=of_two), entry("timed", "read", **given("confirmed"))
    )
    for name in ("study.parquet", "study.timings.parquet"):
        write_table(to_table([]), folder / "studies" / name)
    assert list(evaluate(folder)["verdict"]) == ["confirmed"] * 2


def test_a_sentence_on_the_numbers_of_the_reference_is_of_no_other_run(run):
    said = {"meaning": {"contradicted": "It is not."}, "in_reference": {"contradicted": "It is 2."}}
    folder = run(entry("no", **given("contradicted"), **said))
    assert evaluate(folder)["sentence"][0] == "It is 2."
    assert evaluate(folder.with_name("mine"), only="no")["sentence"][0] == "It is not."


@pytest.fixture
def folder(run):
    """A run with one claim of every verdict."""
    return run(
        entry("yes", **given("confirmed")),
        entry("no", **given("contradicted"), meaning={"contradicted": "It is two."}),
        entry("half", **given("confirmed", "not found", because="One part is absent.")),
        entry("open", **given("inconclusive", because="Three trials.")),
        entry(
            "choice", "swept",
            arguments={"verdicts": {"linear": "confirmed", "RBF": "not found"}},
        ),
        entry("absent", "refuse"),
    )  # fmt: skip


def test_verdicts_follow_from_parts_and_outcomes(folder):
    found = evaluate(folder).set_index("claim")
    assert found["verdict"].to_dict() == {
        "yes": "confirmed", "no": "contradicted", "half": "partly", "open": "inconclusive",
        "choice": "depends", "absent": "not run",
    }  # fmt: skip
    assert found.loc["half", "parts"] == "part 0: 2: confirmed\npart 1: 2: not found"
    assert found.loc["choice", "parts"].splitlines() == [
        "linear: confirmed (error: 0.1: confirmed)", "RBF: not found (error: 0.1: not found)",
    ]  # fmt: skip
    assert found.loc["no", "sentence"] == "It is two."


def test_the_page_of_claims_has_every_claim_under_its_own_link(folder):
    text = claims_page(evaluate(folder))
    counts = "1 partly confirmed, 1 contradicted, 1 dependent on an open choice, 1 inconclusive"
    assert f"6 claims: 1 confirmed, {counts}" in text
    for claim in ("yes", "no", "half", "open", "choice", "absent"):
        assert f'<a id="{claim}"></a>' in text
        assert f"[{claim}](#{claim})" in text
    # The introduction names the claims that are not confirmed.
    introduction = text[: text.index("\n## ")]
    assert re.findall(r"Claims: \[(\w+)\]", introduction) == ["half", "no", "choice", "open"]
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {5}


def test_pages_can_be_made_from_the_file_whose_bytes_repeat(folder):
    write_ledger(folder)
    files = (folder / "claims.csv", folder / "claims.md")
    written, read = [path.read_bytes() for path in files], read_ledger(folder)
    # A column of numbers keeps its type even if no claim has a number.
    assert read["rounds"].isna().all()
    assert claims_page(read) == (folder / "claims.md").read_text()
    write_ledger(folder)
    assert [path.read_bytes() for path in files] == written


def sections(page):
    """The text of every claim on a page of claims, by its id."""
    found = re.split(r'\n<a id="([^"]+)"></a>\n', page)[1:]
    return {
        name: text.split("\n## ")[0] for name, text in zip(found[::2], found[1::2], strict=True)
    }


@pytest.mark.parametrize("kept", [0, 100])
def test_a_damaged_ledger_says_how_to_write_it_again(folder, kept):
    write_ledger(folder)
    path = folder / "claims.csv"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamagedTable, match=f"paper_figures judge {folder.name}"):
        read_ledger(folder)


def test_no_claim_of_the_reference_is_longer_than_a_reader_reads():
    page = sections(claims_page(read_ledger(Path("results/reference"))))
    assert len(page) > 100
    assert max(len(text.split()) for text in page.values()) <= MOST_WORDS


METHOD = ("Sizes", "Threshold", "Scope", "Why this threshold")


def test_a_long_claim_keeps_its_verdict_and_leads_to_the_rest(run):
    many = given(*["confirmed", "not found"] * 60, because="Half of it.")
    more = {"scope": "All of it.", "reply": "A. Author, 2026: it is not."}
    of_many = entry("long", **many, tolerance=0.2, reason="word " * 150, **more)
    ledger_of_many = evaluate(run(of_many))
    page = claims_page(ledger_of_many)
    assert "`python -m paper_figures show RUN CLAIM --all`" in page
    text = sections(page)["long"]
    assert len(text.split()) <= MOST_WORDS
    assert "**partly**. Half of it." in text
    assert "tolerance 0.2 (relative)" in text
    assert re.search(r"- and \d+ more", text)
    assert "- **An author replies:** A. Author, 2026: it is not." in text
    (claim,) = ledger_of_many.to_dict("records")
    lines = claim_lines(claim, whole=True)
    assert sum(line.endswith(": confirmed") for line in lines) == 60
    assert sum(line.endswith(": not found") for line in lines) == 60
    assert "Sizes: 1,000 records; 3 trials" in lines
    assert "Threshold: tolerance 0.2 (relative)" in lines
    assert lines[-1].startswith("Why this threshold: word word")
    # Without the method all parts are still there.
    assert [line for line in lines if not line.startswith(METHOD)] == claim_lines(
        claim, whole=False
    )


def test_numbers_that_the_parts_say_are_not_said_twice(folder):
    claims = evaluate(folder).to_dict("records")
    lines = [line for claim in claims for line in claim_lines(claim, whole=True)]
    assert "\n".join(lines).count("part 0: 2") == 4


@judge
def on_two_data_sets():
    one, other = (
        Sizes(dataset="mnist", records=60, trials=5, network="LSTM"),
        Sizes(dataset="adult", records=1000, trials=3),
    )
    return Finding(parts=(Part("", "confirmed"),), sizes=one, other_sizes=[other])


def test_every_data_set_has_a_line_of_sizes(run, monkeypatch):
    sizes = {"records": {"mnist": 60, "adult": 60000}}
    without = dict.fromkeys(["Adult", "LSTM", "SVHN"], "why")
    own = {"sizes": sizes, "not_run": without, "expected": "Adult, LSTM, SVHN"}
    folder = run(entry("two", "on_two_data_sets", **own))
    monkeypatch.setitem(JUDGES, "on_two_data_sets", on_two_data_sets.judge)
    text = claims_page(evaluate(folder))
    # The run has the other two.
    assert "SVHN: not run" in text and "Adult: not run" not in text and "LSTM: not" not in text
    assert "**Sizes:** 60 records of MNIST; 5 trials" in text
    assert "**Sizes:** 1,000 of 60,000 records of Adult; 3 trials" in text


def test_a_part_that_nobody_judged_makes_the_claim_partly(run):
    """The claim keeps the numbers of its judged parts; the same holds under every choice."""
    judged = evaluate(
        run(
            entry("one", **given("confirmed"), not_run={"x": "no data"}),
            entry("each", "swept", arguments={"verdicts": {"a": "confirmed"}}, not_run={"x": ""}),
        )
    )
    assert list(judged["verdict"]) == ["partly"] * 2
    assert judged["parts"][0] == "part 0: 2: confirmed\nx: not run (no data)"


def test_a_choice_is_settled_for_all_claims_of_a_paper_and_stands_in_its_list(run):
    arguments = {"verdicts": {"linear": "confirmed", "cubic": "contradicted"}}
    settled = {"choice": "the kernel", "ruled_out": ["cubic"], "by": '"Linear."'}
    for choices, verdict in (([settled], "confirmed"), ([{"choice": "the kernel"}], "depends")):
        about = {"read": "full", "open_choices": choices}
        folder = run(entry("swept", "swept", arguments=arguments, about=about))
        assert evaluate(folder)["verdict"].item() == verdict
    folder = run(entry("swept", "swept", arguments=arguments, about={"read": "full"}))
    with pytest.raises(ConfigError, match="does not list the open choice 'the kernel'; add it"):
        evaluate(folder)
