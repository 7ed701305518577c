"""The whole DAG on config/tiny.yaml, with a new mechanism of one file.

One finished run serves all these tests: whether everything is there, whether the mechanism is
everywhere, which cells run again, and whether a killed run ends with the same bytes.
"""

import html
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from site_links import broken_links, parsed

from mechanisms import all_mechanisms
from paper_figures.drawings import words_of
from runs.results import read_frame
from runs.store import read_cell
from studies.base.study import all_studies

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
# The README's mechanism runs in every study.
KEY, TITLE = "gaussian-zcdp", "Gaussian (zCDP)"


def readme_example():
    """The first Python block of the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory):
    """A project with an additional mechanism, in which the tiny run has finished."""
    project = new_project(tmp_path_factory.mktemp("finished"))
    (project.folder / "mechanisms/catalogue/gaussian_zcdp.py").write_text(readme_example())
    project.snakemake()
    return project


@pytest.fixture(scope="module")
def rows(finished):
    return rows_of(finished.folder / "results/tiny")


def test_every_mechanism_is_there_and_none_failed(finished, rows):
    assert {*all_mechanisms(), KEY} <= set(rows["mechanism"])
    assert set(rows["status"]) <= {"ok", "unsupported"}
    found = rows[["study", "dataset", "mechanism", "calibration"]].drop_duplicates()
    cells = {stem for stems in finished.plan().values() for stem in stems}
    assert {"{}/{}/{}--{}".format(*cell) for cell in found.itertuples(index=False)} == cells


def test_everything_is_drawn(finished):
    results = finished.folder / "results/tiny"
    drawn = {path.name for path in (results / "figures").iterdir()}
    for name in ("r1smg2024_fig4", "r1smg2024_fig5", "r1smg2024_fig9"):
        assert {f"{name}.pdf", f"{name}.png", f"{name}.csv"} <= drawn
    explained = [path.name for path in results.rglob("*.md") if "Not drawn:" in path.read_text()]
    assert explained == []
    tables = {path.name for path in (results / "tables").iterdir()}
    for name in ("r1smg2024_table1", "mgm2021_table4", "mgm2021_table5"):
        assert {f"{name}.csv", f"{name}.md", f"{name}.tex"} <= tables


def test_a_new_mechanism_is_in_every_study(rows):
    mine = rows[rows["mechanism"] == KEY]
    assert set(mine["study"]) == set(all_studies())
    statuses = mine.groupby("study")["status"].agg(set).to_dict()
    # It adds Gaussian noise to the answer, which the query of every other study allows.
    assert all("ok" in found for found in statuses.values()), statuses


def test_a_new_mechanism_is_in_the_table_of_verdicts(finished):
    table = pd.read_csv(finished.folder / "results/tiny/tables/suite_verdicts.csv")
    mine = table[table.apply(lambda row: TITLE in row.values or KEY in row.values, axis=1)]
    assert len(mine)
    assert mine.astype(str).apply(lambda row: row.str.contains("refuted").any(), axis=1).sum() == 0


def test_a_new_mechanism_is_in_the_figures(finished):
    drawn = pd.read_csv(finished.folder / "results/tiny/figures/r1smg2024_counts.csv")
    assert KEY in set(drawn["mechanism"])


@pytest.mark.parametrize("name", ["tiny", "quick", "reference", "paper"])
def test_every_study_of_the_shipped_configs_is_open_to_new_mechanisms(name):
    studies = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["studies"]
    wanted = {study: settings.get("mechanisms", "all") for study, settings in studies.items()}
    assert [study for study, w in wanted.items() if w != "all" and "except" not in w] == []


def test_a_second_run_does_nothing(finished):
    ended = finished.snakemake("all", "results", "r1smg2024", "mgm2021")
    assert "Nothing to be done" in ended.stdout + ended.stderr


def test_the_report_has_every_drawing_with_its_own_caption(finished):
    finished.snakemake("--report", "report.zip")
    with zipfile.ZipFile(finished.folder / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
        page = archive.read("report/report.html").decode()
    run = finished.folder / "results/tiny"
    figures, tables = (sorted((run / kind).glob("*.md")) for kind in ("figures", "tables"))
    assert figures and tables
    assert {f"{path.stem}.png" for path in figures} | {"claims.csv"} <= names
    assert {f"{path.stem}.csv" for path in tables} <= names
    caption = words_of(run / "figures/suite_validity.md")[0]
    assert html.escape(caption, quote=False) in page
    assert "system-message" not in page


def test_the_site_of_any_run_has_every_page_and_no_broken_link(finished):
    """Unlike the reference run, this run lacks data, sizes and calibrations."""
    finished.snakemake("site")
    site = finished.folder / "results/tiny/site"
    pages = parsed(site)
    assert broken_links(site, pages) == []
    assert {f"mechanisms/{key}.html" for key in (*all_mechanisms(), KEY)} <= set(pages)
    assert {"index.html", "claims.html", "papers/suite.html", "data.html"} <= set(pages)
    assert TITLE in (site / "leaderboard/counts.html").read_text(encoding="utf-8")


def rows_of(run):
    """All rows of a run without whole maps."""
    studies = sorted((run / "studies").glob("*.parquet"))
    return read_frame(*(path for path in studies if path.suffixes == [".parquet"]))


def small_config(project):
    """Write a part of the tiny config (counts, noise alone and learning); return its path."""
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    config["run"] = "small"
    kept = ("count_query", "noise_only", "dpsgd")
    config["studies"] = {name: config["studies"][name] for name in kept}
    config["studies"]["noise_only"]["datasets"] = ["fixed-sensitivity"]
    for study in config["studies"].values():
        study["mechanisms"] = ["non-private", "gaussian", "r1smg"]
    (project.folder / "small.yaml").write_text(yaml.safe_dump(config))
    return "small.yaml"


def test_a_killed_run_resumes_to_the_bytes_of_a_whole_one_on_another_number_of_cores(
    finished, rows, new_project, tmp_path
):
    """Neither the number of cores, nor a kill, nor other cells change a byte."""
    killed = new_project(tmp_path)
    config = small_config(killed)
    child = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "results", "--cores", "2", "--configfile", config],
        cwd=killed.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cells = killed.folder / "results/small/cells"
    deadline = time.monotonic() + 120
    while len(list(cells.rglob("*.parquet"))) < 6:
        assert time.monotonic() < deadline, "the run made no progress"
        assert child.poll() is None, "the run ended before it could be killed"
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert not (killed.folder / "results/small/results.csv").exists()
    killed.snakemake("--unlock", config=config)
    killed.snakemake("results", cores=1, config=config)
    found = {path.relative_to(cells): read_cell(path)[0] for path in cells.rglob("*.parquet")}
    stems = {stem for stems in killed.plan(config).values() for stem in stems}
    assert {str(path.with_suffix("")) for path in found} == stems
    whole = finished.folder / "results/tiny/cells"
    assert [path for path in found if not read_cell(whole / path)[0].equals(found[path])] == []
    # The tables have the same rows as in the whole run, except for maps.
    small = rows_of(killed.folder / "results/small")
    stem = rows[["study", "dataset"]].agg("/".join, axis=1)
    stem += "/" + rows[["mechanism", "calibration"]].agg("--".join, axis=1)
    same = rows[stem.isin(stems)][small.columns]
    assert sorted(map(str, small.to_numpy().tolist())) == sorted(map(str, same.to_numpy().tolist()))


def test_editing_a_mechanism_reruns_its_cells_only(finished):
    """This must be the last test that uses `finished`, because it changes a file."""
    path = finished.folder / "mechanisms/catalogue/r1smg.py"
    path.write_text(path.read_text() + "\nUNUSED = 1\n")
    plan = finished.plan()
    expected = {stem for stems in plan.values() for stem in stems if "/r1smg--" in stem}
    edited = {batch for batch, stems in plan.items() if expected & set(stems)}
    assert 1 < len(edited) < len(plan)
    assert finished.planned_batches() == edited
    assert finished.cells_to_run() == expected
    # The other cells of a batch keep their files.
    (batch,) = (each for each in edited if each.startswith("common_queries/"))
    cells = finished.folder / "results/tiny/cells/common_queries/histogram"
    before = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    finished.snakemake(f"results/tiny/batches/{batch}.txt")
    after = {path.name: path.stat().st_mtime_ns for path in cells.glob("*.parquet")}
    assert {name.split("--")[0] for name in after if after[name] != before[name]} == {"r1smg"}
