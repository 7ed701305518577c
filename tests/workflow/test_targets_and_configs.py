"""Wrong targets and configs are reported in one line."""

import re

import pytest

# Each test starts Snakemake.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(new_project, tmp_path_factory):
    return new_project(tmp_path_factory.mktemp("targets"))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("r1smg2024_fig55", "the run tiny has no target r1smg2024_fig55; did you mean"),
        ("results/quick/claims.md", "the run tiny has no target results/quick/claims.md; it has"),
    ],
)
def test_an_unknown_target_lists_what_there_is(project, target, words):
    ended = project.snakemake("--dry-run", target, check=False)
    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith(f"error: {words}")
    for known in ("data", "figures", "claims", "suite_headline", "all"):
        assert f"{known}, " in last
    assert "Traceback" not in ended.stderr


def test_a_bad_value_is_reported_with_its_line(project):
    text = (project.folder / "config/tiny.yaml").read_text()
    (project.folder / "bad.yaml").write_text(text.replace("trials: 8", "trials: 1e12", 1))
    ended = project.snakemake("--dry-run", config="bad.yaml", check=False)
    assert ended.returncode == 1
    words = "key studies.count_query.trials: Input should be less than or equal to 1000000"
    last = ended.stderr.splitlines()[-1]
    line = text[: text.index("trials: 8")].count("\n") + 1
    assert last.startswith("error: ") and f"bad.yaml, line {line}: {words}" in last


def test_one_target_needs_its_own_study_only(project):
    batches = project.planned_batches("r1smg2024_fig5")
    assert batches
    assert all(batch.startswith("count_query/") for batch in batches)


def test_a_repeated_key_is_reported_before_snakemake_keeps_the_last(project):
    (project.folder / "bad.yaml").write_text("run: bad\nstudies: {}\nrun: b\n")
    ended = project.snakemake("--dry-run", config="bad.yaml", check=False)
    assert ended.returncode
    assert "the key 'run' appears twice" in ended.stdout + ended.stderr


def test_the_snakefile_that_catalogues_look_for_plans_the_same_jobs(project):
    def jobs(*options):
        shown = project.snakemake("--dry-run", "--quiet", "rules", *options).stdout
        rows = shown.partition("Job stats:")[2].partition("\ntotal")[0].splitlines()
        # Leave out the names of the two targets.
        return sorted(row for row in rows if not row.startswith(("all ", "everything ")))

    expected = jobs()
    assert any(line.startswith("run_batch ") for line in expected)
    assert jobs("--snakefile", "workflow/Snakefile") == expected


def test_cells_come_before_tables_verdicts_and_drawings(project):
    shown = project.snakemake("--dry-run", "--quiet", "host").stdout
    found = re.findall(
        r"rule (run_batch|join|judge|draw)(?:(?!rule ).)*?priority: (\d+)", shown, re.S
    )
    order = sorted(set(found), key=lambda each: -int(each[1]))
    assert [rule for rule, _ in order][:4] == ["run_batch", "join", "judge", "draw"]
