"""A half-edited file is reported and skipped, and stops nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest
from copied_project import Project

from claims.judges import all_judges
from datasets import DATASETS
from mechanisms import all_mechanisms
from mechanisms.query.extensions import left_out
from studies.base.study import all_studies

ROOT = Path(__file__).resolve().parents[1]
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
    "paper_figures/mgm2021/claims.yaml": (ROOT / "paper_figures/mgm2021/claims.yaml")
    .read_text(encoding="utf-8")
    .replace("kind: guarantee", "kind: garantee", 1),
}
SHOW = """
from claims.claim import all_claims
from datasets import DATASETS
from mechanisms import all_mechanisms
from paper_figures.drawings import all_drawings
from studies.base.study import all_studies
print(len(all_mechanisms()), len(DATASETS), len(all_studies()), len(all_drawings()) > 20)
claims = {claim.id for claim in all_claims()}
print("r1-null-space" in claims, "r1-f4-max" in claims, "tldp-thm1" in claims)
print(any(claim.startswith("mgm-") for claim in claims), "imgm-thm1" in claims)
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
    assert ended.stdout.splitlines() == [sizes, "False True True", "False True"]
    warnings = ended.stderr.splitlines()
    # A module that imports a broken one, as count_query_figures does, is left out too.
    assert len(warnings) == len(BROKEN) + 1, warnings
    for name in BROKEN:
        module = name.removesuffix(".py").replace("/", ".") if name.endswith(".py") else name
        (line,) = [line for line in warnings if line.startswith(f"warning: {module} is left out: ")]
        assert len(line) < 400
    (mgm,) = [line for line in warnings if "claims.yaml" in line]
    assert ": line " in mgm and "key 1.kind: Input should be 'guarantee', " in mgm


@pytest.mark.slow
def test_the_committed_ledger_is_not_written_without_a_paper(damaged):
    folder = damaged.folder / "results/reference"
    (folder / "studies").mkdir(parents=True)
    (folder / "studies/guarantee.parquet").touch()
    ended = subprocess.run(
        [sys.executable, "-m", "paper_figures", "judge", "reference"],
        cwd=damaged.folder, env=damaged.environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert "the ledger of reference needs all claims: repair " in ended.stderr
    assert not (folder / "claims.csv").exists()


def test_the_suite_itself_leaves_nothing_out():
    assert all_mechanisms() and len(DATASETS) and all_studies() and all_judges()
    assert left_out("") == {}
