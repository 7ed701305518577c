"""A mechanism in one new file, and a study in another, are in everything without further edits."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from experiments.contract.study import all_experiments
from runs.frames import read_frame

ROOT = Path(__file__).resolve().parents[2]
KEY, TITLE = "gaussian-zcdp", "Gaussian (zCDP)"
# Studies in which other mechanisms run beside it.
SHARED = ("count_query", "my_study")
MY_STUDY = {"datasets": ["coins"], "epsilons": [1], "delta": 1e-5}


def readme_example():
    """The first block of Python in the README."""
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)


def small_config():
    """config/tiny.yaml with the new mechanisms in every study, few others and `my_study`."""
    config = yaml.safe_load((ROOT / "config/tiny.yaml").read_text()) | {"run": "added"}
    studies = config["experiments"]
    studies["my_study"] = MY_STUDY
    for name, settings in studies.items():
        settings["mechanisms"] = {"except": ["suite", "my-mechanism"]}
        if name in SHARED:
            settings["mechanisms"] = {"except": ["suite"], "also": ["non-private", "gaussian"]}
        settings["calibrations"] = ["published"]
        # One data set shows it, but for the table of verdicts.
        settings["datasets"] = settings["datasets"][:1]
        for key in ("epsilons_for", "calibrations_for", "mechanisms_for"):
            settings.pop(key, None)
    studies["count_query"]["map_epsilons"] = {"default": 0.5}
    return config


@pytest.fixture(scope="module")
def added(new_project, tmp_path_factory):
    """The project with a mechanism and a study of its own, in which a small run has finished."""
    project = new_project(tmp_path_factory.mktemp("added"))
    (project.folder / "mechanisms/gaussian_zcdp.py").write_text(readme_example())
    templates = ROOT / "templates"
    shutil.copy(templates / "mechanism.py", project.folder / "mechanisms/my_mechanism.py")
    shutil.copy(templates / "noise.py", project.folder / "mechanisms/noise/two_scales.py")
    shutil.copy(templates / "study.py", project.folder / "experiments/my_study.py")
    (project.folder / "added.yaml").write_text(yaml.safe_dump(small_config()))
    project.snakemake("results", "suite_verdicts", "r1smg2024_counts", config="added.yaml")
    return project


@pytest.fixture(scope="module")
def rows(added):
    return read_frame(added.folder / "results/added/results.parquet")


def test_it_is_in_every_study(rows):
    mine = rows[rows["mechanism"] == KEY]
    assert set(mine["experiment"]) == {*all_experiments(), "my_study"}
    told = mine.groupby("experiment")["status"].agg(set).to_dict()
    assert set().union(*told.values()) <= {"ok", "unsupported"}
    # It is Gaussian noise on the answer, which every study's query allows.
    assert all("ok" in statuses for statuses in told.values()), told


def test_it_is_in_the_table_of_verdicts(added):
    table = pd.read_csv(added.folder / "results/added/tables/suite_verdicts.csv")
    mine = table[table.apply(lambda row: TITLE in row.values or KEY in row.values, axis=1)]
    assert len(mine)
    assert mine.astype(str).apply(lambda row: row.str.contains("refuted").any(), axis=1).sum() == 0


def test_it_is_in_the_figures_with_a_look_of_its_own(added):
    drawn = pd.read_csv(added.folder / "results/added/figures/r1smg2024_counts.csv")
    assert KEY in set(drawn["mechanism"])
    code = f"from paper_figures.style import look; print(look('{KEY}'))"
    (added.folder / "show_look.py").write_text(code)
    shown = added.python("show_look")
    assert TITLE in shown
    assert re.search(r"colour='#[0-9A-F]{6}', marker='.'", shown)


def test_the_command_line_knows_it(added):
    assert KEY in added.python("mechanisms", "list")
    query = ("--shape", "4x4", "--l2-sensitivity", "1", "--epsilon", "1", "--delta", "1e-5")
    shown = added.python("mechanisms", "verify", KEY, *query)
    assert "loose" in shown or "holds" in shown


def test_a_template_of_a_mechanism_and_of_a_study_run(rows):
    mine = rows[rows["experiment"] == "my_study"]
    assert set(mine["status"]) == {"ok"}
    assert {"my-mechanism", KEY, "gaussian", "non-private"} == set(mine["mechanism"])
    errors = mine[mine["metric"] == "squared_error"].groupby("mechanism")["value"].mean()
    assert errors["non-private"] == 0
    assert errors["my-mechanism"] > 0


@pytest.mark.parametrize("name", ["tiny", "quick", "reference", "paper"])
def test_every_study_of_the_shipped_configs_is_open_to_new_mechanisms(name):
    studies = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())["experiments"]
    wanted = {study: settings.get("mechanisms", "all") for study, settings in studies.items()}
    assert [study for study, w in wanted.items() if w != "all" and "except" not in w] == []
