"""The commands of docs/commands.md, one after the other in one project, and custom noise."""

import os
import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
# A run of seconds under the name of the one that takes minutes.
QUICK = {
    "run": "quick",
    "studies": {
        "count_query": {
            "datasets": ["city"],
            "mechanisms": ["non-private", "r1smg", "gaussian-analytic"],
            "epsilons": [0.5],
            "epsilons_for": {"r1smg": [1e-5, 0.5]},
            "delta": 1e-7,
            "map_epsilons": {"non-private": [0.5], "gaussian-analytic": [0.5]},
            "trials": 4,
        },
        "noise_only": {
            "datasets": ["fixed-sensitivity"],
            "mechanisms": ["r1smg", "gaussian-analytic"],
            "epsilons": [0.5],
            "delta": 1e-7,
            "sizes": ["3x3", "8x8"],
            "growth_shapes": ["8x16"],
            "growth_epsilon": 1,
            "growth_delta": 1e-5,
            "gradient_shapes": ["10x12"],
            "trials": 20,
            "largest_draw": 1e5,
        },
    },
}


@pytest.fixture(scope="module")
def project(new_project, tmp_path_factory):
    """A project whose quick run has two studies."""
    project = new_project(tmp_path_factory.mktemp("commands"))
    (project.folder / "config/quick.yaml").write_text(yaml.safe_dump(QUICK))
    programs = Path(sys.executable).parent
    project.environment["PATH"] = os.pathsep.join([str(programs), project.environment["PATH"]])
    return project


def printed(project, command):
    """Run a command line, which must succeed, and return all its output."""
    words = shlex.split(command)
    if words[:2] == ["python", "-m"]:
        return project.python(*words[2:])
    ended = project.run_warm(words)
    assert ended.returncode == 0, ended.stderr[-3000:]
    return ended.stdout + ended.stderr


def test_the_twelve_commands_work_as_documented(project):
    page = (ROOT / "docs/commands.md").read_text()
    rows = re.findall(r"^\| `([^`]+)` \| .+ \| `([^`]+)` \|$", page, flags=re.MULTILINE)
    assert len(rows) == 12
    for command, words in rows:
        assert words in printed(project, command), command
    folder = project.folder
    assert (folder / "report.zip").exists() and (folder / "results/quick/site/index.html").exists()
    other = pd.read_csv(folder / "results/mine/figures/r1smg2024_fig9.csv")
    assert set(other["epsilon"]) == {0.2}


def test_the_guide_puts_a_readers_own_noise_into_the_figures_of_a_paper(project):
    """Uses the guide's file and commands; the config and the figures list their own mechanisms."""
    page = (ROOT / "docs/add_your_own.md").read_text()
    (project.folder / "my_noise.py").write_text(
        re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1)
    )
    commands = re.findall(r"^    ((?:snakemake|python) .*?[^\\])\n", page, re.MULTILINE | re.DOTALL)
    verify, draw, compare = (command.replace("\\\n", " ") for command in commands[:3])
    assert "verdict      loose: the claim is true" in printed(project, verify)
    assert "0 failed" in printed(project, draw)
    assert "my_noise:ZCDPGaussian  exact" in printed(project, compare)
    for name in ("r1smg2024_fig5", "r1smg2024_fig9"):
        drawn = pd.read_csv(project.folder / f"results/mine/figures/{name}.csv")
        assert "gaussian-zcdp" in set(drawn["mechanism"]), name
