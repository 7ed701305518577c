"""Extensions are new files and need no entry in any list, as CONTRIBUTING promises.

The mechanism of the README and every template, copied to the places that their guides name, pass
the tests of the whole tree, and the study runs with the config that CONTRIBUTING shows.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from copied_project import Project

from claims.judges import all_judges
from datasets import DATASETS
from mechanisms import all_mechanisms
from mechanisms.query.extensions import left_out
from runs.results import read_frame
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[1]
ALSO = (
    "tests", "extend", "docs", "ARCHITECTURE.md", "README.md", "CONTRIBUTING.md",
    "SHARP_EDGES.md", "LICENSE", "pyproject.toml", ".github", "CHANGELOG.md",
)  # fmt: skip
COPIES = {
    "mechanism.py": "mechanisms/catalogue/my_mechanism.py",
    "mechanism_without_noise.py": "mechanisms/catalogue/my_bits.py",
    "noise.py": "mechanisms/noise/two_scales.py",
    "dataset.py": "datasets/loaders/my_data.py",
    "study.py": "studies/my_study.py",
    "claim.py": "paper_figures/my_paper2026/my_study.py",
    "claim.yaml": "paper_figures/my_paper2026/claims.yaml",
}
PACKAGE = '''"""Figures and verdicts of my paper.

Only discovery imports it. It imports what the papers' packages share in `paper_figures`.
"""
'''
GENERAL = (
    "tests/test_tree.py",
    "tests/test_project.py",
    "tests/claims/test_claims.py",
    "tests/runs/test_data_dictionary.py",
    "tests/datasets/test_catalogue.py",
)
# Every official data set needs a test in its own format, which a new one would bring along.
NOT_GENERAL = "test_every_official_data_set_is_tried_in_its_own_format"


def first_block(page: str, language: str) -> str:
    """The first fenced block of a page in a language."""
    return re.search(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL).group(1)


@pytest.fixture
def extended(tmp_path):
    """A copy of the project with one extension of every kind."""
    project = Project(tmp_path / "project")
    for name in ALSO:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, project.folder / name)
    (project.folder / "results").mkdir()
    shutil.copy2(ROOT / "results/README.md", project.folder / "results/README.md")
    (project.folder / "results/reference").symlink_to(ROOT / "results/reference")
    (project.folder / "mechanisms/catalogue/gaussian_zcdp.py").write_text(
        first_block("README.md", "python")
    )
    (project.folder / "config/my-run.yaml").write_text(first_block("CONTRIBUTING.md", "yaml"))
    (project.folder / "paper_figures/my_paper2026").mkdir()
    (project.folder / "paper_figures/my_paper2026/__init__.py").write_text(PACKAGE)
    for template, place in COPIES.items():
        shutil.copy2(ROOT / "extend" / template, project.folder / place)
    return project


@pytest.mark.slow
def test_extensions_are_new_files_and_one_command(extended):
    extended.python("site_builder.readme")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *GENERAL]
    ended = subprocess.run(
        [*command, "--deselect", f"tests/datasets/test_catalogue.py::{NOT_GENERAL}"],
        cwd=extended.folder,
        env=extended.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]


@pytest.mark.slow
def test_the_study_of_the_template_runs_with_the_config_of_contributing(extended):
    """Runs the commands of CONTRIBUTING on every data set and mechanism that it names."""
    page, path = (ROOT / "CONTRIBUTING.md").read_text(), "config/my-run.yaml"
    checked = extended.python("runs", "check", path)
    assert "4 cells" in checked
    (one_cell,) = re.findall(r"^    python -m (runs run .*)$", page, re.MULTILINE)
    assert one_cell.endswith(f"--config {path}")
    shown = extended.python(*one_cell.split())
    settings = yaml.safe_load((extended.folder / path).read_text())["studies"]["my_study"]
    assert settings["size"] == 6
    stored = extended.folder / "results/my-run/cells/my_study/coins/gaussian--published.parquet"
    rows = read_frame(stored)
    assert set(rows["status"]) == {"ok"}
    assert set(rows["shape"]) == {"6"}
    assert sorted(set(rows["epsilon"])) == settings["epsilons"]
    assert rows.loc[rows["metric"] == "squared_error", "trial"].max() == settings["trials"] - 1
    assert "squared_error" in shown


BROKEN = {
    "mechanisms/catalogue/half_edited.py": "class Half(\n",
    "mechanisms/catalogue/zz_copy_of_laplace.py": (
        ROOT / "mechanisms/catalogue/laplace.py"
    ).read_text(encoding="utf-8"),
    "datasets/loaders/half_edited.py": (ROOT / "extend/dataset.py").read_text(encoding="utf-8"),
    "datasets/loaders/no_entry.py": "",
    "studies/half_edited.py": "from no_such_package import nothing\n",
    "paper_figures/tldp2025/half_edited.py": "1 / 0\n",
    "paper_figures/r1smg2024/theorems.py": "def half(\n",
    "paper_figures/r1smg2024/zz_copy.py": (ROOT / "paper_figures/r1smg2024/pca.py").read_text(
        encoding="utf-8"
    ),
}
SHOW = """
from claims.judges import all_judges
from datasets import DATASETS
from mechanisms import all_mechanisms
from paper_figures.drawings import all_drawings
from studies.base.study import all_studies
print(len(all_mechanisms()), len(DATASETS), len(all_studies()), len(all_drawings()) > 20)
judges = all_judges()
print("null_space" in judges, "largest_counts" in judges)
"""


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A copy of the project with broken files of every kind."""
    project = Project(tmp_path_factory.mktemp("damaged") / "project")
    for name, text in BROKEN.items():
        (project.folder / name).write_text(text)
    return project


@pytest.mark.slow
def test_all_else_is_found_and_each_broken_file_named_once(damaged):
    ended = subprocess.run(
        [sys.executable, "-c", SHOW],
        cwd=damaged.folder, env=damaged.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    sizes = f"{len(all_mechanisms())} {len(DATASETS)} {len(all_studies())} True"
    assert ended.stdout.splitlines() == [sizes, "False True"]
    warnings = ended.stderr.splitlines()
    # A module that imports a broken one, as count_query_figures does, is left out too.
    assert len(warnings) == len(BROKEN) + 1, warnings
    for name in BROKEN:
        module = name.removesuffix(".py").replace("/", ".")
        (line,) = [line for line in warnings if line.startswith(f"warning: {module} is left out: ")]
        assert len(line) < 400


@pytest.mark.slow
def test_no_ledger_is_written_without_the_judge_of_a_claim(damaged):
    folder = damaged.folder / "results/reference"
    (folder / "studies").mkdir(parents=True)
    (folder / "studies/guarantee.parquet").touch()
    ended = subprocess.run(
        [sys.executable, "-m", "paper_figures", "judge", "reference"],
        cwd=damaged.folder, env=damaged.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "paper_figures/r1smg2024/claims.yaml, line " in ended.stderr
    assert "there is no judge '" in ended.stderr
    assert not (folder / "claims.csv").exists()


def test_the_suite_itself_leaves_nothing_out():
    assert all_mechanisms() and len(DATASETS) and all_studies() and all_judges()
    assert left_out("") == {}
